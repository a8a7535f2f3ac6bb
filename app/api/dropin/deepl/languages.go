package deepl

import (
	"cmp"
	"slices"
	"strings"

	"dragoman/app/api/dialect"
)

// sourceLanguage is an entry of /v2/languages.
type sourceLanguage struct {
	Language string `json:"language"`
	Name     string `json:"name"` // in English
}

// targetLanguage is an entry of /v2/languages?type=target.
type targetLanguage struct {
	sourceLanguage
	SupportsFormality bool `json:"supports_formality"`
}

// languages serves /v2/languages.
func languages(call *dialect.Call) (any, error) {
	switch call.Text("type") {
	case "", "source":
		return sources(dialect.Sources(call.Models)), nil
	case "target":
		return targets(dialect.Targets(call.Models)), nil
	}
	return nil, dialect.Refuse("Parameter 'type' is invalid. 'source' and 'target' are valid values.")
}

func sources(all dialect.Languages) []sourceLanguage {
	list := dialect.Each(all, func(l string) sourceLanguage { return sourceLanguage{code(l), dialect.NameOf(l).English} })
	slices.SortFunc(list, func(a, b sourceLanguage) int { return cmp.Compare(a.Language, b.Language) })
	return list
}

// targets lists languages as targets, by code. Clients refuse EN and PT as targets, so the list has their variants.
func targets(all dialect.Languages) []targetLanguage {
	list := []targetLanguage{}
	for _, l := range sources(all) {
		for _, variant := range variants(l) {
			list = append(list, targetLanguage{sourceLanguage: variant})
		}
	}
	return list
}

// variants returns DeepL's names for a language as a target.
func variants(l sourceLanguage) []sourceLanguage {
	switch l.Language {
	case "EN":
		return []sourceLanguage{{"EN-GB", "English (British)"}, {"EN-US", "English (American)"}}
	case "PT":
		return []sourceLanguage{{"PT-BR", "Portuguese (Brazilian)"}, {"PT-PT", "Portuguese (European)"}}
	case "ZH":
		return []sourceLanguage{{"ZH", "Chinese (simplified)"}, {"ZH-HANS", "Chinese (simplified)"}}
	}
	return []sourceLanguage{l}
}

// code returns DeepL's code for a language of the model.
func code(model string) string {
	if model == "no" {
		return "NB"
	}
	return strings.ToUpper(model)
}
