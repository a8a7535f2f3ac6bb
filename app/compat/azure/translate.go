package azure

import (
	"slices"
	"strings"

	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/failure"
	"dragoman/app/translate"
)

const typeField = "textType"

// item is the answer for a text.
type item struct {
	Detected     *detected     `json:"detectedLanguage,omitempty"` // where the request names no source
	Translations []translation `json:"translations"`               // in the order of the target languages
}

type detected struct {
	Language string  `json:"language"`
	Score    float64 `json:"score"` // 0 to 1
}

type translation struct {
	Text string `json:"text"`
	To   string `json:"to"` // as the request has it
}

// request is a request to translate that was understood.
type request struct {
	texts     []string
	from      string   // code of the model, or translate.Auto
	to, names []string // codes of the target languages, and what the request calls them
	format    translate.Format
}

// serve serves /translate.
func serve(call compat.Call) (any, error) {
	req, err := decode(call)
	if err != nil {
		return nil, err
	}
	results, err := call.Translate(compat.Job{From: req.from, To: req.to[0], Also: req.to[1:], Texts: req.texts, Format: req.format})
	if err != nil {
		return nil, err
	}
	items := make([]item, len(req.texts)) // not nil: none are [] in JSON
	for i, text := range req.texts {
		if req.from == translate.Auto {
			code := compat.SourceOf(results[i])
			score := compat.Confidence(call.Models.Detector(), dialect.Prose(text, req.format), code)
			items[i].Detected = &detected{spelling().Of(code), score}
		}
		for n, name := range req.names {
			items[i].Translations = append(items[i].Translations, translation{results[n*len(req.texts)+i].Text, strings.TrimSpace(name)})
		}
	}
	return items, nil
}

// decode understands a request to translate.
func decode(call compat.Call) (req request, err error) {
	if req.texts, err = textsOf(call.Fields); err != nil {
		return req, err
	}
	if err := refuseOptions(call.Fields); err != nil {
		return req, err
	}
	if req.format, err = formatOf(call.Fields); err != nil {
		return req, err
	}
	if req.names, _, err = call.Fields.Texts(compat.To); err != nil {
		return req, err
	}
	if len(req.names) == 0 {
		return req, fault(compat.To, "The target language is not valid: send to=LANGUAGE in the query.")
	}
	for _, name := range req.names {
		code, err := call.Target(name)
		if err != nil {
			return req, err
		}
		if slices.Contains(req.to, code) { // it would make the answer longer at no cost
			return req, fault(compat.To, "The target language is not valid: send each language once.")
		}
		req.to = append(req.to, code)
	}
	source, err := call.Fields.Text(compat.From)
	if err != nil {
		return req, err
	}
	req.from, err = call.Source(source)
	return req, err
}

// textsOf reads the texts of a body.
func textsOf(fields compat.Fields) ([]string, error) {
	items := fields.List()
	if items == nil {
		return nil, compat.RefuseAs(failure.InvalidJSON, `The body of the request is not a list: send [{"Text": "..."}].`)
	}
	texts := make([]string, len(items))
	for i, item := range items {
		name := "Text"
		if !item.Has(name) {
			name = "text"
		}
		if !item.Has(name) {
			return nil, compat.Refuse("One of the elements in the array of input text isn't valid: [%d] has no Text.", i)
		}
		var err error
		if texts[i], err = item.Text(name); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// refuseOptions refuses what a translation would not show.
func refuseOptions(fields compat.Fields) error {
	for _, option := range []struct{ name, harmless string }{
		{"profanityAction", "NoAction"}, {"includeAlignment", "false"}, {"includeSentenceLength", "false"},
		{"allowFallback", "true"}, {"toScript", ""},
	} {
		value, err := fields.Text(option.name)
		if err != nil {
			return err
		}
		if value != "" && !strings.EqualFold(value, option.harmless) {
			return fault(option.name, "The value of "+option.name+" is not offered by this server: leave it out.")
		}
	}
	return nil
}

// formatOf reads the parameter textType.
func formatOf(fields compat.Fields) (translate.Format, error) {
	name, err := fields.Text(typeField)
	switch {
	case err != nil:
		return "", err
	case name == "" || strings.EqualFold(name, "plain"):
		return translate.Text, nil
	case strings.EqualFold(name, "html"):
		return translate.HTML, nil
	}
	return "", fault(typeField, "The value isn't valid for textType: use plain or html.")
}
