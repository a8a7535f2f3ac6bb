package azure

import (
	"strings"

	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/failure"
	"dragoman/app/language"
)

// spelling is how Azure writes the codes that it has for another script or another name.
func spelling() compat.Spelling {
	return compat.Spelling{"zh": "zh-Hans", "no": "nb", "ns": "nso", "tl": "fil", "sr": "sr-Cyrl", "mn": "mn-Cyrl"}
}

// detection is the answer of /detect for a text.
type detection struct {
	detected
	Translation     bool `json:"isTranslationSupported"`
	Transliteration bool `json:"isTransliterationSupported"`
}

// detect serves /detect. What has no language is English, with the score 0.
func detect(server *dialect.Server, call compat.Call) (any, error) {
	detector := call.Models.Detector()
	if detector == nil {
		return nil, compat.RefuseAs(failure.NotOffered, "Language detection is not offered by this server.")
	}
	texts, err := textsOf(call.Fields)
	if err != nil {
		return nil, err
	}
	if err := server.ChargeDetection(call.Context, texts); err != nil {
		return nil, err
	}
	list := make([]detection, len(texts)) // not nil: none are [] in JSON
	for i, text := range texts {
		list[i] = detection{detected: detected{Language: "en"}}
		if code, confidence, ok := detector.Detect(text); ok {
			_, supported := call.Languages.Source(code)
			list[i] = detection{detected{spelling().Of(code), confidence}, supported, false}
		}
	}
	return list, nil
}

// languageList is the answer of /languages: what is in the groups that are asked for. Of
// transliterations and dictionaries there are none.
type languageList struct {
	Translation     *map[string]languageName `json:"translation,omitempty"` // by code
	Transliteration *struct{}                `json:"transliteration,omitempty"`
	Dictionary      *struct{}                `json:"dictionary,omitempty"`
	Models          []string                 `json:"models,omitempty"` // of the versions that are dates
}

type languageName struct {
	Name      string `json:"name"` // in English
	Native    string `json:"nativeName"`
	Direction string `json:"dir"` // ltr or rtl

	Models []string `json:"models,omitzero"` // of the versions that are dates: [general]
}

// languages serves /languages. Names are English, whatever Accept-Language says.
func languages(call compat.Call) any {
	scopes := call.Context.Query("scope")
	asked := func(group string) bool { return scopes == "" || strings.Contains(scopes, group) }
	var list languageList
	if dated(call.Context.Query(versionField)) {
		list.Models = []string{general}
	}
	if asked("translation") {
		names := make(map[string]languageName, len(call.Languages))
		for _, code := range call.Languages {
			direction, name := "ltr", compat.NameOf(code)
			if language.RightToLeft(code) {
				direction = "rtl"
			}
			names[spelling().Of(code)] = languageName{name.English, name.Own, direction, list.Models}
		}
		list.Translation = &names
	}
	if asked("transliteration") {
		list.Transliteration = &struct{}{}
	}
	if asked("dictionary") && list.Models == nil {
		list.Dictionary = &struct{}{}
	}
	return list
}
