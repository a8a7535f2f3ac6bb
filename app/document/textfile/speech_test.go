package textfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// Labels are texts by themselves, and a sentence over several cues is one text.
func TestSpeeches(t *testing.T) {
	const one, two, three = "1\n00:00:01,000 --> 00:00:03,000\n", "\n\n2\n00:00:03,100 --> 00:00:05,000\n", "\n\n3\n00:00:05,000 --> 00:00:06,000\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"sounds and speakers":       {one + "♪ Singing in\nthe rain ♪\n[DOOR CLOSES]\nJOHN: Who is\nthere?\n- [MARY] I am.", []string{"Singing in the rain", "DOOR CLOSES", "JOHN", "Who is there?", "MARY", "I am."}},
		"parentheses":               {one + "(door closes)\nI saw him\n(my brother)\ntoday.\n<i>(he laughs)</i>", []string{"door closes", "I saw him (my brother) today.", "he laughs"}},
		"a sentence":                {one + "{\\an8}<i>I went to the house\nof my friend</i>" + two + "because it was raining" + three + "and I had no umbrella.", []string{"I went to the house of my friend because it was raining and I had no umbrella."}},
		"behind a comma":            {one + "Hello," + two + "John.", []string{"Hello, John."}},
		"sentences":                 {one + "I went." + two + "He came..." + three + "in the end.", []string{"I went.", "He came...", "in the end."}},
		"another speaker":           {one + "I went" + two + "- to you", []string{"I went", "to you"}},
		"tags in a sentence":        {one + "I <b>went</b>" + two + "to you", []string{"I <b>went</b> to you"}},
		"a tag without an end":      {one + "I <b>went" + two + "to you", []string{"I <b>went", "to you"}},
		"sounds before sentences":   {one + "(SIGHS) I know\n(that you do)\n- MARY: (laughing) ...nobody." + two + "(he says)\n\"Yes.\"", []string{"SIGHS", "I know (that you do)", "MARY", "laughing", "...nobody.", "he says", "\"Yes.\""}},
		"speakers":                  {one + "MAN 2 [on radio]: Come in.\n>> REPORTER: Good\nevening.\nJOHN (V.O.):\nWho is it?", []string{"MAN 2 [on radio]", "Come in.", "REPORTER", "Good evening.", "JOHN (V.O.)", "Who is it?"}},
		"songs between signs":       {one + "#  Singing in\nthe rain  #" + two + "# and on #\n#1 of them", []string{"Singing in the rain", "and on", "#1 of them"}},
		"all in capitals":           {one + "I WENT TO" + two + "THE HOUSE. (LAUGHS)" + three + "BUT HE WAS OUT.", []string{"I WENT TO THE HOUSE. (LAUGHS)", "BUT HE WAS OUT."}},
		"a title in capitals":       {one + "I went to the house\n\n2\n00:00:09,000 --> 00:00:10,000\nEPISODE ONE\n\n3\n00:00:10,000 --> 00:00:11,000\nTHE RETURN", []string{"I went to the house", "EPISODE ONE", "THE RETURN"}},
		"cues that are far apart":   {one + "I went\n\n2\n00:00:09,000 --> 00:00:10,000\nto you", []string{"I went", "to you"}},
		"a line with a clock":       {one + "At\n12: no.", []string{"At 12: no."}},
		"Chinese, behind its comma": {one + "今日は、" + two + "元気です" + three + "はい", []string{"今日は、元気です", "はい"}},
	} {
		got, err := segments(t, kindNamed(t, "srt"), c.text, document.Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, got, name)
	}
	got, err := segments(t, kindNamed(t, "sbv"), "0:00:01.000,0:00:03.000\nI went\n\n0:00:03.000,0:00:04.000\nto you\n", document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"I went to you"}, got)
	got, err = segments(t, kindNamed(t, "lrc"), "[ti:Title]\n[00:12.00][01:15.30]Line one\n[00:17.20]\n", document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Line one"}, got)
}

