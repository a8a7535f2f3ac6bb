package memory_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"dragoman/app/memory"
	"dragoman/app/text/language"
)

var known = []string{"de", "en", "fr", "ja"}

func find(code string) (string, bool) { return language.Find(known, code) }

// entriesOf returns the entries of a file, one per line, and what is skipped.
func entriesOf(r memory.Reading, text string) (string, error) {
	r.Find = find
	var out strings.Builder
	err := r.Source(strings.NewReader(text))(func(_ string, e memory.Entry) error {
		_, _ = fmt.Fprintf(&out, "%s>%s %s|%s\n", e.From, e.To, e.Source, e.Target)
		return nil
	}, func(place, reason string) { _, _ = fmt.Fprintf(&out, "skip %s: %s\n", place, reason) })
	return out.String(), err
}

func TestRead(t *testing.T) {
	tu := func(list ...string) string {
		var out strings.Builder
		for i := 0; i < len(list); i += 2 {
			out.WriteString(`<tuv xml:lang="` + list[i] + `"><prop>p</prop><seg>` + list[i+1] + `</seg></tuv>`)
		}
		return "<tu>" + out.String() + "</tu>"
	}
	tmx := func(srclang string, units ...string) string {
		return `<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header srclang="` + srclang + `"/><body>` + strings.Join(units, "\n") + `</body></tmx>`
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(strings.Replace(tmx("en", tu("en", "é", "ja", "日本")), `?>`, ` encoding="UTF-16"?>`, 1))
	require.NoError(t, err)
	xliff := func(units string) string {
		return `<xliff version="1.2"><file source-language="en" target-language="fr-FR"><body>` + units + `</body></file></xliff>`
	}
	for _, test := range []struct {
		name, text string
		reading    memory.Reading
		want, err  string
	}{
		{name: "tmx", text: tmx("en-US", tu("EN-us", "a &amp; b", "fr-FR", "c"), tu("de", "x", "en", "y", "fr", "z")), want: "en>fr a & b|c\nen>de y|x\nen>fr y|z\n"},
		{name: "all", text: tmx("*all*", tu("de", "x", "fr", "z")), want: "de>fr x|z\n"},
		{name: "own", text: tmx("en", `<tu srclang="fr"><tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="fr"><seg>b</seg></tuv></tu>`, tu("en", "c", "fr", "d")), want: "fr>en b|a\nen>fr c|d\n"},
		{name: "pair", reading: memory.Reading{Pair: memory.Pair{From: "fr", To: "de"}}, text: tmx("en", tu("en", "a", "fr", "b", "de", "c"), tu("en", "a", "de", "c")), want: "fr>de b|c\n"},
		{name: "no source", text: tmx("en", tu("de", "x", "fr", "z")), want: "skip unit 1: it has no text in \"en\", the source language\n"},
		{name: "unknown", text: tmx("en", tu("en", "x", "tlh", "z")), want: "skip unit 1: \"tlh\" is not a language of any model\n"},
		{name: "variants", text: tmx("en", tu("en", "x", "en-GB", "z")), want: "skip unit 1: its texts are in the same language\n"},
		{name: "codes", text: tmx("en", tu("en", `<bpt i="1">&lt;b></bpt>a<ept i="1">&lt;/b></ept> <hi>h</hi><ph x="1"/>`, "fr", `<bpt i="1"/>z<ept i="1"/>`)), want: "en>fr <b>a</b> h<x/>|<g>z</g>\n"},
		{name: "wide", text: wide, want: "en>ja é|日本\n"},
		{name: "mark", text: "\uFEFF" + tmx("en", tu("en", "x", "fr", "z")), want: "en>fr x|z\n"},
		{name: "entity", text: `<!DOCTYPE tmx [<!ENTITY a "b">]><tmx><body/></tmx>`, err: "the file declares entities of its own, which are not read"},
		{name: "unknown entity", text: tmx("en", tu("en", "&a;", "fr", "z")), err: "the file is not well-formed XML in UTF-8: XML syntax error on line 1: invalid character entity &a;"},
		{name: "cut", text: "<tmx><body><tu>", err: "the file is not well-formed XML in UTF-8: XML syntax error on line 1: unexpected EOF"},
		{name: "other", text: "<html/>", err: `the file is html, expected TMX or XLIFF`},
		{name: "empty", text: "", err: "the file is empty"},
		{name: "deep", text: strings.Repeat("<tmx>", 300), err: "the file has more than 256 elements in each other"},
		{name: "many", text: tmx("en", tu(strings.Split(strings.Repeat("en,x,", 300)+"en,x", ",")...)), err: "unit 1: it has more than 200 variants"},
		{name: "many in XLIFF", text: xliff(`<trans-unit>` + strings.Repeat(`<target/>`, 201) + `</trans-unit>`), err: "unit 1: it has more than 200 variants"},
		{name: "nested", text: tmx("en", `<tu><tuv xml:lang="en"><tu/><seg>a</seg></tuv></tu>`), want: "skip unit 2: it has no text in \"en\", the source language\nskip unit 2: it has no text in \"en\", the source language\n"},
		{name: "long", text: tmx("en", tu("en", strings.Repeat("x", 100_000), "fr", "z")), want: "skip unit 1: a text has more than 16384 bytes\n"},
		{name: "xliff", text: xliff(`<trans-unit><source>a <g id="1">b</g><x id="2"/></source><target state="translated">c <g id="1">d</g></target><alt-trans><source>a</source><target>wrong</target></alt-trans></trans-unit>` +
			`<trans-unit><source>e</source></trans-unit><trans-unit><source>f</source><target state="needs-translation">f</target></trans-unit><trans-unit><source>h</source><target state="needs-review-translation">h</target></trans-unit><trans-unit><source>g</source><target> </target></trans-unit>`),
			want: "en>fr a <g id=\"1\">b</g><x id=\"2\"/>|c <g id=\"1\">d</g>\nskip unit 2: it has no translation\nskip unit 3: its state is needs-translation\nskip unit 4: its state is needs-review-translation\nskip unit 5: it has no translation\n"},
		{name: "parts", text: xliff(`<trans-unit><source>A. B.</source><seg-source><mrk mtype="seg" mid="1">A.</mrk> <mrk mtype="seg" mid="2">B.</mrk></seg-source><target><mrk mtype="seg" mid="2">D.</mrk> <mrk mtype="seg" mid="1">C.</mrk></target></trans-unit>`),
			want: "en>fr A.|C.\nen>fr B.|D.\n"},
		{name: "empty part", text: xliff(`<trans-unit><source>A.</source><seg-source><mrk mtype="seg" mid="1"/><mrk mtype="seg" mid="2">A.</mrk></seg-source><target><mrk mtype="seg" mid="1">C.</mrk> <mrk mtype="seg" mid="2">D.</mrk></target></trans-unit>`),
			want: "en>fr |C.\nen>fr A.|D.\n"},
		{name: "long part", text: xliff(`<trans-unit><source>A.</source><seg-source>` + strings.Repeat("x", 60_000) + `<mrk mtype="seg" mid="1">one <ph id="1">` + strings.Repeat("x", 6000) + `</ph></mrk></seg-source><target><mrk mtype="seg" mid="1">C.</mrk></target></trans-unit>`),
			want: "skip unit 1: a text has more than 16384 bytes\n"},
		{name: "many parts", text: xliff(`<trans-unit><seg-source>` + strings.Repeat(`<mrk mtype="seg"/>`, 401) + `</seg-source></trans-unit>`), err: "unit 1: it has more than 400 marked segments"},
		{name: "xliff 2", text: `<xliff version="2.0" srcLang="en" trgLang="de"><file><unit><segment state="final"><source>a <pc id="1">b</pc></source><target>c</target></segment><ignorable><source> </source><target> </target></ignorable></unit></file></xliff>`,
			want: "en>de a <pc id=\"1\">b</pc>|c\n"},
		{name: "xliff without target", text: `<xliff version="1.2"><file source-language="en"><body><trans-unit><source>a</source><target>b</target></trans-unit></body></file></xliff>`, reading: memory.Reading{Pair: memory.Pair{To: "ja"}}, want: "en>ja a|b\n"},
		{name: "tsv", reading: memory.Reading{TSV: true, Pair: memory.Pair{From: "en", To: "fr"}}, text: "\uFEFFa\tb\r\n\n c \td", want: "en>fr a|b\nen>fr  c |d\n"},
		{name: "tsv", reading: memory.Reading{TSV: true}, text: "a\tb\nc", err: "line 2: a line has a source, a tab and a target"},
		{name: "tsv", reading: memory.Reading{TSV: true}, text: "a\tb\tc", err: "line 1: a line has a source, a tab and a target"},
		{name: "tsv", reading: memory.Reading{TSV: true}, text: "a\tb\n" + strings.Repeat("x", 40_000), err: "line 2: it has more than 32768 bytes"},
	} {
		got, err := entriesOf(test.reading, test.text)
		if test.err != "" {
			assert.EqualError(t, err, test.err, test.name)
			continue
		}
		assert.NoError(t, err, test.name)
		assert.Equal(t, test.want, got, test.name)
	}
}

// A written TMX is read as the same entries.
func TestWriteTMX(t *testing.T) {
	var out bytes.Buffer
	w := memory.NewTMX(&out, `1"<`)
	require.NoError(t, w.Add(memory.Entry{Pair: memory.Pair{From: "en", To: "fr"}, Source: "a <b>&amp;</b> ]]>\n\"x\"", Target: "日本 {x}"}))
	require.NoError(t, w.Add(memory.Entry{Pair: memory.Pair{From: "ja", To: "en"}, Source: "い", Target: "i"}))
	require.NoError(t, w.Close())
	got, err := entriesOf(memory.Reading{}, out.String())
	require.NoError(t, err)
	assert.Equal(t, "en>fr a <b>&amp;</b> ]]>\n\"x\"|日本 {x}\nja>en い|i\n", got)
}

func FuzzRead(f *testing.F) {
	f.Add(`<tmx><header srclang="en"/><tu><tuv xml:lang="en"><seg>a<ph/></seg></tuv><tuv xml:lang="fr"><seg>b</seg></tuv></tu></tmx>`, false)
	f.Add(`<xliff srcLang="en" trgLang="fr"><segment><seg-source><mrk mtype="seg"><mrk>a</mrk></mrk></seg-source><target>b</target></segment></xliff>`, false)
	f.Add(`<tmx><tuv><tu/><seg>a</seg></tuv></tmx>`, false)
	f.Add("a\tb", true)
	f.Fuzz(func(t *testing.T, text string, tsv bool) {
		_, _ = entriesOf(memory.Reading{TSV: tsv}, text)
	})
}
