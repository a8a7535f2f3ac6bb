package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/engine"
	"dragoman/app/translate"
)

// translationBody is the body of POST /translation. The pointers tell a missing
// field from an empty one; Priority alone may be missing.
type translationBody struct {
	Payload *struct {
		FromLang *string        `json:"fromLang"`
		ToLang   *string        `json:"toLang"`
		Records  *[]recordInput `json:"records"`
		Priority jsontext.Value `json:"priority"` // nil where missing, and null where it is null
	} `json:"payload"`
}

type recordInput struct {
	ID   *string `json:"id"`
	Text *string `json:"text"`
}

// decodeTranslation reads the request of POST /translation. It takes exactly what
// is documented: encoding/json would match names in any case, let the last of two
// equal names win and put U+FFFD for invalid UTF-8, each of which hides a bug of
// the sender.
func decodeTranslation(r *http.Request) (translate.Request, error) {
	var req translate.Request
	if err := checkMediaType(r.Header); err != nil {
		return req, err
	}
	raw, err := readBody(r)
	if err != nil {
		return req, err
	}
	var body translationBody
	if err := json.Unmarshal(raw, &body, json.RejectUnknownMembers(true)); err != nil {
		return req, explainJSON(err)
	}
	return body.request()
}

// request checks that nothing is missing.
func (b translationBody) request() (translate.Request, error) {
	var req translate.Request
	p := b.Payload
	switch {
	case p == nil:
		return req, missing("payload")
	case p.FromLang == nil:
		return req, missing("payload.fromLang")
	case p.ToLang == nil:
		return req, missing("payload.toLang")
	case p.Records == nil:
		return req, missing("payload.records")
	}
	priority, err := parsePriority(p.Priority)
	if err != nil {
		return req, err
	}
	req = translate.Request{
		From: *p.FromLang, To: *p.ToLang, Priority: priority, Records: make([]translate.Record, len(*p.Records)),
	}
	for i, r := range *p.Records {
		switch {
		case r.ID == nil:
			return req, missing(fmt.Sprintf("payload.records[%d].id", i))
		case r.Text == nil:
			return req, missing(fmt.Sprintf("payload.records[%d].text", i))
		}
		req.Records[i] = translate.Record{ID: *r.ID, Text: *r.Text}
	}
	return req, nil
}

// parsePriority reads the field that says how soon a request is due.
func parsePriority(value jsontext.Value) (engine.Priority, error) {
	const field = "payload.priority"
	if value == nil {
		return engine.Normal, nil
	}
	if kind := value.Kind(); kind != '"' {
		return 0, problem(codeWrongType, field, "%s is %s, expected %s", field, kindName(kind), wantedKind(field))
	}
	var name string
	if err := json.Unmarshal(value, &name); err != nil {
		return 0, explainJSON(err)
	}
	switch name {
	case "high":
		return engine.High, nil
	case "normal":
		return engine.Normal, nil
	case "low":
		return engine.Low, nil
	}
	return 0, problem(codeInvalidValue, field, "%s is %q, expected high, normal or low", field, short(name))
}

func missing(field string) error {
	return problem(codeMissingField, field, "%s is missing or null", field)
}

// checkMediaType wants JSON in UTF-8 without a content coding. Insisting on the
// header also keeps other sites' pages from posting to a service on localhost
// without the browser asking first.
func checkMediaType(h http.Header) error {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return problem(codeMediaType, "", "Content-Type is %q: send application/json", short(h.Get("Content-Type")))
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return problem(codeMediaType, "", "charset is %q: send UTF-8", short(charset))
	}
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return problem(codeMediaType, "", "Content-Encoding is %q: send the body as it is", short(coding))
	}
	return nil
}

// readBody reads a body that limitBody has bounded.
func readBody(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, problem(codeBodyTooLarge, "", "the body is larger than %d bytes: send several requests", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problem(codeBodyTimeout, "", "the body did not arrive in time")
	case err != nil:
		return nil, problem(codeInvalidJSON, "", "the body could not be read: it ends too early or is framed wrongly")
	case len(raw) == 0:
		return nil, problem(codeInvalidJSON, "", "the body is empty")
	case !utf8.Valid(raw):
		return nil, problem(codeInvalidJSON, "", "the body is not UTF-8 from byte %d on", invalidAt(raw))
	}
	return raw, nil
}

// invalidAt is the offset of the first byte that is not UTF-8.
func invalidAt(raw []byte) int {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(raw)
}

// explainJSON turns an error of the JSON library into one that names the field.
func explainJSON(err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field := fieldName(semantic.JSONPointer)
		if errors.Is(err, json.ErrUnknownName) {
			return problem(codeUnknownField, field, "%s is not a field that is known here", field)
		}
		if field == "" {
			return problem(codeWrongType, "", "the body is %s, expected an object", kindName(semantic.JSONKind))
		}
		return problem(codeWrongType, field, "%s is %s, expected %s", field, kindName(semantic.JSONKind), wantedKind(field))
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		field := fieldName(syntactic.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return problem(codeDuplicateField, field, "%s appears twice", field)
		}
		return problem(codeInvalidJSON, field, "the body is not JSON at byte %d: %s",
			syntactic.ByteOffset, short(syntactic.Err.Error()))
	}
	return problem(codeInvalidJSON, "", "the body is not JSON: it ends too early")
}

// wantedKind is what belongs into a field of translationBody.
func wantedKind(field string) string {
	switch {
	case field == "payload", strings.HasSuffix(field, "]"):
		return "an object"
	case field == "payload.records":
		return "an array"
	}
	return "a string"
}

// kindName names a kind of JSON value.
func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "something else"
}

// fieldName writes a JSON pointer as payload.records[3].text.
func fieldName(p jsontext.Pointer) string {
	var name strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 64); err == nil {
			name.WriteString("[" + token + "]")
			continue
		}
		if name.Len() > 0 {
			name.WriteByte('.')
		}
		name.WriteString(short(token))
	}
	return short(name.String())
}

// short bounds what an answer or a log line repeats of a request.
func short(s string) string {
	const most = 100
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
