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
	language := func() Language {
		names := []string{r.text(), r.text()}[:1+r.IntN(2)]
		return Language{Code: r.text(), Name: names[0], Names: names}
	}
	q := Question{From: language(), To: language(), Text: r.text(), Guide: prompt.Guide{Fault: prompt.Fault(r.text())}}
	for range r.IntN(3) {
		q.Before = append(q.Before, r.text())
		q.Terms = append(q.Terms, prompt.Term{Source: r.text(), Target: r.text()})
	}
	for range r.IntN(3) {
		q.Examples = append(q.Examples, prompt.Example{Source: r.text(), Target: r.text()})
	}
	return q
}

// compare runs a template that Parse takes and expects what text/template makes of it.
func compare(t *testing.T, text string, q Question) {
	t.Helper()
	own, err := parseTemplate(&yaml.Node{Value: text})
	require.NoError(t, err, text)
	language := func(l Language) any {
		return map[string]string{"Code": l.Code, "Name": l.Name, "Name2": l.Names[len(l.Names)-1]}
	}
	theirs, err := reference.New("").Parse(text)
	require.NoError(t, err, text)
	var want strings.Builder
	require.NoError(t, theirs.Execute(&want, map[string]any{"From": language(q.From), "To": language(q.To), "Text": q.Text, "Fault": q.Fault,
		"Before": q.Before, "Terms": q.Terms, "Examples": q.Examples}), text)
	require.Equal(t, want.String(), own.render(&rendering{&q, maxRequest}), text)
}

// stringsOf returns the strings of a request.
func stringsOf(n *yaml.Node) (found []string) {
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	for _, inner := range n.Content {
		found = append(found, stringsOf(inner)...)
	}
	return found
}

func TestProfilesAreAsByTextTemplate(t *testing.T) {
	for _, name := range Names() {
		p, err := Open(name, "")
		require.NoError(t, err)
		raw, err := builtin.ReadFile(name + ".yaml")
		require.NoError(t, err)
		var file struct{ Request yaml.Node }
		require.NoError(t, yaml.Unmarshal(raw, &file))
		for seed := range uint64(300) {
			r := newRandom(seed)
			for _, text := range stringsOf(&file.Request) {
				q := r.question()
				q.From, q.To = p.Languages[r.IntN(len(p.Languages))], p.Languages[r.IntN(len(p.Languages))]
				q.Fault = prompt.Fault(r.one("", "refused", "chatter", "shortened", "other_language"))
				compare(t, text, q)
			}
		}
	}
}

func (r random) condition(depth int) string {
	text := func() string { return r.one(".Text", "$.To.Code", `"zh"`, "(.From.Name2)", "$.Fault", "``") }
	if depth == 0 {
		return r.one(text(), ".Terms", "$.Before", "(.Examples)")
	}
	inner := func() string { return "(" + r.condition(depth-1) + ")" }
	return r.one(r.condition(depth-1), "eq "+text()+" "+text(), "eq "+text()+" "+text()+" "+text(), "not "+inner(), "and "+inner()+" "+inner(),
		"or "+inner()+" "+inner()+" "+inner())
}

func (r random) template(depth int) string {
	if depth == 0 {
		return r.one("x", "\n ", "{{- /* no */ -}}", "{{.Text}}", "{{$.From.Name}}", `{{"}}"}}`,
			"{{range .Before}}{{.}}{{if .}}, {{end}}{{end}}", "{{range $.Terms -}} {{.Source}}{{if eq .Target $.Text}}={{else}}{{$.Text}}{{end}}\n{{end}}",
			"{{range .Examples}}{{if and $.Terms (not .Source)}}{{.Target}}{{end}}{{end}}")
	}
	inner := func() string { return r.template(depth - 1) }
	return inner() + fmt.Sprintf("{{if %s}}%s{{else if %s -}} %s{{else}}%s{{end}}", r.condition(depth), inner(), r.condition(1), inner(), inner())
}

func TestTemplatesAreAsByTextTemplate(t *testing.T) {
	for seed := range uint64(1500) {
		r := newRandom(seed)
		text := r.template(1 + r.IntN(3))
		for range 5 {
			compare(t, text, r.question())
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(newRandom(seed).template(2), seed)
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if _, err := parseTemplate(&yaml.Node{Value: text, Line: 7}); err != nil {
			require.ErrorContains(t, err, "line 7: ")
			return
		}
		compare(t, text, newRandom(seed).question())
	})
}

func TestTemplateRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{{.Text":                                          "line 7: unclosed action",
		"{{if .Text}}":                                     "line 7: unexpected EOF",
		"{{$x}}":                                           `line 7: undefined variable "$x"`,
		"{{.To.Nme}}":                                      "line 7: .To.Nme: use texts such as .Text and .To.Name, range of",
		"\n\n{{if .Fault}}{{.Text.Len}}{{end}}":            "line 9: .Text.Len: use texts",
		"{{.Terms.Source}}":                                "line 7: .Terms.Source: use texts",
		"{{range .Terms}}{{.}}{{end}}":                     "line 7: .: use texts",
		"{{range .Before}}{{.Source}}{{end}}":              "line 7: .Source: use texts",
		"{{range .Terms}}{{.Text}}{{end}}":                 "line 7: .Text: use texts",
		"{{range .Terms}}\n{{else}}{{end}}":                "line 7: .Terms: use texts",
		"{{range .Terms}}{{range $.Before}}{{end}}{{end}}": "line 7: $.Before: use texts",
		"{{.Before}}":                                      "line 7: .Before: use texts",
		"{{$}}{{.}}":                                       "line 7: $: use texts",
		"{{range .Text}}{{end}}":                           "line 7: .Text: use texts",
		"{{range .Before}}{{break}}{{end}}":                "line 7: {{break}}: use texts",
		"{{range $x := .Before}}{{$x}}{{end}}":             "line 7: $x := .Before: use texts",
		"{{$x := 1}}":                                      "line 7: $x := 1: use texts",
		"{{if $x := .Text}}{{end}}":                        "use texts",
		"{{with .Text}}{{.}}{{end}}":                       "line 7: {{with .Text}}",
		"{{if now}}{{end}}":                                "line 7: now: use texts",
		"{{eq .Text .Fault}}":                              "line 7: eq .Text .Fault: use texts",
		"{{if ne .Text .Text}}{{end}}":                     "line 7: ne .Text .Text: use texts",
		"{{if eq .Text}}{{end}}":                           "use texts",
		"{{if eq .Terms .Terms}}{{end}}":                   "line 7: .Terms: use texts",
		"{{if not .Text .Text}}{{end}}":                    "use texts",
		"{{if and}}{{end}}":                                "use texts",
		"{{if .Text | not}}{{end}}":                        "line 7: .Text | not: use texts",
		"{{index .Before 0}}":                              "line 7: index .Before 0: use texts",
		"{{template \"x\"}}":                               "line 7: {{template \"x\"}}: use texts",
		"{{define \"x\"}}x{{end}}{{.Text}}":                "define and block: use texts",
		"{{define \"\"}}x{{end}}":                          "define and block: use texts",
		"{{block \"x\" .}}x{{end}}":                        "define and block: use texts",
		"{{1}}":                                            "line 7: 1: use texts",
		strings.Repeat("{{if .Text}}", 5000) + strings.Repeat("{{end}}", 5000) + "{{.Nope}}": "line 7: .Nope: use texts",
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
		assert.ErrorContains(t, err, want, text)
	}
}
