package azure

import (
	"fmt"
	"slices"
	"strings"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

const typeField = "textType"

// item is the answer for a text.
type item struct {
	Detected     *detected     `json:"detectedLanguage,omitempty"` // if the request names no source
	Translations []translation `json:"translations"`               // in the order of the target languages
}

type detected struct {
	Language string  `json:"language"`
	Score    float64 `json:"score"` // 0 to 1
}

// translation has the target language in the request's spelling: To in 3.0, Language in the dated versions.
type translation struct {
	Text     string `json:"text"`
	To       string `json:"to,omitempty"`
	Language string `json:"language,omitempty"`
}

// order is a text with its options.
type order struct {
	text      string
	from      string   // code of the model, or translate.Auto
	to, names []string // codes of the target languages, and the request's names for them
	format    translate.Format
	terms     []translate.Term // entries of the text's dynamic dictionary
}

// translateAll translates texts, those with equal options together, and makes an answer for each.
func translateAll(call *dialect.Call, orders []order, answer func(text, name string) translation) ([]item, error) {
	if err := call.Err(); err != nil || len(orders) == 0 {
		return []item{}, err
	}
	var requests []dialect.Request
	known, wants := map[string]int{}, map[string]int{} // requests, and numbered options: short keys for long terms
	type place struct{ request, target, row int }
	places := make([][]place, len(orders)) // places of each text's results
	for i, o := range orders {
		together := [][]string{o.to}
		if len(o.terms) > 0 { // because terms are for one target language
			together = slices.Collect(slices.Chunk(o.to, 1))
		}
		want := fmt.Sprintf("%q", []any{o.from, o.format, o.terms})
		if _, ok := wants[want]; !ok {
			wants[want] = len(wants)
		}
		for _, to := range together {
			key := fmt.Sprint(wants[want], to)
			n, ok := known[key]
			if !ok {
				n = len(requests)
				known[key] = n
				requests = append(requests, dialect.Request{From: o.from, To: to[0], Also: to[1:], Format: o.format, Terms: o.terms})
			}
			for target := range to {
				places[i] = append(places[i], place{n, target, len(requests[n].Texts)})
			}
			requests[n].Texts = append(requests[n].Texts, o.text)
		}
	}
	results, err := call.TranslateAll(requests)
	if err != nil {
		return nil, err
	}
	items := make([]item, len(orders))
	for i, o := range orders {
		of := func(n int) translate.Result {
			at := places[i][n]
			return results[at.request][at.target*len(requests[at.request].Texts)+at.row]
		}
		if o.from == translate.Auto {
			code := dialect.SourceOf(of(0))
			confidence, err := call.Confidence(o.format, o.text, code)
			if err != nil {
				return nil, err
			}
			items[i].Detected = &detected{spelling().Of(code), confidence}
		}
		for n, name := range o.names {
			items[i].Translations = append(items[i].Translations, answer(of(n).Text, strings.TrimSpace(name)))
		}
	}
	return items, nil
}

// decode decodes a translation request of version 3.0.
func decode(call *dialect.Call) []order {
	texts := textsOf(call.Fields)
	refuseOptions(call.Fields, []option{
		{"profanityAction", "NoAction"}, {"includeAlignment", "false"}, {"includeSentenceLength", "false"}, {"allowFallback", "true"}, {"toScript", ""},
	})
	all := order{format: formatOf(call.Fields)}
	if all.names, _ = call.Texts(dialect.To); len(all.names) == 0 {
		call.Fail(invalid(dialect.To, "The target language is not valid: send to=LANGUAGE in the query."))
	}
	all.target(call)
	all.from = call.Source(call.Text(dialect.From))
	if call.Err() != nil {
		return nil
	}
	return dialect.Each(texts, func(text string) order {
		o := all
		o.text, o.terms = dictionary(text, all.format)
		return o
	})
}

// target finds the codes of the target languages.
func (o *order) target(call *dialect.Call) {
	for _, name := range o.names {
		code := call.Target(name)
		if slices.Contains(o.to, code) { // a repeated target would lengthen the answer free of charge
			call.Fail(invalid(dialect.To, "The target language is not valid: send each language once."))
		}
		if call.Err() != nil {
			return
		}
		o.to = append(o.to, code)
	}
}

// textsOf reads the texts of a body.
func textsOf(fields dialect.Fields) (texts []string) {
	items := fields.List()
	if items == nil {
		fields.Fail(dialect.RefuseAs(fault.InvalidJSON, `The body of the request is not a list: send [{"Text": "..."}].`))
	}
	for i, item := range items {
		name := "Text"
		if !item.Has(name) {
			name = "text"
		}
		if !item.Has(name) {
			fields.Fail(dialect.Refuse("One of the elements in the array of input text isn't valid: [%d] has no Text.", i))
		}
		texts = append(texts, item.Text(name))
	}
	return texts
}

// general is Azure's name of its translation model, as opposed to language models.
const general = "general"

// option is an Azure option, and the value that has no effect; "": there is no such value.
type option struct{ name, harmless string }

// refuseOptions refuses options that the translation would not reflect.
func refuseOptions(fields dialect.Fields, options []option) {
	for _, o := range options {
		if value := fields.Text(o.name); value != "" && !strings.EqualFold(value, o.harmless) {
			fields.Fail(notOffered(o.name))
		}
	}
}

func notOffered(option string) error {
	return invalid(option, "The value of "+option+" is not offered by this server: leave it out.")
}

// formatOf reads the parameter textType.
func formatOf(fields dialect.Fields) translate.Format {
	switch name := fields.Text(typeField); {
	case name == "" || strings.EqualFold(name, "plain"):
		return translate.Text
	case strings.EqualFold(name, "html"):
		return translate.HTML
	}
	fields.Fail(invalid(typeField, "The value isn't valid for textType: use plain or html."))
	return ""
}
