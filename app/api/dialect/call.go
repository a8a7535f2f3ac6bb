package dialect

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/budget"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/bound"
	"dragoman/app/text/markup"
	"dragoman/app/translate"
)

// API makes the routes of a drop-in API.
type API struct {
	*Server
	// Lists reports whether a body may also be a list of JSON objects, see [Fields.List].
	Lists bool
	// Name returns the name of the model that the field model means, or "" for any model. nil: the field has the name itself.
	Name func(field string) string
}

// Call is a request that was read and admitted. [Fields.Fail] keeps the first error of its fields: a handler reads all fields
// that it needs, and translating or answering then fails with that error.
type Call struct {
	Fields    // empty on open routes
	Context   *gin.Context
	Server    *Server
	Model     string              // named by the request
	Models    translate.Selection // models that the request may use
	Languages Languages           // languages of Models
}

// Route returns a route that requires a key. It answers with the result of h, see [Handler].
func (a API) Route(methods, path string, h func(*Call) (any, error)) Route {
	return a.route(methods, path, func(call *Call) (any, error) {
		var err error
		if call.Fields, err = a.Fields(call.Context); err != nil {
			return nil, err
		}
		if err := a.checkList(call.Fields); err != nil {
			return nil, err
		}
		model := call.Text(modelField)
		if a.Name != nil {
			model = a.Name(model)
		}
		if err := cmp.Or(call.Err(), call.choose(model)); err != nil {
			return nil, err
		}
		answer, err := h(call)
		return answer, cmp.Or(call.Err(), err)
	})
}

// Open returns a route that needs no key and takes no fields except the model, in the query.
func (a API) Open(path string, h func(*Call) (any, error)) Route {
	return a.route(http.MethodGet, path, func(call *Call) (any, error) {
		for name, value := range pairs(call.Context.Request.URL.RawQuery) {
			if err := bound.Known(name, len(value)); err != nil {
				return nil, err
			}
		}
		if err := call.choose(call.Context.Query(modelField)); err != nil {
			return nil, err
		}
		return h(call)
	})
}

// route returns a route that fails until models are loaded.
func (a API) route(methods, path string, h func(*Call) (any, error)) Route {
	return Route{Methods: methods, Path: path, Handler: func(c *gin.Context) (any, error) {
		if _, err := a.Translator(); err != nil {
			return nil, err
		}
		return h(&Call{Context: c, Server: a.Server})
	}}
}

// ModelPath is the prefix under which an API can be mounted again, for clients that have no field for the model but accept any
// base URL.
const ModelPath = "/models/:" + modelField

// WithoutModel returns a path without a [ModelPath] prefix.
func WithoutModel(path string) string {
	if rest, ok := strings.CutPrefix(path, "/models/"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		return "/" + rest
	}
	return path
}

// modelField names the model to use. The original APIs have no such field.
const modelField = "model"

// choose selects the model of the call: the argument, or if that is "" the model in the path, or else any model.
func (call *Call) choose(model string) error {
	own, inPath := call.Context.Params.Get(modelField)
	if inPath && own == "" {
		return fault.New(fault.NotFound, "", "the path names no model, such as /models/NAME/languages does")
	}
	call.Model = cmp.Or(model, own)
	err := bound.Text(modelField, len(call.Model))
	if err != nil {
		return err
	}
	if call.Models, err = call.Server.Select(call.Model); err != nil {
		return err
	}
	call.Languages = call.Models.Languages()
	return nil
}

// maxKeylessBody is the maximum size in bytes of a body that is read to find a key in the body. A larger body needs its key in
// the header or the query. LibreTranslate's clients send the key at the end of the body, so reading only its start would not
// help.
const maxKeylessBody = 256 << 10

// checkList refuses a list if the API takes no lists, and a list of values that are not objects.
func (a API) checkList(fields Fields) error {
	if fields.list != nil && !a.Lists {
		return notAnObject('[')
	}
	return fields.broken
}

// entered is the result of [API.enter], which runs once per request.
type entered struct {
	fields Fields
	err    error
}

// enteredKey is the key of an entered in gin's context.
const enteredKey = "dragoman/dialect.entered"

// Fields admits a request and returns its fields. Later calls return the same result.
func (a API) Fields(c *gin.Context) (Fields, error) {
	if before, ok := c.Get(enteredKey); ok {
		e := before.(entered)
		return e.fields, e.err
	}
	fields, err := a.enter(c)
	for _, name := range access.KeyFields() { // checked even if no keys are configured
		if err == nil {
			err = bound.Text(name, fields.field(name).size())
		}
	}
	c.Set(enteredKey, entered{fields, err})
	return fields, err
}

// enter admits a request and then reads its fields. If the key may be in the body, enter reads the body first, and only a small
// one.
func (a API) enter(c *gin.Context) (Fields, error) {
	key := keyIn(func(name string) string { return firstOf(c.Request.URL.RawQuery, name) })
	inBody, err := a.Gate.MustReadKey(c.Request, key)
	if err != nil {
		return Fields{}, err
	}
	if !inBody {
		if err := a.Gate.Enter(c.Request, key); err != nil {
			return Fields{}, err
		}
		return readFields(c)
	}
	fields, err := readKeyless(c)
	if err == nil {
		key, err = keyIn(fields.Text), fields.Err()
	}
	if err != nil {
		// A request with such a body counts as one without a key.
		_ = a.Gate.Enter(c.Request, "")
		return Fields{}, err
	}
	if err := a.Gate.Enter(c.Request, key); err != nil {
		return Fields{}, err
	}
	return fields, a.Permit(c)
}

