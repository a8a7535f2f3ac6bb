package moses

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalize normalizes punctuation, like MosesPunctNormalizer but for no-break spaces in numbers.
func (l *Language) Normalize(text string) string {
	// Spaces around punctuation.
	text = replace(text, "\r", "", "(", " (", ")", ") ")
	text = oneSpace(text)
	text = between(text, nil, ") ", func(r rune) bool { return strings.ContainsRune(".!:?;,", r) }, ")")
	text = replace(text, "( ", "(", " )", ")")
	text = between(text, unicode.IsDigit, " %", nil, "%")
	text = replace(text, " :", ":", " ;", ";")
	// Quotation marks and dashes.
	text = replace(text, "`", "'", "''", ` " `, "„", `"`, "“", `"`, "”", `"`, "–", "-", "—", " - ")
	text = oneSpace(text)
	text = replace(text, "´", "'", "‘", "'", "‚", "'", "’", "'", "''", `"`, "…", "...")
	text = replace(text, "\u00a0«\u00a0", `"`, "«\u00a0", `"`, "«", `"`, "\u00a0»\u00a0", `"`, "\u00a0»", `"`, "»", `"`)
	// No-break spaces.
	text = replace(text, "\u00a0%", "%", "nº\u00a0", "nº ", "\u00a0:", ":", "\u00a0ºC", " ºC", "\u00a0cm", " cm",
		"\u00a0?", "?", "\u00a0!", "!", "\u00a0;", ";", ",\u00a0", ", ")
	text = oneSpace(text)
	switch l.code {
	case "en":
		text = quoteBehindCommas(text)
	case "de", "es", "fr":
		text = quoteBeforeDots(replace(text, `,"`, `",`))
	}
	return strings.TrimFunc(text, IsSpace)
}

// IsSpace reports whether Python's str.strip() removes r: Python removes four separators more than [unicode.IsSpace] has.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// replace replaces the first of each pair of strings by the second, pair by pair.
func replace(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// oneSpace reduces runs of spaces to one.
func oneSpace(text string) string {
	if !strings.Contains(text, "  ") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		if text[i] != ' ' || i == 0 || text[i-1] != ' ' {
			b = append(b, text[i])
		}
	}
	return string(b)
}

// between replaces what between a character of before and one of after, from left to right. As in a regular expression of three
// groups, a character is in one match only. A nil before or after requires no character.
func between(text string, before func(rune) bool, what string, after func(rune) bool, with string) string {
	var b strings.Builder
	for done, at := 0, 0; ; { // text before done is written, or in a match; text before at has been searched
		i := strings.Index(text[at:], what)
		if i < 0 {
			return b.String() + text[done:]
		}
		i += at
		at = i + len(what)
		if before != nil {
			if r, size := utf8.DecodeLastRuneInString(text[done:i]); size == 0 || !before(r) {
				continue
			}
		}
		end := at
		if after != nil {
			r, size := utf8.DecodeRuneInString(text[at:])
			if size == 0 || !after(r) {
				continue
			}
			end += size
		}
		b.WriteString(text[done:i])
		b.WriteString(with)
		b.WriteString(text[at:end])
		done, at = end, end
	}
}

// quoteBehindCommas moves quotation marks from before commas and dots to after them.
func quoteBehindCommas(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			b = append(b, text[i])
			continue
		}
		for i+1 < len(text) && (text[i+1] == ',' || text[i+1] == '.') {
			i++
			b = append(b, text[i])
		}
		b = append(b, '"')
	}
	return string(b)
}

// quoteBeforeDots moves quotation marks from after dots to before them, except at the end of a text and before a "<". A match
// extends over spaces up to a character other than "<", the last of the spaces if need be; the dots of a match are in no other
// match.
func quoteBeforeDots(text string) string {
	var b strings.Builder
	for done, at := 0, 0; ; {
		i := strings.Index(text[at:], `."`)
		if i < 0 {
			return b.String() + text[done:]
		}
		quote := at + i + 1
		at = quote + 1
		rest := text[at:]
		spaces := len(rest) - len(strings.TrimLeftFunc(rest, IsSpace))
		next, size := utf8.DecodeRuneInString(rest[spaces:])
		if size > 0 && next != '<' {
			spaces += size
		}
		if spaces == 0 {
			continue
		}
		dots := len(strings.TrimRight(text[done:quote], ".")) + done
		b.WriteString(text[done:dots])
		b.WriteByte('"')
		b.WriteString(text[dots:quote])
		at += spaces
		b.WriteString(text[quote+1 : at])
		done = at
	}
}
