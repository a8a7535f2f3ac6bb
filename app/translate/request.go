package translate

import (
	"time"

	"dragoman/app/schedule"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// Auto as the source language requests detection for each record.
const Auto = "auto"

// Format is the format of the texts of a request.
type Format string

// The formats.
const (
	Text Format = "text"
	// HTML keeps elements, comments and attributes; the content of block elements is translated unit by unit.
	HTML Format = "html"
	// XML is like HTML, for a document of unknown elements.
	XML Format = "xml"
)

// FormatOf returns the format of texts that package markup reads as f.
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
type Priority = schedule.Priority

// The priorities.
const (
	Low    = schedule.Low
	Normal = schedule.Normal
	High   = schedule.High
)

// Record is a text with an id given by its sender.
type Record struct {
	ID   string
	Text string
}

// Request is a list of records to translate from one language into others.
type Request struct {
	From     string   // a language in the notations of [language.Find], or Auto
	To       []string // target languages in the same notations, at least one
	Records  []Record
	Model    string   // the name of the translating model in [Models]; "" for any
	Caller   string   // the caller whose share of the engine the request takes
	Priority Priority // priority among the caller's requests
	Format   Format   // Text if empty
	Whole    bool     // each text, or block of HTML or XML, is one sentence
	Wrapped  bool     // line ends are white space: sentences continue in the next line
	// Wrap tells whether plain text is wrapped at a width: each paragraph is then one text, and its translation is wrapped again.
	// "" means wrap.Off.
	Wrap    wrap.Mode `json:",omitzero"`
	Once    bool      // each sentence is decoded once, as it is: faults are flagged without retries
	Options Options
	// Alternatives is the number of wanted translations of each text, including the best one; 0 returns only the best one,
	// without [Result.Alternatives].
	Alternatives int `json:",omitzero"`
	// Terms are the terms of the texts with their translations. A request with several target languages may have only terms that
	// stay as they are.
	Terms []Term
	// Memory is the translation memory whose translations are used in place of the model's; nil for none.
	Memory *MemoryRef `json:",omitzero"`
	// Outline selects the elements of XML that are units; it must be zero for other formats.
	Outline markup.Outline `json:",omitzero"`

	// Progress, if not nil, is called after each sentence with the number of sentences that are done, and of all; equal sentences
	// count once.
	Progress func(done, all int) `json:"-"`

	parts []Part // the parts of a [Cut] that are the records; nil if the records are texts of their own
	// Flagged accepts translations that reached the limit of tokens before their end, with a flag. Otherwise they are an error.
	//
	// Flagged also accepts a request none of whose texts is in a supported language; see [UnsupportedSource].
	Flagged bool

	// Unfinished accepts translations that reached the limit of tokens before their end, with a flag, as Flagged does.
	Unfinished bool `json:",omitzero"`
	// Connected marks the records as consecutive texts of a document: language models are told what comes before.
	Connected bool `json:",omitzero"`
	// Sliced marks the records as a slice of a longer request: a slice cannot show that all texts are in unsupported languages.
	// Errors number the records as the longer request does, where First is the number of the slice's first record.
	Sliced bool `json:"-"`
	First  int  `json:"-"`
}

// Term is a term and its translation.
type Term struct {
	Source string
	Target string // equal to Source if the term stays as it is
}

// Options change the decoding of a request, within the service's limits. Zero and nil fields keep the service's defaults. See
// [dragoman/model/search.Options].
type Options struct {
	Beams             int
	MaxLength         int // maximum number of tokens of a sentence's translation, with the forced prefix and the end
	LengthPenalty     *float64
	NoRepeatNgramSize *int
	RepetitionPenalty *float64
}

// Limits are the maximum values of a request's options.
type Limits struct {
	Beams, MaxLength int
}

// Result is a record whose text is its translation.
type Result struct {
	Record
	// From is the code of the source language, the model's own if it has that language, or "" if none could be detected.
	From     string
	To       string // as in the request
	Detected bool   // From was detected

	Model, Version string // the translating model or pipeline; "" if nothing was translated
	// InsteadOf is the model that is preferred for the languages, but cannot translate at present; "": there is none.
	InsteadOf string
	// Exports are the identities of the models that were used, by name:version. The map is shared and must not be modified.
	Exports map[string]string

	// Alternatives are different translations, the best one, Text, first. There may be fewer than wanted. Empty if none were
	// wanted.
	Alternatives []Alternative

	Segments                   []Segment // the translated sentences, in the order of the text
	Remembered                 int       `json:",omitzero"` // number of segments from the translation memory
	SourceTokens, TargetTokens int       // tokens of all segments
	// Score is the mean of the segments' scores, weighted by their tokens, or 0 without segments. The score of a segment is its
	// log-probability divided by its length to the power of the length penalty: the closer to 0, the more certain is the model.
	Score float64
	Flags Flags

	// Neither Cached nor Decoded is set if the text is the record's own; both are set if only some of its sentences were cached.
	Cached  bool // taken from the cache
	Decoded bool // decoded now

	Queued   time.Duration // the longest time for which a sentence waited for the batch
	Computed time.Duration // the longest time for which a sentence was in the batch
}

// Segment is a sentence of a record and its translation.
type Segment struct {
	Source string
	Text   string
	Flags  Flags // flags of all steps together
	// Alternatives are different translations, as in [Result].
	Alternatives []Alternative
	Steps        []StepResult // steps of the route, if there are several
	// Memory is the entry of the translation memory whose translation this is, or nil.
	Memory *MemoryMatch `json:",omitzero"`
}

// StepResult is the result of a step of a route for a sentence.
type StepResult struct {
	Model, Version string
	From, To       string // codes of languages
	Text           string
	Flags          Flags
	Score          float64
	Cached         bool
}
