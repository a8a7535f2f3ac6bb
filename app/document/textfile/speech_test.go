package textfile

import (
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

// Line ends of TTML are breaks where xml:space preserves them. Captions in another language stay.
func TestSpacesAndLanguagesOfTTML(t *testing.T) {
	const text = "<tt xml:lang=\"en\" xml:space=\"preserve\"><div xml:lang=\"fr\"><p>un</p></div><p xml:lang=\"en-US\">\n  - one\n  - two\n</p><p xml:space=\"default\">three\nfour</p></tt>"
	got, err := rewritten(t, kindNamed(t, "ttml"), text, document.Options{From: "en", To: "de"}, strings.ToUpper)
	require.NoError(t, err)
	assert.Equal(t, "<tt xml:lang=\"de\" xml:space=\"preserve\"><div xml:lang=\"fr\"><p>un</p></div><p xml:lang=\"de\">\n  - ONE\n  - TWO\n</p><p xml:space=\"default\">THREE FOUR</p></tt>", got)
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
