package libretranslate

import (
	"strings"

	"dragoman/app/api/dialect"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// answer is the answer of /translate. The values are lists if q was a list.
type answer struct {
	TranslatedText   any `json:"translatedText"`             // strings
	DetectedLanguage any `json:"detectedLanguage,omitempty"` // detections, if source was auto
	Alternatives     any `json:"alternatives,omitempty"`     // lists of strings, if requested
}

// serveTranslation serves POST /translate. It checks the fields in LibreTranslate's order, with its messages.
func serveTranslation(call *dialect.Call) (any, error) {
	texts, list := texts(call.Fields)
	source, target := named(call.Fields, "source"), named(call.Fields, "target")
	beside, ok := call.Number("alternatives") // in addition to the best translation
	if !ok {
		call.Fail(dialect.Refuse("Invalid request: alternatives parameter is not a number"))
	}
	from, to := codesOf(call, source, target)
	format := dialect.Choose(call.Fields, "format", map[string]translate.Format{"": translate.Text, "text": translate.Text, "html": translate.HTML}, func(text string) error {
		return dialect.Refuse("%s format is not supported", excerpt.Of(text))
	})
	wanted := 0 // only the best translation
	if beside > 0 {
		wanted = max(beside, beside+1) // the largest int has no successor
	}
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: texts, Format: format, Alternatives: wanted})
	if err != nil {
		return nil, err
	}
	var detected []detection
	if from == translate.Auto {
		for i, r := range results {
			code := dialect.SourceOf(r)
			confidence, err := call.Confidence(format, texts[i], code)
			if err != nil {
				return nil, err
			}
			detected = append(detected, detection{percent(confidence), code})
		}
	}
	var others [][]string
	if wanted > 0 {
		others = dialect.Each(results, alternatives)
	}
	translated := dialect.Each(results, func(r translate.Result) string { return r.Text })
	return answer{shaped(translated, list), shaped(detected, list), shaped(others, list)}, nil
}

// shaped returns a list with an item for each text in the form of the answer: the list, or its only item if q was no list; nil
// for nil.
func shaped[T any](items []T, list bool) any {
	switch {
	case items == nil:
		return nil
	case list:
		return items
	}
	return items[0]
}

// alternatives returns the alternatives of a result without the first, which is its translation.
func alternatives(r translate.Result) []string {
	others := r.Alternatives[min(1, len(r.Alternatives)):]
	return dialect.Each(others, func(a translate.Alternative) string { return a.Text })
}

// named reads a field with a language's name.
func named(fields dialect.Fields, field string) string {
	name := fields.Text(field)
	if name == "" {
		fields.Fail(missing(field))
	}
	return name
}

// codesOf returns the codes of two languages; from may be translate.Auto.
func codesOf(call *dialect.Call, source, target string) (from, to string) {
	from, ok := call.Languages.Source(source)
	if strings.EqualFold(source, translate.Auto) {
		from = translate.Auto
	} else if !ok {
		call.Fail(dialect.Refuse("%s is not supported", excerpt.Of(source)))
	}
	to, ok = call.Languages.Target(target)
	switch {
	case ok:
	case dialect.IsTraditional(target):
		call.Fail(dialect.Refuse("%s is not supported: this server does not tell traditional Chinese from simplified, use zh-Hans", excerpt.Of(target)))
	default:
		call.Fail(dialect.Refuse("%s is not supported", excerpt.Of(target)))
	}
	return from, to
}

// texts reads the field q, which must not be empty. Line breaks of forms, which browsers send as CR LF, become LF.
func texts(fields dialect.Fields) (texts []string, list bool) {
	texts, list = fields.Texts("q")
	switch {
	case len(texts) == 0, !list && texts[0] == "":
		fields.Fail(missing("q"))
	case !fields.IsJSON():
		texts = dialect.Each(texts, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace)
	}
	return texts, list
}

// missing returns the error for a missing field.
func missing(name string) error {
	return dialect.Refuse("Invalid request: missing %s parameter", name)
}
