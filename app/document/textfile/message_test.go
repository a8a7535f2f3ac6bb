package textfile

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// A formatter shows a translation as it is, whatever its apostrophes and percent signs.
func TestFormatters(t *testing.T) {
	for _, c := range []struct{ kind, text, seen, translation, want string }{
		{"json", `{"a":"I don''t like water, {name}."}`, "I don't like water, {name}.", "Je n'aime pas l'{name}", `{"a":"Je n''aime pas l''{name}"}`},
		{"json", `{"a":"{n, plural, other {I don''t like # apples.}}"}`, "{n, plural, other {I don't like # apples.}}", "{n, plural, other {Je n'aime pas l'# d'été.}}", `{"a":"{n, plural, other {Je n''aime pas l''# d''été.}}"}`},
		{"json", `{"a":"{n, plural, other {I like '{'#'}'}}"}`, "{n, plural, other {I like '{'#'}'}}", "{n, plural, other {J'aime '{'l'#'}'}}", `{"a":"{n, plural, other {J'aime '{'l''#'}'}}"}`},
		{"json", `{"@a":{},"a":"the {name} {n, plural, other {x}}"}`, "the {name} {n, plural, other {x}}", "l'{name} {n, plural, other {x}}", `{"@a":{},"a":"l'{name} {n, plural, other {x}}"}`},
		{"json", `{"a":"the {name}"}`, "the {name}", "l'{name}", `{"a":"l'{name}"}`},
		{"json", `{"a":"the %d%% of %s"}`, "the %d%% of %s", "50 %d'achat: %d %% de %s, 5 %", `{"a":"50 %d'achat: %d %% de %s, 5 %%"}`},
		{"json", `{"a":"\"%old%\" of %d"}`, `"%old%" of %d`, `"%old%" von %d`, `{"a":"\"%old%\" von %d"}`},
		{"json", `{"a":"on %d %B"}`, "on %d %B", "le %d %B", `{"a":"le %d %B"}`},
		{"json", `{"a":"50% off"}`, "50% off", "50 %d'achat", `{"a":"50 %d'achat"}`},
		{"strings", `"a" = "%@ is 5%% off";`, "%@ is 5%% off", "5 %d'achat %@", `"a" = "5 %%d'achat %@";`},
		{"android", `<resources><string name="a">%1$s is off</string></resources>`, "%1$s is off", "l'%1$s à 5 %d", `<resources><string name="a">l\'%1$s à 5 %%d</string></resources>`},
		{"properties", "a=I like {0}", "I like {0}", "J'aime {0}", "a=J''aime {0}"},
		{"properties", "a=Use '{'name'}' here", "Use '{'name'}' here", "L'usage d'un '{'name'}'", "a=L''usage d''un '{'name'}'"},
		{"properties", "a=It's {0} here", "It's {0} here", "C'est {0}", "a=C'est {0}"},
		{"properties", "a=It''s here", "It's here", "C'est ici", "a=C''est ici"},
		{"properties", "a={1,choice,0#the cat''s|1<the {1} cats''''} {0}", "{1,choice,0#the cat's|1<the {1} cats'} {0}", "{1,choice,0#l'ami|1<l'{1} amis} d'{0}", "a={1,choice,0#l''ami|1<l''''{1} amis} d''{0}"},
		{"properties", "a={0} has {1,choice,0#mails|1#mail}", "", "l'{0} a {1,choice,0#lettres|1#lettre}", "a=l''{0} a {1,choice,0#lettres|1#lettre}"},
		{"properties", "a=I like {0}", "I like {0}", "} {l'ami {0}' {x}", "a='}' '{'l''ami {0}'' '{'x'}'"},
		{"properties", "a=It is here", "It is here", "{l'ami", "a={l'ami"},
		{"properties", "a={0} is '{'here'}'", "{0} is '{'here'}'", "} {0} '{'ici'}'", "a='}' {0} '{'ici'}'"},
		{"json", `{"x":"{n, plural, other {x}}","a":"the {name}"}`, "", "{'{name}{", `{"x":"{n, plural, other {x}}","a":"'{'''{name}'{'"}`},
		{"json", `{"x":"{n, plural, other {x}}","a":"the {{name}}"}`, "", "l'{{name}}", `{"x":"{n, plural, other {x}}","a":"l''{{name}}"}`},
		{"yaml", "x: '{n, plural, other {x}}'\na: the {name}\n", "", "l'{name}", "x: '{n, plural, other {x}}'\na: \"l''{name}\"\n"},
		{"properties", "x={n, plural, other {x}}\na=it's the {name}\n", "", "c'est l'{name}", "x={n, plural, other {x}}\na=c'est l''{name}\n"},
		{"po", "msgid \"{n, plural, other {x}}\"\nmsgstr \"x\"\n\nmsgid \"the {name}\"\nmsgstr \"\"\n", "", "l'{name}", "msgid \"{n, plural, other {x}}\"\nmsgstr \"x\"\n\nmsgid \"the {name}\"\nmsgstr \"l''{name}\"\n"},
		{"po", "#, fuzzy, python-brace-format\nmsgid \"a {x} and {{y}} of {z!r:>{w}}\"\nmsgstr \"\"\n", "", "} {{y}} {x} {b} of {z!r:>{w}}", "#, fuzzy, python-brace-format\nmsgid \"a {x} and {{y}} of {z!r:>{w}}\"\nmsgstr \"}} {{y}} {x} {{b}} of {z!r:>{w}}\"\n"},
		{"json", `{"x":"{n, plural, other {x}}","a":"<b>the {name}</b>"}`, "", "l'<b>{name}</b> d'x {", `{"x":"{n, plural, other {x}}","a":"l''<b>{name}</b> d''x '{'"}`},
		{"po", "#, ruby-format\nmsgid \"%<x>s %{y} %-5d 5%% off\"\nmsgstr \"\"\n", "", "5 % %<x>s %{y} %% %-5d", "#, ruby-format\nmsgid \"%<x>s %{y} %-5d 5%% off\"\nmsgstr \"5 %% %<x>s %{y} %% %-5d\"\n"},
		{"json", `{"x":"{$x :y}","a":"the {$x}"}`, "", ".net {$x}", `{"x":"{$x :y}","a":"{{.net {$x}}}"}`},
		{"po", "#, java-format\nmsgid \"I don''t like {0,number}\"\nmsgstr \"\"\n", "I don't like {0,number}", "Je n'aime pas {0,number}", "#, java-format\nmsgid \"I don''t like {0,number}\"\nmsgstr \"Je n''aime pas {0,number}\"\n"},
		{"po", "#, java-format\nmsgid \"I like {0}\"\nmsgstr \"\"\n", "I like {0}", "J'aime {0}", "#, java-format\nmsgid \"I like {0}\"\nmsgstr \"J''aime {0}\"\n"},
		{"json", `{"a":"mail{'@'}x.org or @:b.c and {d}"}`, "", "{d} @home: mail{'@'}x.org | @:b.c {e}", `{"a":"{d} {'@'}home: mail{'@'}x.org {'|'} @:b.c {'{'}e{'}'}"}`},
		{"mdx", "Text {a > b ? 'c' : 'd'} and {e} <X y={{z: 1}}>is</X> \\{here} `{f}`\n", "Text {@1} and {e} <X y={@2}>is</X> \\{here} `{f}`", "{g} <h {@1}, {e} <X y={@2}>is</X> \\{here} `{f}`", "\\{g\\} \\<h {a > b ? 'c' : 'd'}, {e} <X y={{z: 1}}>is</X> \\{here\\} `{f}`\n"},
		{"markdown", "<p>\nA <b>R&amp;D</b>\n</p>\n", "A <b>R&amp;D</b>", "R&D *x* <y R&amp;D & <b>R&amp;D</b>", "<p>\nR&amp;D *x* &lt;y R&amp;D &amp; <b>R&amp;D</b>\n</p>\n"},
		{"markdown", "One `a\\b` \\* *two*\n", "", "`a\\b` \\* *zwei* \\_ <x ~ &lt; [y] \\", "`a\\b` \\* *zwei* \\\\\\_ \\<x \\~ \\&lt; \\[y] \\\\\n"},
		{"mdx", "A ``{ `b` `` c\n", "", "import ``{ `b` `` \\{d}", "&#105;mport ``{ `b` `` \\\\\\{d\\}\n"},
		{"php", "<?php return ['%d of %s'];", "%d of %s", "%d d'un %s à 5 %", "<?php return ['%d d\\'un %s à 5 %%'];"},
		{"php", `<?php return ["C:\bin \d \'q\' caf\xc3\xa9 \303\251\u{e9} \xe9"];`, `C:\bin \d \'q\' café éé é`, `C:\bin $x`, `<?php return ["C:\\bin \$x"];`},
		{"po", "msgid \"caf\\303\\251 \\xC3\\xA9 \\101\"\nmsgstr \"\"\n", "café é A", "x", "msgid \"caf\\303\\251 \\xC3\\xA9 \\101\"\nmsgstr \"x\"\n"},
		{"po", "#, no-c-format\nmsgid \"I like %s\"\nmsgstr \"\"\n", "I like %s", "5 %", "#, no-c-format\nmsgid \"I like %s\"\nmsgstr \"5 %\"\n"},
	} {
		got, err := rewritten(t, kindNamed(t, c.kind), c.text, document.Options{}, func(text string) string {
			if c.seen == "" && (strings.Contains(text, "plural") || text == "{$x :y}") {
				return text
			}
			assert.Equal(t, cmp.Or(c.seen, text), text)
			return c.translation
		})
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
}

// A translation that would break a message of ARB, or one with choices, does not come in.
func TestBracesOfMessages(t *testing.T) {
	for _, c := range [][3]string{
		{"json", `{"@@locale":"en","a":"a house"}`, "a {house"},
		{"json", `{"@@locale":"en","a":"the {name}"}`, "{name} }{"},
		{"json", `{"a":"{n, plural, other {# x}}"}`, "{n, plural, other {# {y}}}"},
		{"yaml", "a: '{n, select, x {a b} other {c d}}'\n", "{n, select, x {a b} other {c d}"},
	} {
		flawed := 0
		got, err := rewritten(t, kindNamed(t, c[0]), c[1], document.Options{Unfit: func() { flawed++ }}, func(string) string { return c[2] })
		require.NoError(t, err)
		assert.Equal(t, c[1], got)
		assert.Equal(t, 1, flawed)
		_, err = rewritten(t, kindNamed(t, c[0]), c[1], document.Options{}, func(string) string { return c[2] })
		require.ErrorIs(t, err, markup.ErrLost)
	}
}

// Patterns of MessageFormat 2 are texts, in which braces and backslashes of translations are escaped; messageformat 4.0 reads the results.
func TestMessageFormat2(t *testing.T) {
	const text = `{"a":".input {$n :number}\n.match $n\none {{a house}}\n* {{ {$n} houses {#b}here{/b} }}","b":"{{the {$x} house}}","c":"the {|a \\| b|} \\{ {$x :f}","d":".local $x = {|of |}\n{{{$x}}}"}`
	got, err := segments(t, kindNamed(t, "json"), text, document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"a house", "{$n} houses {#b}here{/b}", "the {$x} house", `the {|a \| b|} \{ {$x :f}`}, got)
	out, err := rewritten(t, kindNamed(t, "json"), text, document.Options{To: "ru"}, func(text string) string { return `\` + text + "}" })
	require.NoError(t, err)
	assert.Equal(t, `{"a":".input {$n :number}\n.match $n\n1 {{\\\\a house\\}}}\n* {{ \\\\{$n} houses {#b}here{/b}\\} }}","b":"{{\\\\the {$x} house\\}}}","c":"\\\\the {|a \\| b|} \\{ {$x :f}\\}","d":".local $x = {|of |}\n{{{$x}}}"}`, out)
}

// A message over several lines of YAML is one text, and code in a text stays.
func TestLinesOfYAML(t *testing.T) {
	const text = "a: >-\n  {n, plural,\n    one {a house}\n    other {# houses}\n  }\nb: |\n  A house\n\n  ```\n  some code\n  ```\n  some text\nc: d e\n"
	got, err := segments(t, kindNamed(t, "yaml"), text, document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"{n, plural,\n  one {a house}\n  other {# houses}\n}", "A house", "some text", "d e"}, got)
	out, err := rewritten(t, kindNamed(t, "yaml"), text, document.Options{}, func(text string) string { return strings.ReplaceAll(text, "house", "hut") })
	require.NoError(t, err)
	assert.Equal(t, "a: \"{n, plural,\\n  one {a hut}\\n  other {# huts}\\n}\"\nb: |\n  A hut\n\n  ```\n  some code\n  ```\n  some text\nc: d e\n", out)
}
