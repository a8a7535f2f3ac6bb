// Package compat is what the drop-in APIs share, whose clients send keys and fields in
// whichever form they like: package libretranslate serves clients of LibreTranslate,
// package deepl those of DeepL, the others further programs, all unchanged but for the address.
//
// A route is made by [API.Route]: it checks the key, reads the request's fields, and lets
// the API's handler make the answer. The field model, or the path before the route (see
// [ModelPath]), names the model to use. Where several APIs have a path, see [dialect.Share],
// [API.Fields] has the fields by which their requests are told apart.
package compat

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/dialect"
	"dragoman/app/failure"
	"dragoman/app/markup"
	"dragoman/app/translate"
)

// API makes the routes of an API.
type API struct {
	*dialect.Server
	// Lists says that bodies may be lists of JSON objects too, see [Fields.List].
	Lists bool
	// AnyModel are names that the field model has in the original API, which mean any model.
	AnyModel []string
}

// Call is a request that was read and let in.
type Call struct {
	Context   *gin.Context
	Models    translate.Selection // that the request may use
	Languages Languages           // of these
	Fields    Fields              // none where the route is open

	server *dialect.Server
	model  string // that the request names
}

// Route makes a route for those who are let in. It answers with what h returns, as JSON, or a [Reply].
func (a API) Route(methods, path string, h func(Call) (any, error)) dialect.Route {
	return a.Serve(methods, path, func(call Call) error {
		answer, err := h(call)
		if err != nil {
			return err
		}
		reply, ok := answer.(Reply)
		if !ok {
			reply = Reply{Status: http.StatusOK, Body: answer}
		}
		reply.send(call.Context)
		return nil
	})
}

// Serve makes a route for those who are let in, which h answers unless it fails.
func (a API) Serve(methods, path string, h func(Call) error) dialect.Route {
	return a.route(methods, path, func(call Call) (err error) {
		if call.Fields, err = a.Fields(call.Context); err != nil {
			return err
		}
		if err := a.checkList(call.Fields); err != nil {
			return err
		}
		model, err := call.Fields.Text(modelField)
		if err != nil {
			return err
		}
		if slices.Contains(a.AnyModel, model) {
			model = ""
		}
		if err := call.choose(model); err != nil {
			return err
		}
		return h(call)
	})
}

// Open makes a route for everybody, which takes no fields but the model, in the query.
func (a API) Open(path string, h func(Call) any) dialect.Route {
	return a.route(http.MethodGet, path, func(call Call) error {
		if err := call.choose(call.Context.Query(modelField)); err != nil {
			return err
		}
		call.Context.PureJSON(http.StatusOK, h(call))
		return nil
	})
}

// ModelPath is the path below which an API can be mounted once more, for clients that know no
// field for the model but any base URL.
const ModelPath = "/models/:" + modelField

// WithoutModel is a path without the [ModelPath] before it.
func WithoutModel(path string) string {
	if rest, ok := strings.CutPrefix(path, "/models/"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		return "/" + rest
	}
	return path
}

// modelField names the model to use. The original APIs have no such field.
const modelField = "model"

// choose has the call use a model: the field's, or with "" that of the path, or with none there
// either any.
func (call *Call) choose(model string) error {
	own, inPath := call.Context.Params.Get(modelField)
	if inPath && own == "" {
		return failure.New(failure.NotFound, "", "the path names no model, such as /models/NAME/languages does")
	}
	model = cmp.Or(model, own)
	t, err := call.server.Translator()
	if err != nil {
		return err
	}
	if call.Models, err = t.Select(model); err != nil {
		return err
	}
	call.Languages, call.model = call.Models.Languages(), model
	return nil
}

func (a API) route(methods, path string, h func(Call) error) dialect.Route {
	return dialect.Route{Methods: methods, Path: path, Handler: func(c *gin.Context) {
		if _, err := a.Translator(); err != nil {
			a.Fail(c, err)
			return
		}
		if err := h(Call{Context: c, server: a.Server}); err != nil {
			a.Fail(c, err)
		}
	}}
}

// maxKeylessBody is the size of a body that may be read to find a key in it: who
// sends more has a key in the header or the query. LibreTranslate's clients send theirs
// at the end of the body, so that there is no use in looking at its start.
const maxKeylessBody = 256 << 10

// checkList refuses a list where the API takes none, and one that is not of objects.
func (a API) checkList(fields Fields) error {
	if fields.list != nil && !a.Lists {
		return notAnObject('[')
	}
	return fields.broken
}

// entered is what came of letting a request in, which is done once.
type entered struct {
	fields Fields
	err    error
}

