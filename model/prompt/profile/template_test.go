package profile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	reference "text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"dragoman/model/prompt"
)

// random makes random questions and templates.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 0))} }

func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

func (r random) text() string {
	return r.one("", "a", "en", "zh", "refused", "{{.Text}}", "<b>\n\"é\"", "两", "\x00\xff")
}

func (r random) question() Question {
	texts := func() []string {
		made := make([]string, r.IntN(4))
		for i := range made {
			made[i] = r.text()
		}
		return made
	}
	language := func() Language { return Language{Code: r.text(), Name: r.text(), Names: texts()} }
	q := Question{From: language(), To: language(), Text: r.text(), Guide: prompt.Guide{Before: texts(), Try: r.IntN(3), Fault: prompt.Fault(r.text())}}
	for range r.IntN(3) {
		q.Terms = append(q.Terms, prompt.Term{Source: r.text(), Target: r.text()})
	}
	for range r.IntN(3) {
		q.Examples = append(q.Examples, prompt.Example{Source: r.text(), Target: r.text()})
	}
	return q
}

// compare runs a template that Parse takes and expects what text/template makes of it.
func compare(t *testing.T, own *template, q Question) {
	t.Helper()
	room := 1 << 16
	got, err := own.render(q.data(), &room)
	if room < 0 {
		require.ErrorIs(t, err, errTooLong)
		return
	}
	theirs, theirErr := reference.New("").Parse(own.text)
	require.NoError(t, theirErr, own.text)
	var want strings.Builder
	if theirErr = theirs.Execute(&want, &q); theirErr != nil {
		require.ErrorContains(t, theirErr, "index out of range", own.text)
		require.ErrorContains(t, err, "has no index", own.text)
		return
	}
	require.NoError(t, err, own.text)
	require.Equal(t, want.String(), got, own.text)
}

// templates returns the templates of a request.
func templates(n node) (found []*template) {
	switch n := n.(type) {
	case *template:
		return []*template{n}
	case sequence:
		for _, inner := range n {
			found = append(found, templates(inner)...)
		}
	case mapping:
		for _, inner := range n {
			found = append(found, templates(inner)...)
		}
	}
	return found
}

func TestProfilesAreAsByTextTemplate(t *testing.T) {
	for _, name := range Names() {
		p, err := Open(name, "")
		require.NoError(t, err)
		all := templates(p.request)
		require.NotEmpty(t, all)
		for seed := range uint64(300) {
			r := newRandom(seed)
			for _, own := range all {
				q := r.question()
				q.From, q.To = p.Languages[r.IntN(len(p.Languages))], p.Languages[r.IntN(len(p.Languages))]
				q.Fault = prompt.Fault(r.one("", "refused", "chatter", "shortened", "other_language"))
				compare(t, own, q)
			}
		}
	}
}

// The parts of random templates; each takes the depth that is left.
func (r random) expression(depth int, kind string) string {
	inner := func(kind string) string { return r.expression(depth-1, kind) }
	any := func() string { return inner(r.one("text", "number", "bool", "texts", "pairs")) }
	if depth == 0 {
		return map[string]string{
			"text": r.one(".Text", "$.To.Code", `"zh"`, "`\"`", ".From.Name", ".Fault"), "number": r.one("0", "1", "-1", "0x1", "1_0", ".Try"),
			"bool": r.one("true", "false"), "texts": r.one(".Before", ".To.Names", "$.From.Names"), "pairs": r.one(".Terms", "$.Examples"),
		}[kind]
	}
	switch kind {
	case "text":
		return r.one(inner(kind), fmt.Sprintf("(index %s %s)", inner("texts"), inner("number")), fmt.Sprintf("(or %s %s)", inner(kind), inner(kind)),
			fmt.Sprintf("(index %s %s).Target", inner("pairs"), inner("number")))
	case "number":
		return r.one(inner(kind), fmt.Sprintf("(len %s)", inner(r.one("text", "texts", "pairs"))), fmt.Sprintf("(%s | len)", inner("texts")), fmt.Sprintf("(and %s %s)", inner(kind), inner(kind)))
	case "bool":
		of := r.one("text", "number", "bool")
		return r.one(inner(kind), fmt.Sprintf("(not %s)", any()), fmt.Sprintf("(eq %s %s %s)", inner(of), inner(of), inner(of)), fmt.Sprintf("(%s | ne %s)", inner(of), inner(of)))
	}
	return r.one(inner(kind), fmt.Sprintf("(%s %s %s)", r.one("and", "or"), inner(kind), inner(kind)))
}

