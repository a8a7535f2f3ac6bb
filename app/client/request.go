package client

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Auto as [Request.From] lets the service detect each record's language.
const Auto = "auto"

// Values of [Request.Format].
const (
	FormatText = "text"
	FormatHTML = "html"
	FormatXML  = "xml"
)

// Values of [Request.Priority].
const (
	PriorityHigh   = "high"
	PriorityNormal = "normal"
	PriorityLow    = "low"
)

// Values of [Request.Wrapped].
const (
	WrappedAuto = "auto" // treats the text as wrapped if it clearly is
	WrappedOn   = "on"
	WrappedOff  = "off"
)

// Request is a request to translate records. The service validates it; an [Error] names the invalid field.
type Request struct {
	From    string   `json:"fromLang"`          // code of a language such as "en", or Auto
	To      string   `json:"toLang,omitempty"`  // code of a language
	ToLangs []string `json:"toLangs,omitempty"` // several languages, instead of To
	Records []Record `json:"records"`
	// Model is the name of a model of the service's catalogue, or name:version. "": the first that has the languages.
	Model string `json:"model,omitempty"`

	Format   string `json:"format,omitempty"`   // FormatText, which is the default, FormatHTML or FormatXML
	XML      *XML   `json:"xml,omitzero"`       // how texts of FormatXML are divided; nil: by the positions of elements
	Priority string `json:"priority,omitempty"` // PriorityNormal, which is the default, PriorityHigh or PriorityLow
	NoSplit  bool   `json:"-"`                  // each text is one sentence
	// Wrapped tells whether plain text is wrapped at a width, with lines that continue in the next one: WrappedAuto, which is the
	// default, WrappedOn or WrappedOff.
	Wrapped string `json:"wrapped,omitempty"`
	// Detail requests [Result.Detail]. With Detail, a translation that reached the limit of tokens is flagged and not an error.
	Detail bool `json:"detail,omitzero"`
	// Alternatives is the number of translations of each text, the best one included. 0: only the best one.
	Alternatives int      `json:"alternatives,omitzero"`
	Options      *Options `json:"options,omitzero"` // nil: the service's defaults
	// Terms are terms with their translations; terms without a target stay as they are. A result in which a required translation
	// is missing is flagged "glossary_missed".
	Terms []Term `json:"glossary,omitempty"`

	// Glossary is the id of a stored glossary whose terms are used. It requires From to be a language.
	Glossary string `json:"glossaryId,omitempty"`
	// Memory is the id of a translation memory, whose translations are used for equal sentences, and offered as alternatives for
	// similar ones.
	Memory string `json:"memoryId,omitempty"`

	// ID is the request's id in the service's log, the same at all tries: letters, digits and ._:/+=- , at most 128. "": a random
	// one.
	ID string `json:"-"`
}

// Record is a text with an id. The id is returned with the translation. The service does not interpret ids; they may repeat and
// be empty.
type Record struct {
	ID   string `json:"id"`
	Text string `json:"text"` // UTF-8
}

// Term is a term of a glossary. See docs/terminology.md for where in a text a term is found.
type Term struct {
	Source string `json:"source"`
	Target string `json:"target,omitempty"` // "": the term stays as it is
}

// Options change the search for a translation, like the options of generate() in Hugging Face's transformers. Zero or nil fields
// keep the service's defaults.
type Options struct {
	Beams             int      `json:"beams,omitzero"`
	MaxLength         int      `json:"maxLength,omitzero"` // tokens of a sentence
	LengthPenalty     *float64 `json:"lengthPenalty,omitzero"`
	NoRepeatNgramSize *int     `json:"noRepeatNgramSize,omitzero"` // 0: off
	RepetitionPenalty *float64 `json:"repetitionPenalty,omitzero"`
}

// XML tells how documents are divided into units of translation.
type XML struct {
	SplittingTags    []string `json:"splittingTags,omitempty"`    // elements that are always units of their own
	NonSplittingTags []string `json:"nonSplittingTags,omitempty"` // elements that are always inline
	// OutlineDetection makes elements without neighbouring text units of their own. nil: true.
	OutlineDetection *bool `json:"outlineDetection,omitzero"`
	SplitLines       bool  `json:"splitLines,omitzero"` // line ends end sentences
}

// Result is a record's translation.
type Result struct {
	ID     string // the record's
	Text   string // the translation
	To     string // language of the translation
	Detail *Detail
	// Alternatives are the best translations, different from each other, if requested. The first is Text. There may be fewer
	// alternatives than requested.
	Alternatives []Alternative
	// Err is why this record alone has no translation, such as [CodeUnfinished]; Text is "" then. With [Request.Detail] such a record
	// has a flag instead, and the part that there is.
	Err *Error
}

// Alternative is one of the best translations of a text.
type Alternative struct {
	Text  string  `json:"text"`
	Score float64 `json:"score"` // as in [Detail]; that of the last step if there are several
	// Match is the entry of the translation memory whose translation this is, or nil.
	Match *Match `json:"memory,omitzero"`
}

