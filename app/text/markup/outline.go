package markup

import (
	"context"

	"golang.org/x/net/html"
)

// Outline selects the elements of an XML document that are units. The zero Outline decides by position: an element is a unit
// unless its parent has text of its own.
type Outline struct {
	// Splitting names the elements that are always units, NonSplitting the elements that are always inline. A name in both is
	// splitting.
	Splitting, NonSplitting []string `json:",omitzero"`
	// Undetected makes all other elements inline at any position.
	Undetected bool `json:",omitzero"`
	// Lines makes line ends in the text of an element separate units. Otherwise they are white space.
	Lines bool `json:",omitzero"`
}

// Split is [SplitXML] with this outline.
func (o Outline) Split(ctx context.Context, text string) ([]HTMLPiece, error) {
	return split(ctx, text, XML, o.rules())
}

// outline is an [Outline] prepared for lookup.
type outline struct {
	splitting, inline map[string]bool
	undetected, lines bool
}

func (o Outline) rules() outline {
	return outline{setOf(o.Splitting), setOf(o.NonSplitting), o.Undetected, o.Lines}
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// splits reports whether a tag separates units. alone tells that its parent has no text of its own; that separates only complete
// elements, not a tag without its partner.
func (o outline) splits(t Token, alone bool) bool {
	switch {
	case o.splitting[t.Name]:
		return true
	case o.inline[t.Name], o.undetected:
		return false
	}
	return alone && (t.Kind == html.SelfClosingTagToken || t.Partner > 0)
}
