package tagged

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// mostLead are the most characters of a text that stands before a paragraph in a frame of its own.
const mostLead = 16

// Lead is the text of a paragraph that could be the start of another one, as a drop cap is: a short one in one style
// with a letter. It is "" for others.
func (p *Paragraph) Lead() string {
	found := ""
	for _, n := range p.root.children {
		switch {
		case n.kind == text && found == "" && wordsOf(n.text) == letters && utf8.RuneCountInString(n.text) <= mostLead:
			found = n.text
		case n.kind != special:
			return ""
		}
	}
	return found
}

// StartWith has a paragraph's text begin with another one, which is not part of it: what becomes of that is [Paragraph.Start].
func (p *Paragraph) StartWith(lead string) {
	if p.lead = lead; lead == "" {
		return
	}
	if t := firstText(p.root.children); t != nil {
		t.text = lead + t.text
	} else {
		p.root.children = append([]*node{{kind: text, text: lead}}, p.root.children...)
	}
}

// Start is what the translation starts with in place of the text that the paragraph was to start with: its first letter,
// with the signs before it, or its first word where that was a word of two letters at least.
func (p *Paragraph) Start() string { return p.start }

// cut takes the start off a translation.
func (p *Paragraph) cut(tokens []token) {
	count := 0
	for _, r := range p.lead {
		if unicode.IsLetter(r) {
			count++
		}
	}
	for i, t := range tokens {
		if t.node != nil || strings.TrimSpace(t.text) == "" {
			continue
		}
		end := startOf(t.text, count)
		p.start, tokens[i].text = t.text[:end], t.text[end:]
		return
	}
}

// startOf is where the start of a text ends that has so many letters, or a word in place of several.
func startOf(t string, count int) int {
	found := 0
	for at, r := range t {
		switch isLetter := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case found > 0 && unicode.IsMark(r), found == 0 && !isLetter:
		case isLetter && (found < count || count > 1 && char.IsWord(r)):
			found++
		default:
			return at
		}
	}
	return len(t)
}