// keyIn returns the key in the first of the [access.KeyFields] that has a key, or "".
func keyIn(field func(name string) string) (key string) {
	for _, name := range access.KeyFields() {
		if key = field(name); key != "" {
			break
		}
	}
	return key
}

// readKeyless reads the fields of a request if its body is small.
func readKeyless(c *gin.Context) (Fields, error) {
	tooLarge := fault.New(fault.BodyTooLarge, "",
		"a body whose API key is not known may have at most %d bytes: send the key in a header (Authorization: Bearer KEY) or in the query", maxKeylessBody)
	if c.Request.ContentLength > maxKeylessBody {
		return Fields{}, tooLarge
	}
	c.Request.Body = http.MaxBytesReader(nil, c.Request.Body, maxKeylessBody)
	fields, err := readFields(c)
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok && over.Limit == maxKeylessBody {
		return Fields{}, tooLarge
	}
	return fields, err
}

// Request is a request for translations in the service's own terms.
type Request struct {
	From, To string   // codes of the model's languages; From may be translate.Auto
	Also     []string // further languages to translate into
	Texts    []string
	Format   translate.Format
	Whole    bool // each text is one sentence
	Wrapped  bool // a line end in a text ends no sentence
	// Outline divides texts of XML.
	Outline markup.Outline
	// Alternatives is the number of translations wanted for each text; see [translate.Request].
	Alternatives int

	Glossaries []string // ids of stored glossaries to use, without Also; the first glossary that has a term wins
	Terms      []translate.Term
	Memory     *translate.MemoryRef // without its owner; nil for none
}

// toModel converts the request for package translate.
func (r Request) toModel(model string) translate.Request {
	req := translate.Request{
		Model: model, From: r.From, To: append([]string{r.To}, r.Also...), Format: r.Format, Whole: r.Whole, Wrapped: r.Wrapped,
		Alternatives: r.Alternatives, Outline: r.Outline, Terms: r.Terms, Memory: r.Memory, Unfinished: true,
	}
	for i, text := range r.Texts {
		req.Records = append(req.Records, translate.Record{ID: strconv.Itoa(i), Text: text})
	}
	return req
}

// Translate translates a request and returns a result for each text, in order; with several languages, all results of To first,
// then the results of each language of Also. A translation that reached the limit of tokens comes back with what there is: it does
// not fail the others, and the header with the flags counts it as truncated.
func (call *Call) Translate(req Request) ([]translate.Result, error) {
	results, err := call.TranslateAll([]Request{req})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// TranslateAll is Translate for several requests, which succeed or fail together.
func (call *Call) TranslateAll(requests []Request) ([][]translate.Result, error) {
	if err := call.Err(); err != nil {
		return nil, err
	}
	var all []translate.Request
	for _, req := range requests {
		request := req.toModel(call.Model)
		if err := call.Server.OwnMemory(call.Context, &request); err != nil {
			return nil, err
		}
		parts, err := call.Server.WithGlossaries(call.Context, req.Glossaries, request)
		if err != nil {
			return nil, err
		}
		all = append(all, parts...) // parts has one element, because with glossaries there is one language
	}
	return call.Server.TranslateAll(call.Context, all)
}

// Stream is Translate for an API that sends results as soon as they are ready, in the order of the texts.
func (call *Call) Stream(req Request, yield func(r translate.Result) error) error {
	if err := call.Err(); err != nil {
		return err
	}
	waiting, next := make(map[int]translate.Result), 0
	return call.Server.StreamAll(call.Context, []translate.Request{req.toModel(call.Model)}, func(i int, r translate.Result) error {
		waiting[i] = r
		for {
			ready, ok := waiting[next]
			if !ok {
				return nil
			}
			delete(waiting, next)
			next++
			if err := yield(ready); err != nil {
				return err
			}
		}
	})
}

// Detection is a detected language; the zero Detection means none.
type Detection struct {
	Code       string // code of a language of the model
	Confidence float64
}

// NeedsDetector makes the call fail with the API's message if there is no language detector.
func (call *Call) NeedsDetector(words string) {
	if call.Models.Detector() == nil {
		call.Fail(RefuseAs(fault.NotOffered, "%s", words))
	}
}

// Detect charges for texts and detects their languages, in turn with the work of other callers. Call it after NeedsDetector.
func (call *Call) Detect(texts []string, format translate.Format) (found []Detection, err error) {
	if err := call.Err(); err != nil {
		return nil, err
	}
	ctx, cancel, err := call.Server.Bounded(call.Context)
	if err != nil {
		return nil, err
	}
	defer cancel()
	if err := call.Server.ChargeDetection(ctx, call.Context, texts, format); err != nil {
		return nil, err
	}
	found = make([]Detection, len(texts))
	_, err = admission.Do(ctx, access.Caller(call.Context.Request), func(ctx context.Context) error {
		for i, text := range texts {
			prose, err := format.Prose(ctx, text)
			if err == nil {
				err = budget.Work(ctx, len(text))
			}
			if err != nil {
				return err
			}
			if code, confidence, ok := call.Models.Detector().Detect(prose); ok {
				found[i] = Detection{code, confidence}
			}
		}
		return nil
	})
	return found, err
}

// Confidence returns the detector's confidence, 0 to 1, that a text of a format is in the language it was translated from. The
// confidence is 0 without a detector, and if the detector finds another language, because the translator may have had more
// context. Confidence fails if the client has left.
func (call *Call) Confidence(format translate.Format, text, language string) (float64, error) {
	detector := call.Models.Detector()
	if detector == nil {
		return 0, nil
	}
	prose, err := format.Prose(call.Context.Request.Context(), text)
	if err != nil {
		return 0, err
	}
	if code, confidence, ok := detector.Detect(prose); ok && code == language {
		return confidence, nil
	}
	return 0, nil
}
