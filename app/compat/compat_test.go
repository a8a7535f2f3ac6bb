package compat

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/failure"
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

func TestSourceOf(t *testing.T) {
	for from, want := range map[string]string{"fr": "fr", "": "en", "auto": "en"} {
		assert.Equal(t, want, SourceOf(translate.Result{From: from}))
	}
}

func TestMessage(t *testing.T) {
	for _, test := range []struct {
		failure failure.Failure
		want    string
	}{
		{failure.Failure{Message: `record "0": too long`}, `Record "0": too long.`},
		{failure.Failure{Message: `"x" is new`}, `"x" is new.`},
		{failure.Failure{Message: "zz is not supported", Verbatim: true}, "zz is not supported"},
		{failure.Failure{Kind: failure.Internal, Message: "internal error, request id abc"}, "Internal error, request id abc"},
		{failure.Failure{}, ""},
	} {
		assert.Equal(t, test.want, Message(&test.failure))
	}
}
