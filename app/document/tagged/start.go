package tagged

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// mostLead is the maximum number of characters of a drop cap.
const mostLead = 16

// Lead returns the text of a paragraph that may be a drop cap of another one: a short text in one style with a letter. It returns
// "" for others.
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

// StartWith prepends a drop cap to the text of the paragraph. The drop cap is not part of the paragraph; [Paragraph.Start]
// returns its translation.
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

// Start returns the start of the translation that replaces the drop cap: its first letter, with preceding signs, or its first
// word if the drop cap was a word of at least two letters.
func (p *Paragraph) Start() string { return p.start }

// cut removes the start from a translation.
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

// startOf returns the end of the start of a text with count letters, or of a word if count is above 1.
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