// A sentence is divided by the times of its cues, rather behind a comma, and a line has at most 42 letters or 16 ideographs.
func TestDividedSpeeches(t *testing.T) {
	const doc = "1\n00:00:00,000 --> 00:00:0%,000\n<i>a b</i>\n\n2\n00:00:03,000 --> 00:00:06,000\nc d.\n"
	for _, c := range []struct{ ends, to, translation, first, second string }{
		{"3", "de", "eins zwei drei vier", "eins zwei", "drei vier"},
		{"1", "de", "eins zwei drei vier", "eins", "zwei drei vier"},
		{"3", "de", "Ich ging, weil es sehr stark regnete", "Ich ging,", "weil es sehr stark regnete"},
		{"3", "de", "<b>Ich ging,</b> weil es sehr stark regnete", "<b>Ich ging,</b>", "weil es sehr stark regnete"},
		{"3", "de", "eins", "eins", ""},
		{"3", "ja", strings.Repeat("雨", 40), strings.Repeat("雨", 10) + "\n" + strings.Repeat("雨", 10), strings.Repeat("雨", 10) + "\n" + strings.Repeat("雨", 10)},
		{"3", "de", strings.Repeat("abcd ", 20), "abcd abcd abcd abcd abcd\nabcd abcd abcd abcd abcd", "abcd abcd abcd abcd abcd\nabcd abcd abcd abcd abcd"},
	} {
		text := strings.Replace(doc, "%", c.ends, 1)
		got, err := rewritten(t, kindNamed(t, "srt"), text, document.Options{To: c.to}, func(string) string { return c.translation })
		require.NoError(t, err)
		assert.Equal(t, strings.NewReplacer("a b", c.first, "c d.", c.second).Replace(text), got, c.translation)
	}
}

// A style that covers the place of a division ends in one cue, and starts again in the next one. Each speaker has sentences.
func TestDividedStyles(t *testing.T) {
	const doc = "WEBVTT\n\n00:00.000 --> 00:03.000\n<v Mary>a <c.loud>b</c>\n\n00:03.000 --> 00:06.000\n<v Mary>c d\n\n00:06.000 --> 00:07.000\n<v John>e f\n"
	list, err := segments(t, kindNamed(t, "vtt"), doc, document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"a <c.loud>b</c> c d", "<v John>e f"}, list)
	got, err := rewritten(t, kindNamed(t, "vtt"), doc, document.Options{To: "de"}, func(text string) string {
		return strings.ReplaceAll(text, "a <c.loud>b</c> c d", "eins <c.loud>zwei drei</c> vier")
	})
	require.NoError(t, err)
	assert.Equal(t, strings.NewReplacer("a <c.loud>b</c>", "eins <c.loud>zwei</c>", "c d", "<c.loud>drei</c> vier").Replace(doc), got)
}

// Signs of a translation that are no tags are not closed.
func TestDividedSigns(t *testing.T) {
	for kind, doc := range map[string]string{
		"srt":  "1\n00:00:01,000 --> 00:00:03,000\n%s\n\n2\n00:00:03,000 --> 00:00:05,000\n%s\n",
		"ttml": `<tt xml:lang="de"><p begin="1s" end="3s">%s</p><p begin="3s" end="5s">%s</p></tt>`,
	} {
		got, err := rewritten(t, kindNamed(t, kind), fmt.Sprintf(doc, "I went", "to you"), document.Options{To: "de"}, func(string) string { return "ich {x} ging, zu </i> dir" })
		require.NoError(t, err)
		second := "zu </i> dir"
		if kind == "ttml" {
			second = "zu &lt;/i&gt; dir"
		}
		assert.Equal(t, fmt.Sprintf(doc, "ich {x} ging,", second), got)
	}
}

