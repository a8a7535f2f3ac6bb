package textfile

import (
	"bytes"
	encodingcsv "encoding/csv"
	"encoding/xml"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmtext "github.com/yuin/goldmark/text"

	"dragoman/app/document"
)

// awkward are translations with a meaning in some format, each on one line.
var awkward = []string{
	"no", "on", "Yes", "Y", "1_000", "12:30", "0x1F", "1e3", ".inf", "~", "null", "2001-01-01", "@home", "%home", "{home}", "[home]", "- home", "? home", ": home",
	"home: sweet", "home #1", "&home", "*home*", "!home", "|", "> home", "`home`", "'", `"`, "l'été", `\`, `a\b`, `c:\new`, `\u0041`, "=home()", "+1 home", "-home",
	"; home", "a,b", "a\tb", "1. home", "1) home", "+ home", "# home", "#home", "===", "---", "***", "~~~", "```", "<div>", "    home", "[x]: y", "--> home", "a --> b",
	".home", "NOTE home", "STYLE", "WEBVTT", "//home", "/* home */", `"; "x" = "y`, "$home", "a=b", "!", "<!-- home -->", "&amp;", "]]>", "a  b", "-- home", "...", "--- home", "<home", "_home_",
}

// Readers of each format read the very translation, whatever it is.
func TestAwkwardTranslations(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		read       func(t *testing.T, text string) []string
	}{
		{"csv", "Text,Open house\nOpen house,\"Open house\"\n", func(t *testing.T, text string) (list []string) {
			rows, err := encodingcsv.NewReader(strings.NewReader(text)).ReadAll()
			require.NoError(t, err)
			require.NotRegexp(t, `^[=@]|^[+-]\D`, rows[0][1])
			return append(list, strings.TrimSpace(rows[0][1]), strings.TrimSpace(rows[1][0]), strings.TrimSpace(rows[1][1]))
		}},
		{"json", `{"a":"Open house","b":["Open house"]}`, func(t *testing.T, text string) []string {
			var v struct {
				A string   `json:"a"`
				B []string `json:"b"`
			}
			require.NoError(t, json.Unmarshal([]byte(text), &v), text)
			return append(v.B, v.A)
		}},
		{"resx", `<root><data name="a"><value>Open house</value></data></root>`, func(t *testing.T, text string) []string {
			var v struct {
				Data struct{ Value string } `xml:"data"`
			}
			require.NoError(t, xml.Unmarshal([]byte(strings.ReplaceAll(text, "value", "Value")), &v), text)
			return []string{v.Data.Value}
		}},
		{"markdown", "Open house\n\n- Open house\n\n> Open house\n", func(t *testing.T, text string) (list []string) {
			doc := goldmark.DefaultParser().Parse(gmtext.NewReader([]byte(text)))
			require.Equal(t, 3, doc.ChildCount(), text)
			require.Equal(t, []ast.NodeKind{ast.KindParagraph, ast.KindList, ast.KindBlockquote}, []ast.NodeKind{doc.FirstChild().Kind(), doc.FirstChild().NextSibling().Kind(), doc.LastChild().Kind()}, text)
			require.Equal(t, 1, doc.LastChild().ChildCount())
			require.Equal(t, 1, doc.FirstChild().NextSibling().FirstChild().ChildCount(), text)
			var page bytes.Buffer
			require.NoError(t, goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &page))
			for _, m := range regexp.MustCompile(`(?s)<(?:p|li)>([^\n].*?)</(?:p|li)>`).FindAllStringSubmatch(page.String(), -1) {
				list = append(list, strings.Join(strings.Fields(html.UnescapeString(m[1])), " "))
			}
			require.Len(t, list, 3)
			return list
		}},
		{"vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nOpen house\n\n00:03.000 --> 00:04.000\nOpen house\n", func(t *testing.T, text string) []string {
			require.Len(t, strings.Split(strings.TrimSpace(text), "\n\n"), 3, text)
			require.Equal(t, 2, strings.Count(text, "-->"), text)
			return nil
		}},
		{"srt", "1\n00:00:01,000 --> 00:00:02,000\nOpen house\n\n2\n00:00:03,000 --> 00:00:04,000\nOpen house\n", func(t *testing.T, text string) []string {
			require.Len(t, strings.Split(strings.TrimSpace(text), "\n\n"), 2, text)
			require.Equal(t, 2, strings.Count(text, "-->"), text)
			return nil
		}},
	} {
		for _, translation := range awkward {
			got, err := rewritten(t, kindNamed(t, c.kind), c.text, document.Options{}, func(string) string { return translation })
			require.NoError(t, err)
			for _, text := range c.read(t, got) {
				want := strings.TrimSpace(translation)
				if c.kind == "markdown" {
					want = strings.Join(strings.Fields(want), " ")
				}
				assert.Equal(t, want, text, "%s: %q", c.kind, got)
			}
		}
	}
}

