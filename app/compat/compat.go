// Package compat is what the drop-in APIs share: package libretranslate serves
// clients of LibreTranslate, package deepl those of DeepL, both unchanged but for
// the address.
//
// A route is made by [Config.Route]: it checks the key, reads the request's fields in
// whichever form they were sent, lets the API's handler make the answer, and has the
// API tell errors in its own words. What went wrong is sorted once, by
// [Explain], and [Class.Statuses] is the one table of both APIs' statuses.
//
// The size of bodies, the time they may take, the time of a translation, CORS and
// the access log belong to the router's middleware. The context of a request is
// also its translation's.
package compat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/translate"
)

// Translator is the use case behind the APIs. It is safe for concurrent use.
type Translator interface {
	// Translate returns a result for each record, in their order.
	Translate(ctx context.Context, req translate.Request) ([]translate.Result, error)
}

// Detector tells which language a text is in. It is safe for concurrent use.
type Detector interface {
	// Detect returns the code of the text's language and how sure that is, from 0
	// to 1. ok is false where it cannot tell.
	Detect(text string) (code string, confidence float64, ok bool)
}

// Backend is what translates, once the model is loaded.
type Backend struct {
	Translator Translator
	Detector   Detector  // nil where the service does not detect languages
	Languages  Languages // of the model
}

// Config is what the APIs work with. Its functions are called from many requests
// at once; each but Backend may be nil.
type Config struct {
	// Backend returns what translates, or nil while the model is loading.
	Backend func() *Backend
	// Key lets a request in. It is called once for each request to a route that
	// needs a key, before the body is read; key is the one in the query, or in the
	// body where MustReadKey says so, and "" where there is none. Those in headers
	// are Key's own to find. Its errors are those of
	// [dragoman/app/access.Gate.Enter]. nil lets everybody in.
	Key func(c *gin.Context, key string) error
	// MustReadKey says whether a key may be in the body, key being the one in the
	// query; see [dragoman/app/access.Gate.MustReadKey]. nil: it always may.
	MustReadKey func(c *gin.Context, key string) (bool, error)
	// MaxTexts and MaxChars bound the texts, and the characters of each, whose
	// language is to be detected. 0: no bound.
	MaxTexts, MaxChars int
	// KeyNeeded says that nobody is let in without a key, for clients that ask.
	KeyNeeded bool
	// Charge is told the characters (code points, markup left out) of a request
	// that is about to be translated, or whose language is to be detected. An error refuses it; see
	// [dragoman/app/access.Gate.Charge].
	Charge func(c *gin.Context, characters int) error
	// Usage returns what the request's caller has used, for DeepL's clients. nil:
	// nothing is counted and there is no limit.
	Usage func(c *gin.Context) access.Usage
	// Translated is told the results of a request that succeeded before they are
	// sent: for headers, logs and metrics.
	Translated func(c *gin.Context, results []translate.Result)
	// Failed is told each failure before it is answered: for metrics.
	Failed func(c *gin.Context, f Failure)
}

// Dialect is what tells one API's routes from the other's.
type Dialect struct {
	KeyField string                          // the field that may have a key
	Fail     func(c *gin.Context, err error) // answers with an error
}

// Call is a request that was read and let in.
type Call struct {
	Context *gin.Context
	Backend *Backend
	Fields  Fields
}

// Route makes the handler of a path. It answers with what h returns, as JSON.
func (cfg Config) Route(d Dialect, h func(Call) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		answer, err := cfg.serve(c, d, h)
		if err != nil {
			cfg.Fail(c, d, err)
			return
		}
		c.PureJSON(http.StatusOK, answer)
	}
}

// Fail answers with an error in the words of an API.
func (cfg Config) Fail(c *gin.Context, d Dialect, err error) {
	if cfg.Failed != nil {
		cfg.Failed(c, Explain(c, err))
	}
	d.Fail(c, err)
}

// serve reads a request, checks its key and has it answered.
func (cfg Config) serve(c *gin.Context, d Dialect, h func(Call) (any, error)) (any, error) {
	backend, err := cfg.Loaded()
	if err != nil {
		return nil, err
	}
	fields, err := cfg.enter(c, d)
	if err != nil {
		return nil, err
	}
	return h(Call{Context: c, Backend: backend, Fields: fields})
}

// maxKeylessBody is the size of a body that may be read to find a key in it: who
// sends more has a key in the header or the query. LibreTranslate's clients send theirs
// at the end of the body, so that there is no use in looking at its start.
const maxKeylessBody = 256 << 10

