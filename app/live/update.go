package live

import "dragoman/app/translate"

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
