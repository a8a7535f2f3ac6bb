package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/guard/body"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/wrap"
	"dragoman/app/translate"
)

// translationBody is the body of POST /translation. Pointers distinguish a missing field from an empty one. Fields that may be
// missing are optional.
type translationBody struct {
	Payload *payloadInput `json:"payload"`
}

type payloadInput struct {
	FromLang *string                `json:"fromLang"`
	ToLang   optional[string]       `json:"toLang"`
	ToLangs  optional[[]string]     `json:"toLangs"`
	Records  *[]recordInput         `json:"records"`
	Model    optional[string]       `json:"model"`
	Priority optional[string]       `json:"priority"`
	Format   optional[string]       `json:"format"`
	Split    optional[bool]         `json:"split"`
	Wrapped  optional[string]       `json:"wrapped"`
	XML      optional[outlineInput] `json:"xml"`
	Detail   optional[bool]         `json:"detail"`
	Glossary optional[string]       `json:"glossaryId"`
	Terms    optional[[]termInput]  `json:"glossary"`
	Memory   optional[string]       `json:"memoryId"`
	// Alternatives is the number of translations wanted for each text.
	Alternatives optional[int] `json:"alternatives"`
	Options      optional[struct {
		Beams             optional[int]     `json:"beams"`
		MaxLength         optional[int]     `json:"maxLength"`
		LengthPenalty     optional[float64] `json:"lengthPenalty"`
		NoRepeatNgramSize optional[int]     `json:"noRepeatNgramSize"`
		RepetitionPenalty optional[float64] `json:"repetitionPenalty"`
	}] `json:"options"`
}

type recordInput struct {
	ID   *string `json:"id"`
	Text *prose  `json:"text"`
}

// prose is a text to translate: the unmarshaler that bounds strings of other fields ignores it.
type prose string

// optional is a field that may be missing, but not null.
type optional[T any] struct {
	value T
	set   bool
}

// UnmarshalJSONFrom reads the value with the options of the surrounding decoder.
func (o *optional[T]) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	if in.PeekKind() == 'n' {
		return &json.SemanticError{JSONKind: 'n', GoType: reflect.TypeFor[T]()}
	}
	o.set = true
	return json.UnmarshalDecode(in, &o.value)
}

// pointer returns the value, or nil if it is missing.
func (o optional[T]) pointer() *T {
	if !o.set {
		return nil
	}
	return &o.value
}

// translationRequest is the request of POST /translation.
type translationRequest struct {
	translate.Request
	detail    bool
	languages bool // toLangs was used: the answer names the languages

	glossaries []string // ids of stored glossaries
}

// decodeTranslation reads the request of POST /translation, whose lists may have maxRecords items, or any number if that is 0. It
// accepts exactly the documented form. encoding/json would accept more: it matches names in any case, lets the last of two equal
// names win, and replaces invalid UTF-8 by U+FFFD, each of which would hide a bug of the sender.
func decodeTranslation(c *gin.Context, maxRecords int) (translationRequest, error) {
	var req translationRequest
	var parsed translationBody
	if _, err := decodeBody(c, maxRecords, &parsed); err != nil {
		return req, err
	}
	return parsed.Payload.request()
}

// decodeBody reads a body into parsed, whose lists may have maxRecords items, or any number if maxRecords is 0.
func decodeBody(c *gin.Context, maxRecords int, parsed any) (raw []byte, err error) {
	if err := checkMediaType(c.Request.Header); err != nil {
		return nil, err
	}
	if raw, err = readBody(c); err != nil {
		return nil, err
	}
	return raw, decodeInput(raw, maxRecords, parsed)
}

// decodeInput reads a client's JSON, as decodeBody does.
func decodeInput(raw []byte, maxRecords int, parsed any) error {
	bounded := json.WithUnmarshalers(json.JoinUnmarshalers(
		atMost[recordInput](maxRecords, tooManyRecords), atMost[termInput](bound.Terms, tooManyTerms), atMost[liveEdit](bound.Edits, tooManyEdits),
		dialect.Bounded(fieldName), json.UnmarshalFromFunc(wholeNumber)))
	if err := json.Unmarshal(raw, parsed, json.RejectUnknownMembers(true), bounded); err != nil {
		return explainJSON(err)
	}
	return nil
}

// wholeNumber reads an integer that is written with a fraction of zero, such as 2.0.
func wholeNumber(in *jsontext.Decoder, n *int) error {
	if in.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	number, err := in.ReadToken()
	if err != nil {
		return err
	}
	whole, err := number.Float()
	if err != nil || whole != math.Trunc(whole) || math.Abs(whole) > 1<<53 {
		return &json.SemanticError{JSONKind: '0', GoType: reflect.TypeFor[int]()}
	}
	*n = int(whole)
	return nil
}