// enter lets a request in and reads its fields, in this order where it can: the body
// of a request whose key is still to be found in it is read only if it is small.
func (cfg Config) enter(c *gin.Context, d Dialect) (Fields, error) {
	if cfg.Key == nil {
		return ReadFields(c)
	}
	key := firstOf(c.Request.URL.RawQuery, d.KeyField)
	inBody := true
	if cfg.MustReadKey != nil {
		var err error
		if inBody, err = cfg.MustReadKey(c, key); err != nil {
			return Fields{}, err
		}
	}
	if !inBody {
		if err := cfg.Key(c, key); err != nil {
			return Fields{}, err
		}
		return ReadFields(c)
	}
	fields, err := readKeyless(c)
	if err == nil {
		key, err = fields.Text(d.KeyField)
	}
	if err != nil {
		// Who has sent such a body has sent no key.
		_ = cfg.Key(c, "")
		return Fields{}, err
	}
	return fields, cfg.Key(c, key)
}

// readKeyless reads the fields of a request if its body is small.
func readKeyless(c *gin.Context) (Fields, error) {
	tooLarge := &RequestError{Class: TooLarge, Message: fmt.Sprintf(
		"A body whose API key is not known may have at most %d bytes: send the key in a header (Authorization: Bearer KEY) or in the query.", maxKeylessBody)}
	if c.Request.ContentLength > maxKeylessBody {
		return Fields{}, tooLarge
	}
	c.Request.Body = http.MaxBytesReader(nil, c.Request.Body, maxKeylessBody)
	fields, err := ReadFields(c)
	var over *http.MaxBytesError
	if errors.As(err, &over) && over.Limit == maxKeylessBody {
		return Fields{}, tooLarge
	}
	return fields, err
}

// Loaded returns the backend, or [ErrNotReady] while there is none.
func (cfg Config) Loaded() (*Backend, error) {
	if backend := cfg.Backend(); backend != nil {
		return backend, nil
	}
	return nil, ErrNotReady
}

// Job is what a request asks for, in the service's own terms.
type Job struct {
	From, To string // codes of the backend's languages; From may be translate.Auto
	Texts    []string
	Format   translate.Format
	Whole    bool // each text is one sentence
	Wrapped  bool // a line end in a text ends no sentence
}

// Translate has a job done and returns a result for each text, in their order. A
// translation that is not whole is an error: the APIs have no way to say so.
func (cfg Config) Translate(call Call, job Job) ([]translate.Result, error) {
	c := call.Context
	req := translate.Request{
		From: job.From, To: []string{job.To}, Format: job.Format, Whole: job.Whole, Wrapped: job.Wrapped, Caller: access.Caller(c),
		Records: make([]translate.Record, len(job.Texts)),
	}
	characters := 0
	for i, text := range job.Texts {
		req.Records[i] = translate.Record{ID: strconv.Itoa(i), Text: text}
		characters += Characters(text, job.Format)
	}
	if err := cfg.charge(c, characters); err != nil {
		return nil, err
	}
	results, err := call.Backend.Translator.Translate(c.Request.Context(), req)
	if err != nil {
		return nil, err
	}
	if len(results) != len(job.Texts) {
		return nil, fmt.Errorf("%d results for %d texts", len(results), len(job.Texts))
	}
	if cfg.Translated != nil {
		cfg.Translated(c, results)
	}
	return results, nil
}

// Detected charges a request for the texts whose language is to be detected. It fails
// where they are too many or too long, and charges nothing then.
func (cfg Config) Detected(c *gin.Context, texts []string) error {
	if most := cfg.MaxTexts; most > 0 && len(texts) > most {
		return &RequestError{Class: TooMuch, Message: fmt.Sprintf("There are %d texts, at most %d are allowed: send several requests.", len(texts), most)}
	}
	characters := 0
	for _, text := range texts {
		n := Characters(text, translate.Text)
		if most := cfg.MaxChars; most > 0 && n > most {
			return Refuse("A text has %d characters, at most %d are allowed.", n, most)
		}
		characters += n
	}
	return cfg.charge(c, characters)
}

// charge charges a request for characters, if that is wanted.
func (cfg Config) charge(c *gin.Context, characters int) error {
	if cfg.Charge == nil {
		return nil
	}
	return cfg.Charge(c, characters)
}