// enteredKey is where gin's context has it.
const enteredKey = "dragoman/compat.entered"

// Fields lets a request in and returns its fields: the first time that it is asked for them. Then it
// returns the same again.
func (a API) Fields(c *gin.Context) (Fields, error) {
	if before, ok := c.Get(enteredKey); ok {
		e := before.(entered)
		return e.fields, e.err
	}
	fields, err := a.enter(c)
	c.Set(enteredKey, entered{fields, err})
	return fields, err
}

// keyIn is the key in the first of the [access.KeyFields] that has one, "" where none has.
func keyIn(field func(name string) (string, error)) (string, error) {
	for _, name := range access.KeyFields() {
		if key, err := field(name); key != "" || err != nil {
			return key, err
		}
	}
	return "", nil
}

// enter lets a request in and reads its fields, in this order where it can: the body
// of a request whose key is still to be found in it is read only if it is small.
func (a API) enter(c *gin.Context) (Fields, error) {
	key, _ := keyIn(func(name string) (string, error) { return firstOf(c.Request.URL.RawQuery, name), nil })
	inBody, err := a.Gate.MustReadKey(c, key)
	if err != nil {
		return Fields{}, err
	}
	if !inBody {
		if err := a.Gate.Enter(c, key); err != nil {
			return Fields{}, err
		}
		return readFields(c)
	}
	fields, err := readKeyless(c)
	if err == nil {
		key, err = keyIn(fields.Text)
	}
	if err != nil {
		// Who has sent such a body has sent no key.
		_ = a.Gate.Enter(c, "")
		return Fields{}, err
	}
	if err := a.Gate.Enter(c, key); err != nil {
		return Fields{}, err
	}
	return fields, a.Permit(c)
}

// readKeyless reads the fields of a request if its body is small.
func readKeyless(c *gin.Context) (Fields, error) {
	tooLarge := failure.New(failure.BodyTooLarge, "",
		"a body whose API key is not known may have at most %d bytes: send the key in a header (Authorization: Bearer KEY) or in the query", maxKeylessBody)
	if c.Request.ContentLength > maxKeylessBody {
		return Fields{}, tooLarge
	}
	c.Request.Body = http.MaxBytesReader(nil, c.Request.Body, maxKeylessBody)
	fields, err := readFields(c)
	var over *http.MaxBytesError
	if errors.As(err, &over) && over.Limit == maxKeylessBody {
		return Fields{}, tooLarge
	}
	return fields, err
}

// Job is what a request asks for, in the service's own terms.
type Job struct {
	From, To string   // codes of the model's languages; From may be translate.Auto
	Also     []string // further languages to translate into
	Texts    []string
	Format   translate.Format
	Whole    bool // each text is one sentence
	Wrapped  bool // a line end in a text ends no sentence
	// Outline divides texts of XML.
	Outline markup.Outline
	// Alternatives is how many translations of each text are wanted; see [translate.Request].
	Alternatives int

	Glossaries []string // ids of stored ones whose terms are used; where several have one, the first wins
	Terms      []translate.Term
}

// request is what the job is to package translate.
func (job Job) request(model string) translate.Request {
	req := translate.Request{
		Model: model, From: job.From, To: append([]string{job.To}, job.Also...), Format: job.Format, Whole: job.Whole, Wrapped: job.Wrapped,
		Alternatives: job.Alternatives, Outline: job.Outline, Terms: job.Terms,
		Records: make([]translate.Record, len(job.Texts)),
	}
	for i, text := range job.Texts {
		req.Records[i] = translate.Record{ID: strconv.Itoa(i), Text: text}
	}
	return req
}

// Translate has a job done and returns a result for each text, in their order; of several
// languages, all results of To first, then those of each in Also. A translation that is not whole is an
// error: the APIs have no way to say so.
func (call Call) Translate(job Job) ([]translate.Result, error) {
	parts, err := call.server.WithGlossaries(call.Context, job.Glossaries, job.request(call.model))
	if err != nil {
		return nil, err
	}
	results, err := call.server.TranslateAll(call.Context, parts)
	if err != nil {
		return nil, err
	}
	return results[0], nil // there is one language, and so one part
}

// TranslateAll is Translate for several jobs without glossaries, which succeed or fail together.
func (call Call) TranslateAll(jobs []Job) ([][]translate.Result, error) {
	parts := make([]translate.Request, len(jobs))
	for i, job := range jobs {
		parts[i] = job.request(call.model)
	}
	return call.server.TranslateAll(call.Context, parts)
}
