package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// TestServiceOfFamilies serves models of other families than M2M100. That they translate
// as transformers is shown where their goldens are; here all that is above speaks to them.
func TestServiceOfFamilies(t *testing.T) {
	for _, test := range []struct {
		family    string
		languages int
		codes     []string // some of them
		pairs     [][2]string
		refused   string // a target
		detected  map[string]string
		deepl     []string // targets
	}{
		{"nllb", 202, []string{"en", "zh", "zh-Hant", "nb", "ace-Arab"},
			[][2]string{{"en", "fr"}, {"eng_Latn", "zho_Hant"}, {"EN", "zh-TW"}, {"pt-BR", "sr-Cyrl"}, {"auto", "yue"}}, "br",
			map[string]string{"Wo ist der Bahnhof?": "de", "請問火車站在哪裡？": "zh-Hant", "మీ పేరు ఏమిటి": "te"},
			[]string{"ZH-HANT", "ZH-HANS", "EN-US", "NB"}},
		{"small100", 100, []string{"en", "zh", "no"},
			[][2]string{{"en", "fr"}, {"eng_Latn", "fra_Latn"}, {"auto", "zh-Hans"}}, "zh-TW",
			map[string]string{"Wo ist der Bahnhof?": "de", "請問火車站在哪裡？": "zh"},
			[]string{"ZH-HANS", "EN-US", "NB"}},
	} {
		t.Run(test.family, func(t *testing.T) {
			weights := t.TempDir()
			r := service(t, "MODEL_WEIGHTS="+filepath.Join("..", "model", "testdata", "families", test.family), "SAVE_WEIGHTS="+weights)
			manifest, err := model.ReadManifest(weights)
			require.NoError(t, err)
			assert.Equal(t, test.family, manifest.Family)

			_, answer := r.get(t, "/languages")
			var languages []struct{ Code, Name string }
			require.NoError(t, json.Unmarshal([]byte(answer), &languages))
			assert.Len(t, languages, test.languages)
			listed := map[string]bool{}
			for _, l := range languages {
				listed[l.Code] = true
				assert.NotEqual(t, l.Code, l.Name, "a name")
			}
			for _, code := range test.codes {
				assert.True(t, listed[code], code)
			}

			for _, pair := range test.pairs {
				resp, answer := r.send(t, "/translation", `{"payload":{"fromLang":"`+pair[0]+`","toLangs":["`+pair[1]+`"],"detail":true,
					"options":{"maxLength":8},"records":[{"id":"1","text":"Where is the station?"}]}}`)
				assert.Equal(t, 200, resp.StatusCode, answer)
				assert.Contains(t, answer, `"toLang":"`+pair[1]+`"`)
				assert.Contains(t, answer, `"targetTokens":`)
			}
			resp, answer := r.send(t, "/translation", `{"payload":{"fromLang":"en","toLang":"`+test.refused+`","records":[]}}`)
			assert.Equal(t, 400, resp.StatusCode, answer)
			for text, want := range test.detected {
				_, answer := r.send(t, "/detect", `{"q":"`+text+`"}`)
				assert.Contains(t, answer, `"language":"`+want+`"`, text)
			}
			_, answer = r.get(t, "/v2/languages?type=target")
			for _, code := range test.deepl {
				assert.Contains(t, answer, `"language":"`+code+`"`)
			}
		})
	}
}