// PHP reads the translations of its arrays.
func TestPHPReadsAwkwardTranslations(t *testing.T) {
	files := []string{}
	for _, translation := range awkward {
		got, err := rewritten(t, kindNamed(t, "php"), "<?php return ['Open house', \"Open house\", ['Open house']];", document.Options{}, func(string) string { return translation })
		require.NoError(t, err)
		files = append(files, got)
	}
	all, err := json.Marshal(map[string][]string{"files": files, "want": awkward})
	require.NoError(t, err)
	const check = `$v = json_decode(file_get_contents('a.json'), true); foreach ($v['files'] as $i => $file) { $got = eval('?>' . $file); ` +
		`foreach ([$got[0], $got[1], $got[2][0]] as $text) if ($text !== trim($v['want'][$i])) echo $v['want'][$i], ' ', $text, "\n"; }`
	assert.Empty(t, owner(t, "a.json", string(all), "php", "-r", check))
}

// PyYAML reads the translations of YAML, Java those of .properties.
func TestOwnersReadAwkwardTranslations(t *testing.T) {
	const yamlText = "a: Open house\nb: 'Open house'\nc: \"Open house\"\nd: [Open house, Open house]\ne: {x: Open house}\nf: |\n  Open house\ng: >-\n  Open house\nh:\n- Open house\n"
	list := []string{}
	for _, translation := range awkward {
		got, err := rewritten(t, kindNamed(t, "yaml"), yamlText, document.Options{}, func(string) string { return translation })
		require.NoError(t, err)
		list = append(list, got)
	}
	all, err := json.Marshal(map[string][]string{"docs": list, "want": awkward})
	require.NoError(t, err)
	const check = "import json,yaml\n" +
		"v=json.load(open('a.json'))\n" +
		"for d,w in zip(v['docs'],v['want']):\n" +
		" w=w.strip(); y=yaml.safe_load(d)\n" +
		" for g in (y['a'],y['b'],y['c'],*y['d'],y['e']['x'],y['f'].rstrip('\\n'),y['g'],*y['h']):\n" +
		"  if g!=w and ' '.join(w.split())!=g: print(repr(w),repr(g),d)\n"
	assert.Empty(t, owner(t, "a.json", string(all), "python3", "-c", check))
	body := ""
	for i, translation := range awkward {
		got, err := rewritten(t, kindNamed(t, "properties"), "x=Open house\ny=Open {0} house\n", document.Options{}, func(text string) string {
			if strings.Contains(text, "{0}") && !strings.ContainsAny(translation, "{}") {
				return translation + " {0}"
			}
			return translation
		})
		require.NoError(t, err)
		body += fmt.Sprintf("check(%s, %s, %d);\n", javaQuoted(got), javaQuoted(strings.TrimSpace(translation)), i)
	}
	const head = "import java.util.*; import java.text.*; import java.io.*; class A { static void check(String d, String w, int i) throws Exception { Properties p = new Properties(); p.load(new StringReader(d)); String x = p.getProperty(\"x\"), y = p.getProperty(\"y\");" +
		" if (!x.equals(w)) System.out.println(w + \" x \" + x); if (w.indexOf('{') < 0 && w.indexOf('}') < 0) { String z = new MessageFormat(y).format(new Object[]{\"N\"}); if (!z.equals(w + \" N\")) System.out.println(w + \" y \" + z); } }\n public static void main(String[] a) throws Exception {\n"
	assert.Empty(t, owner(t, "A.java", head+body+"}}", "java", "A.java"))
}

// javaQuoted returns a text as a literal of Java.
func javaQuoted(text string) string {
	return escapeRunes(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`)
}