// Line ends of TTML are breaks where xml:space preserves them. Captions in another language stay.
func TestSpacesAndLanguagesOfTTML(t *testing.T) {
	const text = "<tt xml:lang=\"en\" xml:space=\"preserve\"><div xml:lang=\"fr\"><p>un</p></div><p xml:lang=\"en-US\">\n  - one\n  - two\n</p><p xml:space=\"default\">three\nfour</p></tt>"
	got, err := rewritten(t, kindNamed(t, "ttml"), text, document.Options{From: "en", To: "de"}, strings.ToUpper)
	require.NoError(t, err)
	assert.Equal(t, "<tt xml:lang=\"de\" xml:space=\"preserve\"><div xml:lang=\"fr\"><p>un</p></div><p xml:lang=\"de\">\n  - ONE\n  - TWO\n</p><p xml:space=\"default\">THREE FOUR</p></tt>", got)
}

// A sentence over several captions of TTML is one text, divided by their times, in one region and language.
func TestSentencesOverCaptions(t *testing.T) {
	doc := func(rates, one, two, first, second string) string {
		return `<tt:tt xml:lang="de"` + rates + `><tt:p ` + one + `><tt:span tts:color="red">` + first + "</tt:span></tt:p>\n<tt:p " + two + ">\n  " + second + "\n</tt:p></tt:tt>"
	}
	const first, second, whole = "I went to &lt;the", "house &amp; the<tt:br/>garden.", "I went to &lt;the house &amp; the garden."
	for name, c := range map[string]struct {
		rates, one, two string
		joined          bool
	}{
		"clock times":       {"", `begin="00:00:01.000" end="00:00:03.000"`, `begin="00:00:03.100" end="00:00:05.100"`, true},
		"frames":            {` ttp:frameRate="25"`, `begin="01:00:01:00" end="01:00:03:00"`, `begin="01:00:03:20" end="01:00:05:20"`, true},
		"ticks":             {` ttp:tickRate="10000000"`, `begin="10000000t" end="30000000t"`, `begin="30000000t" end="50000000t"`, true},
		"ticks of frames":   {` ttp:frameRate="10"`, `begin="10t" end="30t"`, `begin="30t" end="50t"`, true},
		"durations":         {"", `begin="1s" dur="2s"`, `begin="3000ms" dur="2000ms"`, true},
		"units":             {"", `begin="0.5h" end="30.5m"`, `begin="54960f" end="0.5125h"`, true},
		"one region":        {"", `region="a" begin="1s" end="3s"`, `begin="3s" end="5s" region="a"`, true},
		"two regions":       {"", `region="a" begin="1s" end="3s"`, `begin="3s" end="5s" region="b"`, false},
		"two speakers":      {"", `ttm:agent="a" begin="1s" end="3s"`, `begin="3s" end="5s" ttm:agent="b"`, false},
		"far apart":         {"", `begin="1s" end="3s"`, `begin="9s" end="11s"`, false},
		"no times":          {"", "", "", false},
		"no times once":     {"", `begin="1s" end="3s"`, `begin="3s"`, false},
		"no rate":           {` ttp:frameRate="0"`, `begin="1s" end="3s"`, `begin="3s" end="5s"`, false},
		"times of no clock": {"", `begin="wallclock(2020)" end="3s"`, `begin="99999999999999999999s" end="5s"`, false},
	} {
		text := doc(c.rates, c.one, c.two, first, second)
		list, err := segments(t, kindNamed(t, "ttml"), text, document.Options{})
		require.NoError(t, err)
		if !c.joined {
			assert.Equal(t, []string{first, strings.Replace(second, "<tt:br/>", " ", 1)}, list, name)
			continue
		}
		assert.Equal(t, []string{whole}, list, name)
		got, err := rewritten(t, kindNamed(t, "ttml"), text, document.Options{To: "de"}, func(string) string { return "one &lt;b&gt; &amp; two, three four five six" })
		require.NoError(t, err)
		assert.Equal(t, doc(c.rates, c.one, c.two, "one &lt;b&gt; &amp; two,", "three four<tt:br/>five six"), got, name)
	}
	times := func(n int) string { return fmt.Sprintf(`<p begin="%ds" end="%ds"`, n, n+1) }
	text := "<tt>" + times(1) + ">I went</p>" + times(2) + ` xml:lang="fr">un</p>` + times(3) + ` xml:lang="en">to the house</p>` + times(4) + `>of <span b="c">my</span></p>` +
		times(5) + ">friend.<br/>- And you</p>" + times(6) + ">and</p></tt>"
	list, err := segments(t, kindNamed(t, "ttml"), text, document.Options{From: "en"})
	require.NoError(t, err)
	assert.Equal(t, []string{"I went", "to the house of <span b=\"c\">my</span> friend.", "And you and"}, list)
	got, err := rewritten(t, kindNamed(t, "ttml"), text, document.Options{From: "en", To: "de"}, func(text string) string {
		return strings.ReplaceAll(text, "to the house of <span b=\"c\">my</span> friend.", "eins <span b=\"c\">zwei drei</span> vier.")
	})
	require.NoError(t, err)
	assert.Contains(t, got, `><span b="c">zwei drei</span></p>`)
	assert.Contains(t, got, times(3)+` xml:lang="de"`)
	long := strings.TrimSpace(strings.Repeat("abcd ", 12))
	got, err = rewritten(t, kindNamed(t, "ttml"), "<tt><p>the house</p></tt>", document.Options{To: "de"}, func(string) string { return long })
	require.NoError(t, err)
	assert.Equal(t, "<tt xml:lang=\"de\"><p>"+long[:29]+"<br/>"+long[30:]+"</p></tt>", got)
}

