package live

import "dragoman/app/translate"

// Update has the changes in a session for a client.
type Update struct {
	Revision int64 // last revision that the client has seen after this update
	Taken    int64 // number of the last applied edits
	Shown    int64 // number of the last edits that the segments show

	From string // language of the text; "" if the client knows it, or it is unknown
	// All is set if the client must forget all segments that it knows: Segments then has all segments.
	All      bool
	Segments []Segment // new or changed segments, in the text's order
	Removed  []int64   // ids of removed segments
	Tail     *string   // text after the last translation; nil if the client knows this text

	Problem error  // why a sentence is not translated at present; the sentence is tried again unless the text has to change
	Done    bool   // the text is complete and translated
	Ended   Reason // set if the session has ended; no updates follow
}

// Segment is a sentence of the text and its translation.
type Segment struct {
	ID       int64
	Revision int64
	// After is the id of the previous segment, 0 for the first. A new segment stands directly after that segment.
	After int64
	// The sentence has Length characters of the text (code points), and Skip characters are between it and the previous sentence.
	Skip, Length int
	Before       string // text in the translation between the previous segment and this one
	// Text is the translation, nil if the client knows the translation, or if a new segment has none yet. Stable is the number of
	// its characters that can be expected to stay.
	Text   *string
	Flags  translate.Flags // flags of Text
	Stable int
	// Final is set if Text is the translation of the current sentence in the text. Only an edit of the sentence changes it.
	Final bool
}