// request checks that no field is missing.
func (p *payloadInput) request() (translationRequest, error) {
	var req translationRequest
	switch {
	case p == nil:
		return req, missing("payload")
	case p.FromLang == nil:
		return req, missing("payload.fromLang")
	case !p.ToLang.set && !p.ToLangs.set:
		return req, missing("payload.toLang")
	case p.ToLang.set && p.ToLangs.set:
		return req, fault.New(fault.InvalidValue, "payload.toLangs", "toLang and toLangs are both there: use one of them")
	case p.Records == nil:
		return req, missing("payload.records")
	}
	var err error
	if req.Priority, err = parsePriority(p.Priority); err != nil {
		return req, err
	}
	if p.Model.set && p.Model.value == "" {
		return req, fault.New(fault.InvalidValue, "payload.model", "model is empty: leave it out for any model")
	}
	req.Model, req.From, req.To = p.Model.value, *p.FromLang, p.ToLangs.value
	if p.ToLang.set {
		req.To = []string{p.ToLang.value}
	}
	if p.Glossary.set {
		if p.Glossary.value == "" {
			return req, fault.New(fault.InvalidValue, "payload.glossaryId", "glossaryId is empty: leave it out for no stored glossary")
		}
		req.glossaries = []string{p.Glossary.value}
	}
	if p.Memory.set {
		if p.Memory.value == "" {
			return req, fault.New(fault.InvalidValue, "payload.memoryId", "memoryId is empty: leave it out for no translation memory")
		}
		req.Memory = &translate.MemoryRef{ID: p.Memory.value}
	}
	req.Format = translate.Format(p.Format.value)
	req.Whole = p.Split.set && !p.Split.value
	if req.Wrap = wrap.Auto; p.Wrapped.set {
		req.Wrap = wrap.Mode(p.Wrapped.value)
	}
	if req.Wrap == "" || !req.Wrap.Known() {
		return req, fault.New(fault.InvalidValue, "payload.wrapped", "wrapped is %q, expected auto, on or off", excerpt.Of(p.Wrapped.value))
	}
	req.Unfinished, req.Flagged, req.detail, req.languages = true, p.Detail.value, p.Detail.value, p.ToLangs.set
	req.Alternatives, req.Outline = p.Alternatives.value, p.XML.value.outline()
	o := p.Options.value
	if o.Beams.set && o.Beams.value == 0 || o.MaxLength.set && o.MaxLength.value == 0 {
		return req, fault.New(fault.InvalidValue, "payload.options", "beams and maxLength are at least 1: leave them out for the service's own")
	}
	req.Options = translate.Options{
		Beams: o.Beams.value, MaxLength: o.MaxLength.value, LengthPenalty: o.LengthPenalty.pointer(),
		NoRepeatNgramSize: o.NoRepeatNgramSize.pointer(), RepetitionPenalty: o.RepetitionPenalty.pointer(),
	}
	if req.Terms, err = termsOf(p.Terms.value); err != nil {
		return req, err
	}
	req.Records, err = recordsOf(*p.Records)
	return req, err
}

func recordsOf(inputs []recordInput) ([]translate.Record, error) {
	records := make([]translate.Record, len(inputs))
	for i, r := range inputs {
		switch {
		case r.ID == nil:
			return nil, missing(fmt.Sprintf("payload.records[%d].id", i))
		case r.Text == nil:
			return nil, missing(fmt.Sprintf("payload.records[%d].text", i))
		}
		records[i] = translate.Record{ID: *r.ID, Text: string(*r.Text)}
	}
	return records, nil
}

// parsePriority reads the field priority.
func parsePriority(field optional[string]) (translate.Priority, error) {
	switch {
	case !field.set, field.value == "normal":
		return translate.Normal, nil
	case field.value == "high":
		return translate.High, nil
	case field.value == "low":
		return translate.Low, nil
	}
	return 0, fault.New(fault.InvalidValue, "payload.priority", "payload.priority is %q, expected high, normal or low", excerpt.Of(field.value))
}

func missing(field string) error {
	return fault.New(fault.MissingField, field, "%s is missing or null", field)
}

// jsonType is the media type of JSON.
const jsonType = "application/json"

// checkMediaType fails unless a body is JSON in UTF-8 without a content coding. Requiring the header also prevents pages of other
// sites from posting to a service on localhost without a preflight request of the browser.
func checkMediaType(h http.Header) error {
	_, err := mediaType(h, jsonType)
	return err
}

// mediaType returns the media type of a body, one of the known ones.
func mediaType(h http.Header, known ...string) (string, error) {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || !slices.Contains(known, media) {
		others := ""
		if media == "application/x-www-form-urlencoded" || media == "multipart/form-data" {
			others = "; forms of LibreTranslate go to POST /translate, those of DeepL to POST /v2/translate"
		}
		return "", fault.New(fault.MediaType, "", "Content-Type is %q: send %s%s", excerpt.Of(h.Get("Content-Type")), strings.Join(known, " or "), others)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return "", fault.New(fault.MediaType, "", "charset is %q: send UTF-8", excerpt.Of(charset))
	}
	return media, dialect.CheckCoding(h)
}

// readBody reads a body, which must be UTF-8.
func readBody(c *gin.Context) ([]byte, error) {
	raw, err := body.Read(c.Writer, c.Request)
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	switch {
	case err != nil:
		return nil, err
	case len(raw) == 0:
		return nil, fault.New(fault.InvalidJSON, "", "the body is empty")
	case !utf8.Valid(raw):
		return nil, fault.New(fault.InvalidJSON, "", "the body is not UTF-8 from byte %d on", invalidAt(raw))
	}
	return raw, nil
}

// invalidAt returns the offset of the first byte that is not UTF-8.
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
