package memory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " ": "", "a b": "a b", " a\u00a0 b\n": "a b", "a  b": "a b", "e\u0301": "\u00e9", "ab ": "ab", "日本\u3000語": "日本 語",
	} {
		assert.Equal(t, want, normal(text), "%q", text)
	}
}

func TestVariables(t *testing.T) {
	for text, want := range map[string]string{
		"no variables":                     "",
		"5 files, 3.14 and 12:30-13":       "n5 n3.14 n12:30-13",
		"H2O, 1st, v2 and x_1":             "",
		"第3章 5個":                           "n3 n5",
		"Hi {name}, {{0}} ${x} %{y} #{z}":  "p{name} p{{0}} p${x} p%{y} p#{z}",
		"{a b} { } {} {{x} {count, plural": "p{x}",
		"%s %1$d %.2f %(name)s %@ %ld":     "p%s p%1$d p%.2f p%(name)s p%@ p%ld",
		"100% sure, 5%":                    "n100 n5",
		"<b>bold</b> <x1/> a < b > c":      "t<b> c</b> t<x1/>",
		"<g id=\"1\">a</g> <<b>":           "t<g id=\"1\"> c</g> t<b>",
		"See https://example.com/a?b=1.":   "phttps://example.com/a?b=1",
		"http://":                          "phttp://",
		"1.":                               "n1",
		"{" + strings.Repeat("a", 600) + "}<" + strings.Repeat("b", 600) + ">": "",
	} {
		var got []string
		for _, v := range variablesOf(text) {
			got = append(got, string(v.kind)+text[v.start:v.end])
		}
		assert.Equal(t, want, strings.Join(got, " "), "%q", text)
	}
}

func TestFill(t *testing.T) {
	for _, test := range []struct{ from, to, source, target, text, want string }{
		{"en", "fr", "Page 3 of 7", "Page 3 sur 7", "Page 4 of 9", "Page 4 sur 9"},
		{"en", "ja", "Page 3 of 7", "7ページ中の3ページ", "Page 4 of 9", "9ページ中の4ページ"},
		{"en", "fr", "Hello {name}!", "Bonjour {name} !", "Hello %s!", "Bonjour %s !"},
		{"en", "fr", "Click <b>here</b>.", "Cliquez <b>ici</b>.", `Click <a href="x">here</a>.`, `Cliquez <a href="x">ici</a>.`},
		{"en", "fr", "Same", "Pareil", "Same", "Pareil"},
		{"en", "fr", "Same  text", "Texte", "Same text", "Texte"},
		{"en", "fr", "3 of 3", "3 sur 3", "4 of 4", "4 sur 4"},
		// Anything else is no equal text.
		{"en", "fr", "3 of 3", "3 sur 3", "2 of 3", ""},
		{"en", "fr", "3 files", "trois fichiers", "4 files", ""},
		{"en", "fr", "3 files", "3 fichiers sur 5", "4 files", ""},
		{"en", "de", "3.5 m", "3,5 m", "4.5 m", ""},
		{"en", "fr", "500 m", "500 m", "1,500 m", ""},
		{"ja", "en", "3個", "3 pieces", "1個", ""},
		{"ja", "en", "3個", "3 pieces", "5個", "5 pieces"},
		{"en", "ru", "2 files", "2 файла", "5 files", ""},
		{"en", "ru", "2 files", "2 файла", "23 files", "23 файла"},
		{"en", "fr", "5 files", "5 fichiers", "1000000 files", ""}, // 1000000 de fichiers
		{"en", "fr", "1 file", "1 fichier", "2147483648 files", ""},
		{"en", "fr", "1 fish", "1 poisson", "2147483648 fish", ""},
		{"en", "fr", "Hello {name}!", "Bonjour !", "Hello %s!", ""},
		{"en", "fr", "Hello {name}!", "Bonjour {name} !", "Hello 5!", ""},
		{"en", "fr", "a {x} {y}", "a {y} {x}", "a {z} {z}", "a {z} {z}"},
		{"en", "fr", "other", "autre", "another", ""},
		{"xx-invalid-", "fr", "3 a", "3 a", "4 a", "4 a"},
	} {
		got, ok := Entry{Pair{From: test.from, To: test.to}, test.source, test.target}.fill(test.text)
		assert.Equal(t, test.want, got, "%+v", test)
		assert.Equal(t, test.want != "", ok, "%+v", test)
	}
}

// Variables lie in their text, in order, and replacing them by themselves changes nothing.
func FuzzVariables(f *testing.F) {
	f.Add("5 {a} <b> %s http://x $ #{ </")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		list := variablesOf(text)
		for _, v := range list {
			assert.True(t, at <= v.start && v.start < v.end && v.end <= len(text))
			at = v.end
		}
		assert.Equal(t, text, replaced(text, list, func(i int) string { return text[list[i].start:list[i].end] }))
		filled, ok := Entry{Pair{From: "en", To: "fr"}, text, text}.fill(normal(text))
		assert.True(t, ok)
		assert.Equal(t, text, filled)
	})
}
