package textfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// german translates the texts of the tests below; others become upper case.
func german(text string) string {
	return strings.NewReplacer("[The garden][The garden]", "[Der Garten][The garden]", "Good morning", "Guten Morgen", "The garden", "Der Garten", "My house", "Mein Haus",
		"Good evening", "Grüß Gott", "1. Start", "1. Anfang").Replace(text)
}

// Links to headings lead to the ids of their translations, by the rule that the links follow. Ids that the text gives stay, as
// does code. A shortcut reference keeps its label.
func TestAnchors(t *testing.T) {
	for name, c := range map[string][2]string{
		"a heading behind its link": {"[x](#good-morning)\n\n## Good morning\n", "[x](#guten-morgen)\n\n## Guten Morgen\n"},
		"the same heading twice":    {"[x](#good-morning-1) [y](#good-morning)\n\n## Good morning\n\n## Good morning\n", "[x](#guten-morgen-1) [y](#guten-morgen)\n\n## Guten Morgen\n\n## Guten Morgen\n"},
		"a definition":              {"[x]\n\n# The garden\n\n[x]: #the-garden\n", "[x]\n\n# Der Garten\n\n[x]: #der-garten\n"},
		"a shortcut":                {"See [The garden] and [The garden][].\n\n# The garden\n\n[the garden]: #the-garden\n", "See [Der Garten][The garden] and [Der Garten][The garden].\n\n# Der Garten\n\n[the garden]: #der-garten\n"},
		"not a label":               {"See [Good morning] and `[the garden]` \\[the garden].\n\n[the garden]: x\n", "See [Guten Morgen] and `[the garden]` \\[the garden].\n\n[the garden]: x\n"},
		"letters of GitHub":         {"[x](#good-evening)\n\n# *Good evening*, `x`!\n\n# Good evening\n", "[x](#grüß-gott)\n\n# *Grüß Gott*, `x`!\n\n# Grüß Gott\n"},
		"ids of pandoc":             {"[x](#start)\n\n# 1. Start\n", "[x](#anfang)\n\n# 1. Anfang\n"},
		"ids of GitHub":             {"[x](#1-start)\n\n# 1. Start\n", "[x](#1-anfang)\n\n# 1. Anfang\n"},
		"ids of GitLab":             {"[x](#my-house-now)\n\n# My house & now\n", "[x](#mein-haus-now)\n\n# Mein Haus & now\n"},
		"ids of Python-Markdown":    {"[x](#good-evening_1) [y](#deja-good-evening)\n\n# Déjà Good evening\n\n# Good evening\n\n# Good evening\n", "[x](#gru-gott_1) [y](#deja-gru-gott)\n\n# Déjà Grüß Gott\n\n# Grüß Gott\n\n# Grüß Gott\n"},
		"a heading in code":         {"[x](#a-x-b) [y](#good-evening)\n\n## `` a `x` b ``\n\n## Good evening\n", "[x](#a-x-b) [y](#grüß-gott)\n\n## `` a `x` b ``\n\n## Grüß Gott\n"},
		"the rule of most links":    {"[x](#start) [y](#1-start) [z](#my-house--now)\n\n# 1. Start\n\n# My house & now\n", "[x](#start) [y](#1-anfang) [z](#mein-haus--now)\n\n# 1. Anfang\n\n# Mein Haus & now\n"},
		"an id of MDX":              {"[x](#my-house)\n\n# My house {/* #my-house */}\n", "[x](#my-house)\n\n# Mein Haus {/* #my-house */}\n"},
		"an id that is given":       {"[x](#good-morning) [y](#z)\n\n# Good morning {#good-morning}\n\n# My house {#z}\n", "[x](#good-morning) [y](#z)\n\n# Guten Morgen {#good-morning}\n\n# Mein Haus {#z}\n"},
		"an id of kramdown":         {"[x](#good-morning) [y](#my-house)\n\n# Good morning\n{: #good-morning}\n\n# My house { #my-house .a }\n", "[x](#good-morning) [y](#my-house)\n\n# Guten Morgen\n{: #good-morning}\n\n# Mein Haus { #my-house .a }\n"},
		"an id of HTML":             {"<a name=\"good-morning\"></a>[x](#good-morning)\n\n# Good morning\n", "<a name=\"good-morning\"></a>[x](#good-morning)\n\n# Guten Morgen\n"},
		"code":                      {"`[x](#good-morning)`\n\n```\n[x](#good-morning)\n```\n\n[x](#good-morning)\n# Good morning\n", "`[x](#good-morning)`\n\n```\n[x](#good-morning)\n```\n\n[x](#guten-morgen)\n# Guten Morgen\n"},
		"HTML":                      {"<a href=\"#my-house\">x</a>\n\n# My house\n", "<a href=\"#mein-haus\">x</a>\n\n# Mein Haus\n"},
	} {
		got, err := rewritten(t, kindNamed(t, "markdown"), c[0], document.Options{}, german)
		require.NoError(t, err, name)
		assert.Equal(t, c[1], got, name)
	}
}

// Python-Markdown (golden by 3.11.3) numbers headings without a letter of ASCII.
func TestAnchorsWithoutLetters(t *testing.T) {
	got, err := rewritten(t, kindNamed(t, "markdown"), "[x](#my-house) [y](#ete)\n\n# My house\n\n# Été\n", document.Options{}, func(text string) string {
		return strings.NewReplacer("My house", "家", "Été", "夏").Replace(text)
	})
	require.NoError(t, err)
	assert.Equal(t, "[x](#_1) [y](#_2)\n\n# 家\n\n# 夏\n", got)
}

// Tags, expressions, imports and exports of MDX stay, also over several lines; texts between them are translated.
func TestMDX(t *testing.T) {
	const text = mdxText
	got, err := segments(t, kindNamed(t, "mdx"), text, document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"One {#one}", "Two", "Three", "Four <b>five</b> {name}.", "<Tip>Six</Tip>", "<X/> Seven", "Eight"}, got)
	out, err := rewritten(t, kindNamed(t, "mdx"), text, document.Options{}, func(text string) string { return strings.ReplaceAll(text, "Two", "Zwei") })
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(text, "Two", "Zwei"), out)
}

const mdxText = `---
title: x
---
import Tabs from "a"
export const x = {
  a: "it's",

  b: 1, // isn't
}

# One {#one}

<Note type="info">
  Two
</Note>

<Card
  title="x y"
  onClick={() => { x > 1 }}
>
  Three

</Card>
{/* it's a comment */}
{list.map((i) => (
  <li>{i}</li>
))}

Four <b>five</b> {name}.

<Tip>Six</Tip>
- <X/> Seven
` + "```js\nimport x from 'y'\n```\n\n{if\n\nEight\n"

// Links to headings of other files are told, for their ids may change.
func TestLinksToOtherFiles(t *testing.T) {
	const text = "[a](b.md#c) [d](https://e.f/g#h) [i](j.md) ![k](l.svg) `[m](n.md#o)`\n\n[p]: q/r#s\n"
	told := []string{}
	_, err := rewritten(t, kindNamed(t, "markdown"), text, document.Options{Left: func(page, n int, reason string) { told = document.AddLeft(told, page, n, reason) }}, strings.ToUpper)
	require.NoError(t, err)
	assert.Equal(t, []string{"2 links to headings of other files, whose ids change with their translation: give those ids, {#id}"}, told)
}
