package azure

import (
	"cmp"
	"html"
	"regexp"
	"strings"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// serveInputs serves /translate of the dated versions.
func serveInputs(call *dialect.Call) (any, error) {
	if !call.Has("inputs") {
		return nil, dialect.RefuseAs(fault.InvalidJSON, `The body of the request has no inputs: send {"inputs": [{"text": "...", "targets": [{"language": "fr"}]}]}.`)
	}
	var orders []order
	for i, input := range call.Objects("inputs") {
		if orders = append(orders, decodeInput(call, input, i)); call.Err() != nil {
			break
		}
	}
	items, err := translateAll(call, orders, func(text, name string) translation { return translation{Text: text, Language: name} })
	return struct {
		Value []item `json:"value"`
	}{items}, err
}

// decodeInput decodes the ith input.
func decodeInput(call *dialect.Call, input dialect.Fields, i int) (o order) {
	if !input.Has("text") {
		call.Fail(dialect.Refuse("One of the elements in the array of input text isn't valid: [%d] has no text.", i))
	}
	text := input.Text("text")
	o.format = formatOf(input)
	o.from = call.Source(input.Text("language"))
	targets := input.Objects("targets")
	if len(targets) == 0 {
		call.Fail(invalid(dialect.To, "The target language is not valid: send targets with a language."))
	}
	for _, target := range targets {
		o.names = append(o.names, target.Text("language"))
		if refuseTarget(target); call.Err() != nil {
			return o
		}
	}
	o.text, o.terms = dictionary(text, o.format)
	o.target(call)
	return o
}

// refuseTarget refuses options of a target that the translation would not reflect.
func refuseTarget(target dialect.Fields) {
	refuseOptions(target, []option{{"script", ""}, {"profanityAction", "NoAction"}, {"deploymentName", general}, {"tone", ""}, {"gender", ""}, {"adaptiveDatasetId", ""}})
	fallback := target.Bool("allowFallback")
	switch {
	case target.Has("allowFallback") && !fallback:
		target.Fail(notOffered("allowFallback"))
	case target.Given("referenceTextPairs"):
		target.Fail(notOffered("referenceTextPairs"))
	}
}

// entry matches a phrase with its translation.
var entry = regexp.MustCompile(`(?is)<mstrans:dictionary\s+translation\s*=\s*(?:"([^"]*)"|'([^']*)')\s*>(.*?)</mstrans:dictionary\s*>`)

// dictionary removes the entries of Azure's dynamic dictionary from a text but keeps their phrases, and returns them as terms.
func dictionary(text string, format translate.Format) (string, []translate.Term) {
	var terms []translate.Term
	known := map[string]bool{}
	text = entry.ReplaceAllStringFunc(text, func(found string) string {
		parts := entry.FindStringSubmatch(found)
		phrase, target := strings.TrimSpace(parts[3]), strings.TrimSpace(html.UnescapeString(parts[1]+parts[2]))
		if format == translate.HTML {
			phrase = html.UnescapeString(phrase)
		}
		if phrase != "" && !known[phrase] {
			known[phrase] = true
			terms = append(terms, translate.Term{Source: phrase, Target: cmp.Or(target, phrase)})
		}
		return parts[3]
	})
	return text, terms
}
