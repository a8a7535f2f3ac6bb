package live

import (
	"slices"
	"unicode/utf8"

	"dragoman/app/translate"
)

// Update is what is new in a session for a client.
type Update struct {
	Revision int64 // after which the client has seen everything
	Taken    int64 // the number of the last edits that were taken
	Shown    int64 // of the last edits that the segments show

	From string // the language that the text is in; "" where the client knows it, or nobody does
	// All says that the client is to forget all segments that it knows: those here are all.
	All      bool
	Segments []Segment // that are new or have changed, in the text's order
	Removed  []int64   // ids of segments that are not there any more
	Tail     *string   // what stands behind the last translation; nil where the client knows it

	Problem error  // why something is not translated now; it is tried again unless the text has to change
	Done    bool   // the text is complete, and all of it is translated
	Ended   Reason // the session has ended; nothing else follows
}

// Segment is a sentence of the text and its translation.
type Segment struct {
	ID       int64
	Revision int64
	// After is the id of the segment before, and 0 of the first. A segment that is new stands right
	// behind that one.
	After int64
	// The sentence has Length characters of the text (code points), and Skip are between it and the
	// sentence before.
	Skip, Length int
	Before       string // what stands in the translation between the segment before and this one
	// Text is the translation, nil where the client knows it, and where a new segment has none yet. Stable
	// is how many characters of it can be expected to stay.
	Text   *string
	Flags  translate.Flags // what looks wrong with Text
	Stable int
	// Final says that Text is the translation of the sentence as it is in the text. Only an edit
	// of the sentence changes it.
	Final bool
}

// update is what is new for a client that has seen everything up to a revision. x.mu is held.
func (x *Session) update(seen int64) Update {
	if seen < x.forgotten {
		seen = 0
	}
	u := Update{Revision: x.revision, Taken: x.taken, Shown: x.shown, All: seen == 0, Problem: x.problem, Done: x.doneAt > 0, Ended: x.reason}
	if x.told > seen {
		u.From = x.cut.From
	}
	if x.tailed > seen {
		tail := x.tail
		u.Tail = &tail
	}
	for _, g := range x.segments {
		if max(g.placed, g.worded) > seen {
			u.Segments = append(u.Segments, g.tell(seen))
		}
	}
	if first := slices.IndexFunc(x.removed, func(r removal) bool { return r.revision > seen }); first >= 0 && seen > 0 {
		for _, r := range x.removed[first:] {
			u.Removed = append(u.Removed, r.id)
		}
	}
	return u
}

// tell is the segment for a client that has seen everything up to a revision.
func (g *segment) tell(seen int64) Segment {
	s := Segment{
		ID: g.id, Revision: max(g.placed, g.worded), After: g.place.after, Skip: g.place.skip, Length: g.place.length,
		Before: g.place.before, Stable: utf8.RuneCountInString(g.text[:g.stable]), Final: g.place.final,
	}
	if g.worded > seen {
		text := g.text
		s.Text, s.Flags = &text, g.flags
	}
	return s
}
