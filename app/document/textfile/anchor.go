package textfile

import (
	"cmp"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// mdHeading is a heading of Markdown.
type mdHeading struct{ text, translation string }

// withAnchors translates Markdown or MDX. Links to a heading lead to the id that its translation has.
func withAnchors(p *pass, isMDX bool) {
	m := &markdownFile{pass: p, parser: newMarkdownParser(isMDX), isMDX: isMDX}
	others := 0
	for _, link := range otherLink.FindAllStringSubmatch(p.text, -1) {
		others += min(len(link[1]), 1)
	}
	if others > 0 && p.options.Left != nil {
		p.options.Left(0, others, "links to headings of other files, whose ids change with their translation: give those ids, {#id}")
	}
	if !anchorLink.MatchString(p.text) {
		markdownBlocks(m)
		return
	}
	out := p.within(p.text, func(inner *pass) {
		m.pass = inner
		markdownBlocks(m)
	})
	if out != p.text {
		p.replace(0, len(p.text), m.relinked(out))
	}
}

var (
	// anchorLink captures the id to which a link, a definition or an HTML link leads, and otherLink that in another file. They match
	// code without a group.
	anchorLink = regexp.MustCompile(codeOrLink + `<?#([^\s()<>"']+)`)
	otherLink  = regexp.MustCompile(codeOrLink + `<?[^\s()<>"'#:]+#([^\s()<>"']+)`)
)

const codeOrLink = "(?m)^[ \\t>]*(?:```(?s:.*?)^[ \\t>]*```|~~~(?s:.*?)^[ \\t>]*~~~)|`[^`\n]+`|" +
	`(?:\]\(|^[ \t>]*\[[^\]\n]+\]:[ \t]*|\shref=["'])`

// relinked returns a translated text in which links lead to the ids of the translated headings.
func (m *markdownFile) relinked(out string) string {
	m.looks.Past(len(out))
	links := anchorLink.FindAllStringSubmatch(m.text, -1)
	var ids map[string]string
	most := 0
	for _, rule := range anchorRules {
		of, fit := anchors(m.headings, rule), 0
		for _, link := range links {
			if _, ok := of[anchorOf(link[1])]; ok {
				fit++
			}
		}
		if fit > most {
			ids, most = of, fit
		}
	}
	for _, explicit := range explicitID.FindAllStringSubmatch(m.text, -1) {
		delete(ids, explicit[1])
	}
	return anchorLink.ReplaceAllStringFunc(out, func(link string) string {
		id := anchorLink.FindStringSubmatch(link)[1] // at the end
		if other, ok := ids[anchorOf(id)]; ok && id != "" {
			return strings.TrimSuffix(link, id) + other
		}
		return link
	})
}

// explicitID matches ids that the text gives: {#id}, kramdown's {: #id} and MDX's {/* #id */} of a heading, id and name of HTML.
var explicitID = regexp.MustCompile(`(?:\{:? ?(?:/\* ?)?#|\s(?:id|name)=["'])([^\s{}"'<>]+)`)

// anchorOf returns the id of a link, which may be escaped.
func anchorOf(raw string) string {
	if id, err := url.PathUnescape(raw); err == nil {
		return id
	}
	return raw
}

// anchorRule makes the id of a heading. Equal ids are numbered, behind counter.
type anchorRule struct {
	id      func(text string) string
	counter string
}

// anchorRules are those of GitHub; GitLab, without equal dashes side by side; pandoc, whose ids start with a letter; and Python-Markdown,
// whose ids are ASCII. The first one that fits the most links counts.
var anchorRules = [...]anchorRule{
	{func(text string) string { return strings.ReplaceAll(without(text, notGitHubID), " ", "-") }, "-"},
	{func(text string) string { return dashes.ReplaceAllString(without(text, notGitHubID), "-") }, "-"},
	{func(text string) string {
		id := strings.Join(strings.Fields(without(text, notPandocID)), "-")
		return cmp.Or(strings.TrimLeftFunc(id, func(r rune) bool { return !unicode.IsLetter(r) }), "section")
	}, "-"},
	{func(text string) string {
		return dashes.ReplaceAllString(strings.TrimSpace(without(norm.NFKD.String(text), notPythonID)), "-")
	}, "_"},
}

// without returns a text in lower case, without some characters and the marks of code.
func without(text string, not *regexp.Regexp) string {
	return strings.ToLower(not.ReplaceAllString(strings.TrimSpace(strings.ReplaceAll(text, "`", "")), ""))
}

var (
	notGitHubID = regexp.MustCompile(`[^ _\pL\pM\pN\p{Pc}-]`)
	notPandocID = regexp.MustCompile(`[^_.\pL\pM\pN\s\v\pZ\x{85}-]`)
	notPythonID = regexp.MustCompile(`[^\w\s\v-]`)
	dashes      = regexp.MustCompile(`[-\s]+`)
)

// anchors maps the ids of headings to those of their translations.
func anchors(headings []mdHeading, rule anchorRule) map[string]string {
	before, after, ids := map[string]int{}, map[string]int{}, map[string]string{}
	number := func(seen map[string]int, text string) string {
		id := rule.id(html.UnescapeString(inlineMark.ReplaceAllString(text, "$1$2")))
		n := seen[id]
		if seen[id]++; n == 0 && id == "" && rule.counter == "_" {
			seen[id]++
			n++
		}
		if n > 0 {
			return fmt.Sprint(id, rule.counter, n)
		}
		return id
	}
	for _, h := range headings {
		if explicitID.MatchString(h.text) {
			continue
		}
		ids[number(before, h.text)] = number(after, h.translation)
	}
	return ids
}

// inlineMark matches marks that are not part of a heading's text, and captures the text in them.
var inlineMark = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)|\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|</?[A-Za-z][^<>]*>|\b_+(?:\s|$)|(?:^|\s)(_+)\b`)

var (
	linkDefinition = regexp.MustCompile(`(?m)^[ \t>]*\[([^\[\]^\n][^\[\]\n]{0,63})\]:`)
	shortcut       = regexp.MustCompile(`\[([^\[\]^\n][^\[\]\n]{0,63})\](?:\[\])?`)
)

// linkLabels returns the labels of links that a text defines, in lower case.
func (p *pass) linkLabels() map[string]bool {
	labels := map[string]bool{}
	for _, m := range linkDefinition.FindAllStringSubmatch(p.text, -1) {
		p.looks.Past(len(m[0]))
		labels[plainLabel(m[1])] = true
	}
	return labels
}

func plainLabel(label string) string {
	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}

// withLabels writes [text] and [text][] as [text][text] if the text is a label: its translation is none.
func (m *markdownFile) withLabels(text string) string {
	if len(m.labels) == 0 || !strings.Contains(text, "[") {
		return text
	}
	var out strings.Builder
	at, spans := 0, m.parse(text).Spans
	for _, found := range shortcut.FindAllStringSubmatchIndex(text, -1) {
		for len(spans) > 0 && spans[0].End <= found[0] {
			spans = spans[1:]
		}
		label := text[found[2]:found[3]]
		inCode := len(spans) > 0 && spans[0].Start < found[0]
		if inCode || !m.labels[plainLabel(label)] || strings.HasSuffix(text[:found[0]], "]") || strings.HasSuffix(text[:found[0]], "!") ||
			strings.HasSuffix(text[:found[0]], `\`) || strings.HasPrefix(text[found[1]:], "[") || strings.HasPrefix(text[found[1]:], "(") {
			continue
		}
		out.WriteString(text[at:found[0]] + "[" + label + "][" + label + "]")
		at = found[1]
	}
	return out.String() + text[at:]
}