// A sentence over several events of SubStation Alpha is one text, in one style; pysubs2 1.8.1 reads the result.
func TestSentencesOverEvents(t *testing.T) {
	event := func(times, style, text string) string {
		return "Dialogue: 0," + times + "," + style + ",,0,0,0,," + text + "\n"
	}
	doc := func(a, b, c string) string {
		return "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n" +
			event("0:00:01.00,0:00:02.50", "A", "{\\i1}"+a+"{\\i0}") + "Comment: 0,x\n" + event("0:00:02.50,0:00:04.00", "A", b) +
			event("0:00:04.00,0:00:05.00", "B", "and of me") + event("0:00:05.00,0:00:06.00", "B", "{\\p1}m 0 0 l 1 1{\\p0}") + event("0:00:06.00,0:00:07.00", "B", c)
	}
	text := doc("the house & the\\hgarden", "of {\\an8}my friend", "of\\Nyou {\\b1}and{\\b0} me")
	list, err := segments(t, kindNamed(t, "ass"), text, document.Options{})
	require.NoError(t, err)
	assert.Equal(t, "the house &amp; the\u00a0garden", list[0])
	list, err = segments(t, kindNamed(t, "ass"), doc("the house & the\\hgarden", "{\\an8}of my\\Nfriend", "of you"), document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"the house &amp; the\u00a0garden of my friend", "and of me", "of you"}, list)
	got, err := rewritten(t, kindNamed(t, "ass"), doc("the house", "{\\an8}of my\\Nfriend", "x"), document.Options{To: "de"}, func(text string) string {
		return strings.ReplaceAll(text, "the house of my friend", "one two three four five six seven &lt;{eight")
	})
	require.NoError(t, err)
	assert.Equal(t, doc("one two three four", "{\\an8}five six\\Nseven <｛eight", "x"), got)
	long := strings.Repeat("abcd ", 12)
	got, err = rewritten(t, kindNamed(t, "ass"), doc("the house", "of it", "x"), document.Options{To: "de"}, func(text string) string {
		return strings.ReplaceAll(text, "the house of it", long+long)
	})
	require.NoError(t, err)
	half := strings.TrimSpace(long[:30])
	assert.Equal(t, doc(half+"\\N"+half, half+"\\N"+half, "x"), got)
}
