package azure

import (
	"fmt"
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

// translation has the target language as the request has it: To in 3.0, Language in the versions that are dates.
type translation struct {
	Text     string `json:"text"`
	To       string `json:"to,omitempty"`
	Language string `json:"language,omitempty"`
}

// order is what is wanted of a text.
type order struct {
	text      string
	from      string   // code of the model, or translate.Auto
	to, names []string // codes of the target languages, and what the request calls them
	format    translate.Format
	terms     []translate.Term // that the text says
}

// serve serves /translate of 3.0.
func serve(call compat.Call) (any, error) {
	orders, err := decode(call)
	if err != nil {
		return nil, err
	}
	return translateAll(call, orders, func(text, name string) translation { return translation{Text: text, To: name} })
}

// translateAll translates texts, those together that want the same, and makes the answers of them.
func translateAll(call compat.Call, orders []order, answer func(text, name string) translation) ([]item, error) {
	if len(orders) == 0 {
		return []item{}, nil
	}
	var jobs []compat.Job
	known := map[string]int{}
	type place struct{ job, target, row int }
	places := make([][]place, len(orders)) // of each text's results
	for i, o := range orders {
		together := [][]string{o.to}
		if len(o.terms) > 0 { // what they become is in one language
			together = slices.Collect(slices.Chunk(o.to, 1))
		}
		for _, to := range together {
			wants := fmt.Sprintf("%q", []any{o.from, to, o.format, o.terms})
			n, ok := known[wants]
			if !ok {
				n = len(jobs)
				known[wants] = n
				jobs = append(jobs, compat.Job{From: o.from, To: to[0], Also: to[1:], Format: o.format, Terms: o.terms})
			}
			for target := range to {
				places[i] = append(places[i], place{n, target, len(jobs[n].Texts)})
			}
			jobs[n].Texts = append(jobs[n].Texts, o.text)
		}
	}
	results, err := call.TranslateAll(jobs)
	if err != nil {
		return nil, err
	}
	items := make([]item, len(orders))
	for i, o := range orders {
		of := func(n int) translate.Result {
			at := places[i][n]
			return results[at.job][at.target*len(jobs[at.job].Texts)+at.row]
		}
		if o.from == translate.Auto {
			code := compat.SourceOf(of(0))
			score := compat.Confidence(call.Models.Detector(), dialect.Prose(o.text, o.format), code)
			items[i].Detected = &detected{spelling().Of(code), score}
		}
		for n, name := range o.names {
			items[i].Translations = append(items[i].Translations, answer(of(n).Text, strings.TrimSpace(name)))
		}
	}
	return items, nil
}

// decode understands a request to translate of 3.0.
func decode(call compat.Call) ([]order, error) {
	texts, err := textsOf(call.Fields)
	if err != nil {
		return nil, err
	}
	if err := refuseOptions(call.Fields); err != nil {
		return nil, err
	}
	var all order
	if all.format, err = formatOf(call.Fields); err != nil {
		return nil, err
	}
	if all.names, _, err = call.Fields.Texts(compat.To); err != nil {
		return nil, err
	}
	if len(all.names) == 0 {
		return nil, fault(compat.To, "The target language is not valid: send to=LANGUAGE in the query.")
	}
	if err := all.target(call); err != nil {
		return nil, err
	}
	source, err := call.Fields.Text(compat.From)
	if err != nil {
		return nil, err
	}
	if all.from, err = call.Source(source); err != nil {
		return nil, err
	}
	orders := make([]order, len(texts))
	for i, text := range texts {
		orders[i] = all
		orders[i].text, orders[i].terms = dictionary(text, all.format)
	}
	return orders, nil
}

// target finds the codes of the target languages.
func (o *order) target(call compat.Call) error {
	for _, name := range o.names {
		code, err := call.Target(name)
		if err != nil {
			return err
		}
		if slices.Contains(o.to, code) { // it would make the answer longer at no cost
			return fault(compat.To, "The target language is not valid: send each language once.")
		}
		o.to = append(o.to, code)
	}
	return nil
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

// general is the model that is not one of language.
const general = "general"

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
			return notOffered(option.name)
		}
	}
	return nil
}

func notOffered(option string) error {
	return fault(option, "The value of "+option+" is not offered by this server: leave it out.")
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