// Match is an entry of a translation memory that a translation is from.
type Match struct {
	Source     string  `json:"source"`     // of the entry
	Similarity float64 `json:"similarity"` // 1 for an equal source, and at least 0.75
}

// Detail describes how a translation was made.
type Detail struct {
	// Model and Version name the model or pipeline that translated, with + between several models of a route; "" if no model was
	// needed.
	Model        string    `json:"model"`
	Version      string    `json:"version"`
	InsteadOf    string    `json:"insteadOf"` // the preferred model, if its server was away
	From         string    `json:"fromLang"`  // language of the text; "" if none could be detected
	Detected     bool      `json:"detected"`  // From was detected
	Segments     []Segment `json:"segments"`  // the sentences, in the text's order
	SourceTokens int       `json:"sourceTokens"`
	TargetTokens int       `json:"targetTokens"`
	// Score is the mean log-probability of the sentences: closer to 0 means more certain.
	Score    float64       `json:"score"`
	CacheHit bool          `json:"cacheHit"`  // no part of the translation was decoded for this request
	Queued   time.Duration `json:"queueMs"`   // the longest time that a sentence waited for the batch
	Computed time.Duration `json:"computeMs"` // the longest time that a sentence was in the batch
	Flags    []string      `json:"flags"`     // such as "truncated" or "loop"
	// Memory tells what is from the translation memory; nil if the request names none.
	Memory *MemoryUse `json:"memory,omitzero"`
}

// MemoryUse tells what is from a translation memory.
type MemoryUse struct {
	Segments int `json:"segments"` // number of segments
}

// Segment is a sentence and its translation.
type Segment struct {
	Source string   `json:"source"`
	Text   string   `json:"text"`
	Flags  []string `json:"flags"`
	Steps  []Step   `json:"steps"` // if the sentence went through several steps
	// Alternatives are as in [Result], for the sentence.
	Alternatives []Alternative `json:"alternatives"`
	// Match is the entry of the translation memory whose translation this is, or nil.
	Match *Match `json:"memory,omitzero"`
}

// Step is the translation of a sentence by one step of a pipeline, or of a route through another language.
type Step struct {
	Model    string   `json:"model"`
	Version  string   `json:"version"`
	From     string   `json:"fromLang"`
	To       string   `json:"toLang"`
	Text     string   `json:"text"`
	Score    float64  `json:"score"`
	CacheHit bool     `json:"cacheHit"`
	Flags    []string `json:"flags"`
}

// body is a request for translations as JSON.
type body struct {
	Payload payload `json:"payload"`
	Webhook string  `json:"webhook,omitempty"` // of a job
}

type payload struct {
	Request
	Split *bool `json:"split,omitzero"`
}

// call is a request to be sent, the same at every try except for the remaining time.
type call struct {
	method, path string
	body         []byte // nil: none
	accept       string // media type
	id           string // X-Request-Id
	key          string // Idempotency-Key; "": none
	also         int    // a status of success besides 200; 0: none
	media        string // media type of the body; "": JSON
	once         bool   // a second try would have another effect
}

// newCall returns a request without a body.
func newCall(path string) call {
	return call{method: "GET", path: path, accept: jsonType, id: rand.Text()}
}

// query is a request for translations, with the properties of its answer. A query shares no memory that the caller may modify.
type query struct {
	call
	ids   []string // of the records
	langs []string // the target languages
	named bool     // the answer names the language of each result
}

// requestID matches the ids that the service accepts. The service would replace other ids.
var requestID = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,128}$`)

// idOf returns the id that the caller has given a request, or a random one.
func idOf(field, given string) (string, error) {
	id := cmp.Or(given, rand.Text())
	if !requestID.MatchString(id) {
		return "", fmt.Errorf("client: %s.ID has more than 128 characters, or others than letters, digits and ._:/+=-", field)
	}
	return id, nil
}

// queryString returns the query of a URL with the values that are not empty.
func queryString(values url.Values) string {
	maps.DeleteFunc(values, func(_ string, list []string) bool { return strings.Join(list, "") == "" })
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// newQuery returns a request for translations. It fails if the request cannot be encoded, for example because a text is not
// UTF-8: replacing such bytes would silently change the text.
func newQuery(path, accept string, r Request, webhook string) (*query, error) {
	p := payload{Request: r}
	if r.NoSplit {
		p.Split = new(bool)
	}
	encoded, err := json.Marshal(body{p, webhook})
	if err != nil {
		return nil, fmt.Errorf("client: the request cannot be written as JSON: %w", err)
	}
	id, err := idOf("Request", r.ID)
	if err != nil {
		return nil, err
	}
	q := &query{call: call{method: "POST", path: path, accept: accept, body: encoded, id: id}, named: len(r.ToLangs) > 0}
	q.ids = make([]string, len(r.Records))
	for i, record := range r.Records {
		q.ids[i] = record.ID
	}
	if q.langs = slices.Clone(r.ToLangs); !q.named {
		q.langs = []string{r.To}
	}
	return q, nil
}