func (r random) template(depth int) string {
	if depth == 0 {
		return r.one("x", "\n ", "{{- /* no */ -}}", "{{.Text}}")
	}
	inner := func() string { return r.template(depth - 1) }
	condition := func() string {
		return r.expression(depth, r.one("text", "number", "bool", "texts", "pairs")) + r.one("", fmt.Sprintf(" | or %s", r.expression(1, r.one("text", "pairs"))))
	}
	return inner() + r.one(
		fmt.Sprintf("{{%s}}", r.expression(depth, r.one("text", "number", "bool"))),
		fmt.Sprintf("{{if %s}}%s{{else if %s -}} %s{{else}}%s{{end}}", condition(), inner(), condition(), inner(), inner()),
		fmt.Sprintf("{{with $x := %s}}%s{{$x}}{{.}}{{else}}%s{{end}}", r.expression(depth, "text"), strings.ReplaceAll(inner(), "{{.Text}}", "{{.}}"), inner()),
		fmt.Sprintf("{{range $i, $v := %s}}{{$i}}{{$v}}{{if eq . $.Text}}{{$i := .}}{{$i}}{{end}}{{$i}}{{else}}%s{{end}}", r.expression(depth, "texts"), inner()),
		fmt.Sprintf("{{range $v := %s}}{{.Source}}{{$v.Target}}{{else}}{{len $v}}%s{{end}}", r.expression(depth, "pairs"), inner()),
		fmt.Sprintf("{{$x := %s}}%s{{$x}}", r.expression(depth, "number"), inner()),
	) + inner()
}

func TestTemplatesAreAsByTextTemplate(t *testing.T) {
	taken := 0
	for seed := range uint64(1500) {
		r := newRandom(seed)
		text := r.template(1 + r.IntN(3))
		own, err := parseTemplate(&yaml.Node{Value: text})
		if err != nil {
			// A dot of with has no fields, which these templates do not mind.
			require.ErrorContains(t, err, "a text has no .", text)
			continue
		}
		taken++
		for range 5 {
			compare(t, own, r.question())
		}
	}
	assert.Greater(t, taken, 1000)
}

func FuzzTemplate(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(newRandom(seed).template(2), seed)
	}
	f.Add("{{if .Try}}{{$x := 1}}{{else}}{{$x}}{{end}}{{range $x := .Before}}{{else}}{{$x}}{{end}}", uint64(0))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		own, err := parseTemplate(&yaml.Node{Value: text, Line: 7})
		if err != nil {
			require.ErrorContains(t, err, "line 7: ")
			return
		}
		r := newRandom(seed)
		for range 5 {
			compare(t, own, r.question())
		}
	})
}

func TestTemplateRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{{.Text":                             "line 7: unclosed action",
		"{{if .Text}}":                        "line 7: unexpected EOF",
		"{{$x}}":                              `line 7: undefined variable "$x"`,
		"{{.To.Nme}}":                         "line 7: .To.Nme: a value with .Code, .Name, .Names has no .Nme",
		"\n\n{{if .Try}}{{.Text.Len}}{{end}}": "line 9: .Text.Len: a text has no .Len",
		"{{.Terms.Source}}":                   "line 7: .Terms.Source: a list (each a value with .Source, .Target) has no .Source",
		"{{range .Terms}}\n{{else}}\n\n{{.Source}}{{end}}": "line 10: .Source: a value with .Before",
		"{{with or .Text .Terms}}{{.Source}}{{end}}":       "line 7: .Source: a value of several kinds has no .Source",
		"{{.To}}":                                                   "line 7: {{.To}}: a value with .Code, .Name, .Names cannot be written",
		"{{.Before}}":                                               "cannot be written: use its fields, or range",
		"{{or .Text .Try}}":                                         "a value of several kinds cannot be written",
		"{{range .Text}}{{end}}":                                    "line 7: .Text: range needs a list, not a text",
		"{{range 3}}{{end}}":                                        "range needs a list, not a number",
		"{{range .Before}}{{break}}{{end}}":                         "line 7: {{break}}: use fields such as",
		"{{$x := 1}}{{$x = 2}}":                                     "line 7: $x = 2: variables do not change",
		"{{if .Try}}{{$x := 1}}{{else}}{{$x}}{{end}}":               "line 7: $x: the variable belongs to another branch",
		"{{if or .Try ($x := .Text)}}{{$x}}{{end}}":                 "use fields such as",
		"{{range $x := .Before}}{{else}}{{$x}}{{end}}":              "a list (each a text) cannot be written",
		"{{if eq .Fault \"refused\"}}{{printf \"%d\" .Try}}{{end}}": "line 7: printf \"%d\" .Try: use fields such as",
		"{{now}}":                           "line 7: now: use fields such as .To.Name, texts, whole numbers, variables, if, with, range, and the functions and, or, not",
		"{{.Text 1}}":                       "line 7: .Text 1: .Text is no function",
		"{{1 | .Text}}":                     ".Text is no function",
		"{{template \"x\"}}":                "line 7: {{template \"x\"}}: use fields",
		"{{define \"x\"}}x{{end}}{{.Text}}": "define and block: use fields",
		"{{define \"\"}}x{{end}}":           "define and block: use fields",
		"{{block \"x\" .}}x{{end}}":         "define and block: use fields",
		"{{eq .Text 1}}":                    "line 7: eq .Text 1: use fields",
		"{{eq .Text}}":                      "eq .Text: use fields",
		"{{eq .Before .Before}}":            "eq .Before .Before: use fields",
		"{{ne .Text .Text .Text}}":          "use fields",
		"{{not .Text .Text}}":               "use fields",
		"{{len .Try}}":                      "use fields",
		"{{len .To}}":                       "use fields",
		"{{index .Text 0}}":                 "use fields",
		"{{index .Before \"0\"}}":           "use fields",
		"{{index .Before}}":                 "use fields",
		"{{and}}":                           "use fields",
		"{{1.5}}":                           "line 7: 1.5: use fields such as .To.Name, texts, whole numbers",
		"{{'a'}}":                           "use fields",
		"{{eq .Text nil}}":                  "line 7: nil: use fields",
		"{{99999999999999999999}}":          "line 7: integer overflow",
		"{{(index .Terms 0).Name}}":         "a value with .Source, .Target has no .Name",
		strings.Repeat("{{if .Try}}", 5000) + strings.Repeat("{{end}}", 5000) + "{{.Nope}}": "has no .Nope",
	} {
		t.Run(fmt.Sprintf("%.60s", text), func(t *testing.T) {
			_, err := parseTemplate(&yaml.Node{Value: text, Line: 6, Style: yaml.LiteralStyle})
			require.ErrorContains(t, err, want)
		})
	}
}

// Errors name the lines of the profile where its templates have lines of their own.
func TestTemplateLines(t *testing.T) {
	const head = "languages: {en: English, fr: French}\nrequest:\n  messages:\n    - role: user\n      content: "
	for text, want := range map[string]string{
		"|-\n        {{.Text}}\n        {{.Txt}}":     "line 7: .Txt",
		"|-\n        {{.Text}}\n        {{.Text":      "line 7: unclosed action",
		"|-\n\n        {{.Text}}\n\n        {{.Txt}}": "line 9: .Txt",
		`"{{.Text}}\n\n{{.Txt}}"`:                     "line 5: .Txt",
		">-\n        {{.Text}}\n        {{.Txt}}":     "line 5: .Txt",
		"'{{.Text}}\n\n        {{.Txt}}'":             "line 5: .Txt",
	} {
		_, err := Parse([]byte(head + text + "\n"))
		require.ErrorContains(t, err, want, text)
	}
}

func TestIndexOutOfRange(t *testing.T) {
	for field, want := range map[string]string{"From": "from de into en", "To": "from fr into de"} {
		_, err := Parse([]byte("languages: {en: [English, 英语], fr: [French, 法语], de: German}\nrequest: {messages: [\"{{index ." + field + ".Names 1}}{{.Text}}\"]}"))
		require.ErrorContains(t, err, want+": request: line 2: index ."+field+".Names 1: a list of 1 values has no index 1")
	}
}

// Ranges within ranges end, although they write nothing.
func TestRoundsAreLimited(t *testing.T) {
	p, err := Parse([]byte("languages: {en: English, fr: French}\nrequest: {messages: [\"{{.Text}}" +
		strings.Repeat("{{range $.Before}}", 30) + strings.Repeat("{{end}}", 30) + "\"]}"))
	require.NoError(t, err)
	_, err = p.Request(Question{Guide: prompt.Guide{Before: make([]string, 16)}})
	require.ErrorIs(t, err, errTooLong)
}
