package libretranslate

import (
	"strings"

	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/excerpt"
	"dragoman/app/translate"
)

// request is a request to translate that was understood.
type request struct {
	texts        []string
	list         bool   // q was an array
	from, to     string // codes of the backend; from may be translate.Auto
	format       translate.Format
	alternatives int // that are wanted beside the translation
}

// answer is the answer of /translate. The values are lists where q was one.
type answer struct {
	TranslatedText   any `json:"translatedText"`             // strings
	DetectedLanguage any `json:"detectedLanguage,omitempty"` // detections, where source was auto
	Alternatives     any `json:"alternatives,omitempty"`     // lists of strings, where they are asked for
}

// serveTranslation serves POST /translate.
func serveTranslation(call compat.Call) (any, error) {
	req, err := decode(call.Fields, call.Languages)
	if err != nil {
		return nil, err
	}
	results, err := call.Translate(compat.Job{
		From: req.from, To: req.to, Texts: req.texts, Format: req.format, Alternatives: req.wanted(),
	})
	if err != nil {
		return nil, err
	}
	return req.answer(call.Models.Detector(), results), nil
}

// decode understands the fields of /translate. It checks them in the order that
// LibreTranslate does, and says what it says.
func decode(fields compat.Fields, languages compat.Languages) (request, error) {
	var req request
	var err error
	if req.texts, req.list, err = texts(fields); err != nil {
		return req, err
	}
	source, target, err := namesOf(fields)
	if err != nil {
		return req, err
	}
	n, ok := fields.Number("alternatives")
	if !ok {
		return req, compat.Refuse("Invalid request: alternatives parameter is not a number")
	}
	req.alternatives = max(0, n)
	if req.from, req.to, err = codesOf(languages, source, target); err != nil {
		return req, err
	}
	req.format, err = format(fields)
	return req, err
}

// namesOf reads the fields that name the languages.
func namesOf(fields compat.Fields) (source, target string, err error) {
	for _, field := range []struct {
		name string
		into *string
	}{{"source", &source}, {"target", &target}} {
		if *field.into, err = fields.Text(field.name); err != nil {
			return "", "", err
		}
		if *field.into == "" {
			return "", "", missing(field.name)
		}
	}
	return source, target, nil
}

// codesOf are the codes of languages; from may be translate.Auto.
func codesOf(languages compat.Languages, source, target string) (from, to string, err error) {
	from, ok := languages.Source(source)
	if strings.EqualFold(source, translate.Auto) {
		from = translate.Auto
	} else if !ok {
		return "", "", compat.Refuse("%s is not supported", excerpt.Of(source))
	}
	to, ok = languages.Target(target)
	switch {
	case ok:
		return from, to, nil
	case compat.IsTraditional(target):
		return "", "", compat.Refuse("%s is not supported: this server does not tell traditional Chinese from simplified, use zh-Hans", excerpt.Of(target))
	}
	return "", "", compat.Refuse("%s is not supported", excerpt.Of(target))
}

// texts reads the field q, which must not be empty. The line breaks of forms, which
// browsers send as CR LF, become LF.
func texts(fields compat.Fields) (list []string, isList bool, err error) {
	list, isList, err = fields.Texts("q")
	switch {
	case err != nil:
		return nil, false, err
	case len(list) == 0, !isList && list[0] == "":
		return nil, false, missing("q")
	case fields.IsJSON():
		return list, isList, nil
	}
	breaks := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	unix := make([]string, len(list))
	for i, text := range list {
		unix[i] = breaks.Replace(text)
	}
	return unix, isList, nil
}

// format reads the field format.
func format(fields compat.Fields) (translate.Format, error) {
	name, err := fields.Text("format")
	if err != nil {
		return translate.Text, err
	}
	switch name {
	case "", "text":
		return translate.Text, nil
	case "html":
		return translate.HTML, nil
	}
	return translate.Text, compat.Refuse("%s format is not supported", excerpt.Of(name))
}

// answer puts the results into the form that the request asks for.
func (req request) answer(detector translate.Detector, results []translate.Result) answer {
	translated, detected := make([]string, len(results)), make([]detection, len(results))
	for i, r := range results {
		translated[i] = r.Text
		if req.from == translate.Auto {
			detected[i] = confirm(detector, dialect.Prose(req.texts[i], req.format), compat.SourceOf(r))
		}
	}
	others := make([][]string, len(results))
	for i, r := range results {
		others[i] = beside(r)
	}

	out := answer{TranslatedText: translated, DetectedLanguage: detected, Alternatives: others}
	if !req.list {
		out = answer{TranslatedText: translated[0], DetectedLanguage: detected[0], Alternatives: others[0]}
	}
	if req.from != translate.Auto {
		out.DetectedLanguage = nil
	}
	if req.alternatives == 0 {
		out.Alternatives = nil
	}
	return out
}

// wanted is how many translations of each text are wanted: 0 for the best alone.
func (req request) wanted() int {
	if req.alternatives == 0 {
		return 0
	}
	return max(req.alternatives, req.alternatives+1) // the largest number has no next one
}

// beside are the alternatives of a result without its translation, which is the first of them.
func beside(r translate.Result) []string {
	others := []string{} // not nil: [] in JSON
	for _, a := range r.Alternatives[min(1, len(r.Alternatives)):] {
		others = append(others, a.Text)
	}
	return others
}

// missing is the error of a field that is not there.
func missing(name string) error {
	return compat.Refuse("Invalid request: missing %s parameter", name)
}
