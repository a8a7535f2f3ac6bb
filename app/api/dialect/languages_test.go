package dialect

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

func TestLanguages(t *testing.T) {
	model := Languages{"en", "fr", "no", "pt", "zh", "x-Own"}
	for _, test := range []struct{ code, source, target string }{
		{"en", "en", "en"},
		{"EN-us", "en", "en"},
		{"en_GB", "en", "en"},
		{"pt-BR", "pt", "pt"},
		{"PB", "pt", "pt"},
		{"nb", "no", "no"},
		{"ZH-HANS", "zh", "zh"},
		{"zh", "zh", "zh"},
		{"zh-Hant", "zh", ""},
		{"ZH_TW", "zh", ""},
		{"zh-Hant-TW", "zh", ""},
		{"zh-Hant-SG", "zh", ""},
		{"zh_HK.UTF-8", "zh", ""},
		{"cmn-Hant", "zh", ""},
		{"zho-TW", "zh", ""},
		{"zh-CN", "zh", "zh"},
		{"zh-Hans-TW", "zh", "zh"},
		{"cmn", "zh", "zh"},
		{"X-OWN", "x-Own", "x-Own"},
		{"ja", "", ""}, // a language that this model does not have
		{"auto", "", ""},
		{"english", "", ""},
		{"", "", ""},
		{"e\xffn", "", ""},
	} {
		source, ok := model.Source(test.code)
		assert.Equal(t, test.source != "", ok, test.code)
		if ok {
			assert.Equal(t, test.source, source)
		}
		target, ok := model.Target(test.code)
		assert.Equal(t, test.target != "", ok, test.code)
		if ok {
			assert.Equal(t, test.target, target)
		}
	}
	assert.Equal(t, "Norwegian", NameOf("no").English)
	assert.Equal(t, "x-Own", NameOf("x-Own").English)
}

// listed implements translate.Selection. It maps languages to their targets.
type listed map[string][]string

func (l listed) Languages() []string                             { return slices.Sorted(maps.Keys(l)) }
func (l listed) Targets(from string) []string                    { return l[from] }
func (listed) Pivots(string) map[string]string                   { return nil }
func (listed) Detector() translate.Detector                      { return nil }
func (listed) Detects() bool                                     { return false }
func (listed) Route(string, string) (r translate.Route, _ error) { return r, nil }

func TestSourcesAndTargets(t *testing.T) {
	for _, test := range []struct {
		languages        listed
		sources, targets Languages
	}{
		{listed{"en": {"en", "ja"}, "ja": {"en", "ja"}}, Languages{"en", "ja"}, Languages{"en", "ja"}},
		{listed{"de": {"de", "en"}, "en": {"en", "ja"}, "ja": {"ja"}}, Languages{"de", "en"}, Languages{"en", "ja"}},
		{listed{"en": {"en"}}, Languages{}, Languages{}},
		{listed{"de": {"en"}, "en": nil}, Languages{"de"}, Languages{"en"}},
		{listed{}, Languages{}, Languages{}},
	} {
		assert.Equal(t, test.sources, Sources(test.languages))
		assert.Equal(t, test.targets, Targets(test.languages))
	}
}

func TestWithoutModel(t *testing.T) {
	for path, want := range map[string]string{
		"/translate": "/translate", "/models/m/v2/translate": "/v2/translate", "/models/m": "/", "/models/": "/", "/models": "/models",
		"/models/models/models/x": "/models/x", "": "", "/v2/models/m/x": "/v2/models/m/x",
	} {
		assert.Equal(t, want, WithoutModel(path), path)
	}
}

func TestSourceOf(t *testing.T) {
	for from, want := range map[string]string{"fr": "fr", "": "en", "auto": "en"} {
		assert.Equal(t, want, SourceOf(translate.Result{From: from}))
	}
}

func TestMessage(t *testing.T) {
	for _, test := range []struct {
		failure fault.Failure
		want    string
	}{
		{fault.Failure{Message: `record "0": too long`}, `Record "0": too long.`},
		{fault.Failure{Message: `"x" is new`}, `"x" is new.`},
		{fault.Failure{Message: "zz is not supported", Verbatim: true}, "zz is not supported"},
		{fault.Failure{Kind: fault.Internal, Message: "internal error, request id abc"}, "Internal error, request id abc"},
		{fault.Failure{}, ""},
	} {
		assert.Equal(t, test.want, Message(&test.failure))
	}
}
