package markup

import (
	"context"

	"golang.org/x/net/html"
)

// Outline says which elements of a document of XML are units of their own, apart from what
// stands beside them. The zero Outline goes by where they stand: an element is one unless its
// parent has text of its own.
type Outline struct {
	// Splitting are the names of elements that are units wherever they stand, and NonSplitting
	// of those that never are: they are inline. A name in both is splitting.
	Splitting, NonSplitting []string `json:",omitzero"`
	// Undetected makes all other elements inline, too, wherever they stand.
	Undetected bool `json:",omitzero"`
	// Lines lets a line end in the text of an element end a unit, too. It is white space
	// otherwise.
	Lines bool `json:",omitzero"`
}

// Split is [SplitXML] with this outline.
func (o Outline) Split(ctx context.Context, text string) ([]HTMLPiece, error) {
	return split(ctx, text, XML, o.rules())
}

// outline is an [Outline] as it is looked up.
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

// splits says whether a tag stands between units. alone says that its parent has no text of its
// own; a tag without its partner is no element, and never does so by that.
func (o outline) splits(t Token, alone bool) bool {
	switch {
	case o.splitting[t.Name]:
		return true
	case o.inline[t.Name], o.undetected:
		return false
	}
	return alone && (t.Kind == html.SelfClosingTagToken || t.Partner > 0)
}
