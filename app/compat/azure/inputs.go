package azure

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/compat"
	"dragoman/app/failure"
	"dragoman/app/translate"
)

// serveInputs serves /translate of the versions that are dates.
func serveInputs(call compat.Call) (any, error) {
	if !call.Fields.Has("inputs") {
		return nil, compat.RefuseAs(failure.InvalidJSON, `The body of the request has no inputs: send {"inputs": [{"text": "...", "targets": [{"language": "fr"}]}]}.`)
	}
	inputs, err := call.Fields.Objects("inputs")
	if err != nil {
		return nil, err
	}
	orders := make([]order, len(inputs))
	for i, input := range inputs {
		if orders[i], err = decodeInput(call, input, i); err != nil {
			return nil, err
		}
	}
	items, err := translateAll(call, orders, func(text, name string) translation { return translation{Text: text, Language: name} })
	if err != nil {
		return nil, err
	}
	return struct {
		Value []item `json:"value"`
	}{items}, nil
}

// decodeInput understands an input, the ith.
func decodeInput(call compat.Call, input compat.Fields, i int) (o order, err error) {
	if !input.Has("text") {
		return o, compat.Refuse("One of the elements in the array of input text isn't valid: [%d] has no text.", i)
	}
	text, err := input.Text("text")
	if err != nil {
		return o, err
	}
	if o.format, err = formatOf(input); err != nil {
		return o, err
	}
	source, err := input.Text("language")
	if err != nil {
		return o, err
	}
	if o.from, err = call.Source(source); err != nil {
		return o, err
	}
	targets, err := input.Objects("targets")
	if err != nil {
		return o, err
	}
	if len(targets) == 0 {
		return o, fault(compat.To, "The target language is not valid: send targets with a language.")
	}
	for _, target := range targets {
		name, err := target.Text("language")
		if err != nil {
			return o, err
		}
		o.names = append(o.names, name)
		if err := refuseTarget(target); err != nil {
			return o, err
		}
	}
	o.text, o.terms = dictionary(text, o.format)
	return o, o.target(call)
}

// refuseTarget refuses what a translation into a target would not show.
func refuseTarget(target compat.Fields) error {
	for _, option := range []struct {
		name     string
		harmless []string
	}{
		{"script", nil}, {"profanityAction", []string{"NoAction"}}, {"deploymentName", []string{general}}, {"tone", nil}, {"gender", nil}, {"adaptiveDatasetId", nil},
	} {
		value, err := target.Text(option.name)
		if err != nil {
			return err
		}
		if value != "" && !slices.ContainsFunc(option.harmless, func(h string) bool { return strings.EqualFold(h, value) }) {
			return notOffered(option.name)
		}
	}
	fallback, err := target.Bool("allowFallback")
	switch {
	case err != nil:
		return err
	case target.Has("allowFallback") && !fallback:
		return notOffered("allowFallback")
	case target.Given("referenceTextPairs"):
		return notOffered("referenceTextPairs")
	}
	return nil
}

// entry is a phrase of a text with what it becomes.
var entry = regexp.MustCompile(`(?is)<mstrans:dictionary\s+translation\s*=\s*(?:"([^"]*)"|'([^']*)')\s*>(.*?)</mstrans:dictionary\s*>`)

// dictionary takes the entries of Azure's dynamic dictionary out of a text, whose phrases stay, and returns
// them as terms.
func dictionary(text string, format translate.Format) (string, []translate.Term) {
	var terms []translate.Term
	text = entry.ReplaceAllStringFunc(text, func(found string) string {
		parts := entry.FindStringSubmatch(found)
		phrase, target := strings.TrimSpace(parts[3]), strings.TrimSpace(html.UnescapeString(parts[1]+parts[2]))
		if format == translate.HTML {
			phrase = html.UnescapeString(phrase)
		}
		known := slices.ContainsFunc(terms, func(t translate.Term) bool { return t.Source == phrase })
		if phrase != "" && !known {
			terms = append(terms, translate.Term{Source: phrase, Target: cmp.Or(target, phrase)})
		}
		return parts[3]
	})
	return text, terms
}
