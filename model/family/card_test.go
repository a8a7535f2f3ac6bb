package family

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestLicense(t *testing.T) {
	for card, want := range map[string]string{
		"---\nlanguage: [en, fr]\nlicense: apache-2.0\n---\n# Model": "apache-2.0",
		"---\r\nlicense: 'cc-by-nc-4.0'\r\n---\r\n":                  "cc-by-nc-4.0",
		"---\nlicense:\n- mit\n- cc-by-4.0\n---\n":                   "mit, cc-by-4.0",
		"---\nlicense: other\nlicense_name: my license 1.0\n---\n":   "my license 1.0",
		"---\nlicense: other\n---\n":                                 "other",
		"---\nlicense: mit\ntags: 3\nlicense_name: [x]\n---\n":       "mit",
		"---\nlicense:\n---\n":                                       "",
		"---\nlicense: {name: mit}\n---\n":                           "",
		"---\nlicense: [[mit], null, \"a\\nb\"]\n---\n":              "",
		"---\nlicense: *nowhere\n---\n":                              "",
		"\xef\xbb\xbf---\nlicense: mit\n---\n":                       "mit",
		"---\nbase: &l cc-by-nc-4.0\nlicense: *l\n---\n":             "cc-by-nc-4.0",
		"---\nlicense: CC BY-NC 4.0, non-commercial\n---\n":          "CC BY-NC 4.0, non-commercial",
		"---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\nlicense: mit\n---\n": "mit",
		"\n---\nlicense: mit\n---\n": "mit",
		"--- \nlicense: mit\n--- \n": "mit",
		"---\nlicense:\n  - cc-by-nc-4.0\n  - other\nlicense_name: [a]\n---\n": "cc-by-nc-4.0, other",
		"---\nlicense: mit\n":                                  "",
		"# Model\nlicense: mit\n":                              "",
		"---\nlicense: " + strings.Repeat("m", 81) + "\n---\n": "",
		"---\n#" + strings.Repeat("-", frontMatterBytes) + "\n---\nlicense: mit\n---\n": "",
	} {
		license, err := License(memory{CardFile: card})
		require.NoError(t, err)
		assert.Equal(t, want, license, "%.99q", card)
	}
	license, err := License(memory{})
	require.NoError(t, err)
	assert.Empty(t, license, "no card")
}

func FuzzLicense(f *testing.F) {
	f.Add("---\nlicense: [mit, other]\nlicense_name: x\n---\n")
	f.Add("---\na: &a [*a]\nlicense: *a\n---\n")
	f.Fuzz(func(t *testing.T, card string) {
		license, err := License(memory{CardFile: card})
		require.NoError(t, err)
		for name := range strings.SplitSeq(license, ", ") {
			assert.True(t, license == "" || licenseName.MatchString(name), license)
		}
	})
}

func TestIsNonCommercial(t *testing.T) {
	for license, want := range map[string]bool{
		"cc-by-nc-4.0": true, "CC BY-NC 4.0": true, "research-NonCommercial": true, "non commercial": true, "nc": true,
		"cc-by-4.0": false, "apache-2.0": false, "ncsa": false, "": false,
	} {
		assert.Equal(t, want, model.IsNonCommercial(license), license)
	}
}

// Lines as the cards of models have them, and some that are no lists.
func TestCardDirections(t *testing.T) {
	for card, want := range map[string][2]string{
		"* source languages: fr,fr_BE,pt_br\n* target languages: en":                                                                        {"fr pt", "en"},
		"* source languages: pt_BR,zh_TW,sr_ME,es_419,pa_PK\n":                                                                              {"es pa-Arab pt sr-Latn zh-Hant", ""},
		"* source languages: de\n* target languages: cmn,cn,yue,ze_zh,zh_cn,zh_CN,zh_HK,zh_tw,zh_yue,zhs,zht,zh":                            {"de", "yue zh zh-Hant"},
		"* source group: Romance languages\n* source language(s): arg ast fra frm_Latn lad_Latn zsm_Latn\n":                                 {"an ast fr frm-Latn lad-Latn ms", ""},
		"- **Language(s):**  \n  - Source Language(s): afr deu eng\n  - Target Language(s): fra\n  - Valid Target Language Labels: >>xxx<<": {"af de en", "fr"},
		"* source language(s): kab ber fiu_vro\r\n* target language(s): eng\r\n":                                                            {"kab vro", "en"},
		"* source language(s): roa\n": {"", ""},
		"  - Source Language:  Chinese\n  - Target Language: English\n* source language(s): cmn\n": {"zh", ""},
		"Source language: English and French":                                                      {"", ""},
		"* source languages: fr\n* source languages: de\n":                                         {"fr", ""},
		"* source languages:\n* target languages: en\n":                                            {"", "en"},
		"* source languages: see the table, https://x\n":                                           {"", ""},
		"- source_languages: roa\n- src_constituents: {'fra', 'spa'}":                              {"", ""},
		"": {"", ""},
	} {
		d := cardDirections([]byte(card))
		assert.Equal(t, want, [2]string{strings.Join(d.Sources, " "), strings.Join(d.Targets, " ")}, card)
	}
}
