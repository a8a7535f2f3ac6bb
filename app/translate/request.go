package translate

import (
	"time"

	"dragoman/app/engine"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// Auto as the source language lets each record's language be detected.
const Auto = "auto"

// Format says what the texts of a request are.
type Format string

// The formats.
const (
	Text Format = "text"
	// HTML keeps elements, comments and attributes; what elements of block level
	// contain is translated unit by unit.
	HTML Format = "html"
	// XML does so for a document whose elements are not known.
	XML Format = "xml"
)

// FormatOf is the format of texts that markup reads as one.
func FormatOf(f markup.Format) Format {
	switch f {
	case markup.HTML:
		return HTML
	case markup.XML:
		return XML
	}
	return Text
}

// Priority orders the requests of a caller.
type Priority = engine.Priority

// The priorities.
const (
	Low    = engine.Low
	Normal = engine.Normal
	High   = engine.High
)

// Record is a text and the name that its sender gave it.
type Record struct {
	ID   string
	Text string
}

// Request is a list of records to translate from one language into others.
type Request struct {
	From     string   // a language as [language.Find] reads it, or Auto
	To       []string // languages likewise, one at least
	Records  []Record
	Model    string   // that translates, as [Models] names it; "": any
	Caller   string   // whose share of the engine it takes
	Priority Priority // of its sentences against those of other requests
	Format   Format   // Text where empty
	Whole    bool     // each text, or block of HTML or XML, is one sentence
	Wrapped  bool     // a line end is white space: sentences go on in the next line
	// Wrap says of plain text whether it is wrapped at a width: then each paragraph is one text, and wrapped again. ""
	// is wrap.Off.
	Wrap    wrap.Mode `json:",omitzero"`
	Once    bool      // each sentence is decoded once, as it is: what is wrong is flagged only
	Options Options
	// Alternatives is how many translations of each text are wanted, the best one included; 0: the
	// best alone, without [Result.Alternatives].
	Alternatives int `json:",omitzero"`
	// Terms are how terms of the texts are translated. Without any that are to change, a request may
	// have several target languages.
	Terms []Term
	// Outline says which elements of XML are units of their own; the zero one where Format is another.
	Outline markup.Outline `json:",omitzero"`

	parts []Part // that the records are; nil: they are texts of their own
	// Flagged takes translations that reached the limit of tokens before their end,
	// with the flag that says so. Without it they are an error.
	//
	// It also takes a request none of whose texts is in a language that can be translated; see
	// [UnsupportedSource].
	Flagged bool
	// Sliced says that the records are some of a longer request's: of those alone nothing is said.
	Sliced bool `json:"-"`
}

// Term is a term and what it becomes.
type Term struct {
	Source string
	Target string // as Source for one that stays as it is
}

// Options change how a request is decoded, within the service's limits. What is zero
// or nil stays as the service has it. See [dragoman/model/search.Options].
type Options struct {
	Beams             int
	MaxLength         int // tokens of a sentence's translation, the forced prefix and the end included
	LengthPenalty     *float64
	NoRepeatNgramSize *int
	RepetitionPenalty *float64
}

// Limits are the most that the options of a request may ask for.
type Limits struct {
	Beams, MaxLength int
}

// Result is a record with its translation as the text.
type Result struct {
	Record
	// From is the code of the language that the text was taken for, the model's where it has that; ""
	// where nothing could be detected.
	From     string
	To       string // as the request has it
	Detected bool   // From was detected

	Model, Version string // that translated; "" where nothing had to be
	// Exports are the identities of the models that it went through, by name:version. They are shared,
	// and not to be changed.
	Exports map[string]string

	// Alternatives are the best translations, different from each other, the best first: Text.
	// There may be fewer than were wanted. Empty where none were.
	Alternatives []Alternative

	Segments                   []Segment // what was translated, in the text's order
	SourceTokens, TargetTokens int       // of all segments
	// Score is the mean of the segments' scores, weighted by their tokens, or 0
	// without any. The score of one is its log-probability over its length to the
	// power of the length penalty: the nearer to 0, the surer is the model.
	Score float64
	Flags Flags

	// Neither is set where the text is the record's own, and both where only some of
	// its sentences were in the cache.
	Cached  bool // taken from the cache
	Decoded bool // decoded now

	Queued   time.Duration // the longest time that a sentence waited for the batch
	Computed time.Duration // the longest time that a sentence was in the batch
}

// Segment is a sentence of a record and its translation.
type Segment struct {
	Source string
	Text   string
	Flags  Flags // of all steps
	// Alternatives are the best translations, as in [Result].
	Alternatives []Alternative
	Steps        []StepResult // of a route with several steps
}

// StepResult is what a step of a route made of a sentence.
type StepResult struct {
	Model, Version string
	From, To       string // codes of languages
	Text           string
	Flags          Flags
	Score          float64
	Cached         bool
}
