package azure

import (
	"strings"

	"dragoman/app/api/dialect"
	"dragoman/app/text/language"
	"dragoman/app/translate"
)

// spelling maps languages to Azure's codes with another script or name.
func spelling() dialect.Spelling {
	return dialect.Spelling{"zh": "zh-Hans", "no": "nb", "ns": "nso", "tl": "fil", "sr": "sr-Cyrl", "mn": "mn-Cyrl"}
}

// detection is the answer of /detect for a text.
type detection struct {
	detected
	Translation     bool `json:"isTranslationSupported"`
	Transliteration bool `json:"isTransliterationSupported"`
}

// detect serves /detect. A text without a language is English, with score 0.
func detect(call *dialect.Call) (any, error) {
	if call.Context.Query(versionField) != oldVersion {
		return nil, invalid(versionField, "The API version parameter is missing or invalid: this server detects with 3.0.")
	}
	call.NeedsDetector("Language detection is not offered by this server.")
	found, err := call.Detect(textsOf(call.Fields), translate.Text)
	return dialect.Each(found, func(d dialect.Detection) detection {
		if d.Code == "" {
			return detection{detected: detected{Language: "en"}}
		}
		_, supported := call.Languages.Source(d.Code)
		return detection{detected{spelling().Of(d.Code), d.Confidence}, supported, false}
	}), err
}

// languageList is the answer of /languages: the requested groups. Transliterations and dictionaries are empty.
type languageList struct {
	Translation     *map[string]languageName `json:"translation,omitempty"` // by code
	Transliteration *struct{}                `json:"transliteration,omitempty"`
	Dictionary      *struct{}                `json:"dictionary,omitempty"`
	Models          []string                 `json:"models,omitempty"` // in the dated versions
}

type languageName struct {
	Name      string `json:"name"` // in English
	Native    string `json:"nativeName"`
	Direction string `json:"dir"` // ltr or rtl

	Models []string `json:"models,omitzero"` // in the dated versions: [general]
}

// languages serves /languages. Names are English, whatever Accept-Language says.
func languages(call *dialect.Call) (any, error) {
	scopes := call.Context.Query("scope")
	asked := func(group string) bool { return scopes == "" || strings.Contains(scopes, group) }
	var list languageList
	if dated(call.Context.Query(versionField), 2025) {
		list.Models = []string{general}
	}
	if asked("translation") {
		names := make(map[string]languageName, len(call.Languages))
		for _, code := range call.Languages {
			name := dialect.NameOf(code)
			names[spelling().Of(code)] = languageName{name.English, name.Own, language.Direction(code), list.Models}
		}
		list.Translation = &names
	}
	if asked("transliteration") {
		list.Transliteration = &struct{}{}
	}
	if asked("dictionary") && list.Models == nil {
		list.Dictionary = &struct{}{}
	}
	return list, nil
}
