package memory

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/unicode/norm"

	"dragoman/app/text/language"
)

func nfc(text string) string { return norm.NFC.String(text) }

// normal returns a text as texts are compared: in NFC, with single spaces, without white space at its ends.
func normal(text string) string {
	text = nfc(text)
	for i, r := range text {
		if unicode.IsSpace(r) && (r != ' ' || i == 0 || i+1 == len(text) || text[i+1] == ' ') {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return text
}

// variable is a number or placeholder in a text.
type variable struct {
	start, end int // in bytes
	kind       byte
}

// The kinds of variables. A variable stands only for others of its kind.
const (
	number      = 'n' // 5, 3.14, 12:30
	placeholder = 'p' // {name}, {{0}}, ${x}, %s, %1$d, https://example.com
	openTag     = 't' // <b>, <x1/>
	closeTag    = 'c' // </b>
)

// variablesOf returns the variables of a text, in order.
func variablesOf(text string) (list []variable) {
	for i := 0; i < len(text); {
		n, kind := 0, byte(0)
		switch c := text[i]; {
		case c == '<':
			n, kind = tagAt(text[i:])
		case c == '{' || c == '$' || c == '#':
			n, kind = bracesAt(text[i:]), placeholder
		case c == '%':
			if n, kind = bracesAt(text[i:]), placeholder; n == 0 {
				n = printfAt(text[i:])
			}
		case c == 'h':
			n, kind = linkAt(text[i:]), placeholder
		case '0' <= c && c <= '9':
			n, kind = numberAt(text, i)
			if kind == 0 { // a part of a word
				i += n
				continue
			}
		}
		if n == 0 {
			i++
			continue
		}
		list = append(list, variable{i, i + n, kind})
		i += n
	}
	return list
}

// maxVariable is the maximum length of a variable in bytes.
const maxVariable = 512

func tagAt(text string) (n int, kind byte) {
	if len(text) < 3 || !isWord(text[1]) && (text[1] != '/' || !isWord(text[2])) {
		return 0, 0
	}
	end := strings.IndexAny(text[1:min(len(text), maxVariable)], "<>")
	if end < 0 || text[1+end] == '<' {
		return 0, 0
	}
	if text[1] == '/' {
		return end + 2, closeTag
	}
	return end + 2, openTag
}

// bracesAt returns the length of a name in braces, such as {0}, {{name}}, ${x} and %{x}, or of %(name)s.
func bracesAt(text string) int {
	at := 0
	if text[0] != '{' {
		at = 1
	}
	open := at
	for at < len(text) && text[at] == '{' && at < open+3 {
		at++
	}
	depth, name := at-open, at
	for at < len(text) && at < maxVariable && (isWord(text[at]) || strings.IndexByte("._-", text[at]) >= 0) {
		at++
	}
	if depth == 0 || at == name {
		return 0
	}
	for ; depth > 0; depth-- {
		if at == len(text) || text[at] != '}' {
			return 0
		}
		at++
	}
	return at
}

// printfAt returns the length of a verb such as %s, %1$d, %.2f and %(name)s.
func printfAt(text string) int {
	at := 1
	if strings.HasPrefix(text, "%(") {
		for at = 2; at < len(text) && at < maxVariable && isWord(text[at]); {
			at++
		}
		if at == len(text) || text[at] != ')' {
			return 0
		}
		at++
	}
	for at < len(text) && at < 16 && strings.IndexByte("0123456789.$-+", text[at]) >= 0 {
		at++
	}
	for at < len(text) && at < 20 && strings.IndexByte("hlLqjzt", text[at]) >= 0 {
		at++
	}
	if at == len(text) || strings.IndexByte("sdifuxXoeEgGcpva@", text[at]) < 0 || at+1 < len(text) && isWord(text[at+1]) {
		return 0
	}
	return at + 1
}

func linkAt(text string) int {
	if !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return 0
	}
	n := 0
	for n < len(text) && n < maxVariable && text[n] > ' ' && text[n] < utf8.RuneSelf && strings.IndexByte("<>\"'()[]{}", text[n]) < 0 {
		n++
	}
	return len(strings.TrimRight(text[:n], ".,;:!?"))
}

// numberAt returns the length of the digits at a place, with separators between them. kind is 0 if they are part of a word, such as
// H2O and 1st.
func numberAt(text string, start int) (n int, kind byte) {
	end := start
	for end < len(text) && (isDigit(text[end]) || end+1 < len(text) && isDigit(text[end+1]) && strings.IndexByte(".,:/-", text[end]) >= 0) {
		end++
	}
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	if joins(before) || joins(after) {
		return end - start, 0
	}
	return end - start, number
}

// joins reports whether a character beside digits makes them part of a word: letters of scripts with spaces.
func joins(r rune) bool { return (unicode.IsLetter(r) || r == '_') && r < 0x2E80 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// replaced returns the text with the given text in place of each variable.
func replaced(text string, list []variable, by func(i int) string) string {
	if len(list) == 0 {
		return text
	}
	var out strings.Builder
	at := 0
	for i, v := range list {
		out.WriteString(text[at:v.start])
		out.WriteString(by(i))
		at = v.end
	}
	out.WriteString(text[at:])
	return out.String()
}

// patternOf returns a normalized text with the kinds of its variables in place of the variables.
func patternOf(text string, list []variable) string {
	return replaced(text, list, func(i int) string { return string([]byte{0, list[i].kind}) })
}

// fill returns the translation of an entry for a text, normalized, that differs from the entry's source only in variables. ok is
// false unless the entry's source and target have the same variables, each stands for one of the text, and every number of the text
// is written like its counterpart and takes the same plural forms in both languages.
func (e Entry) fill(text string) (filled string, ok bool) {
	source, target := normal(e.Source), e.Target
	if source == text {
		return target, true
	}
	was, now, to := variablesOf(source), variablesOf(text), variablesOf(target)
	if len(was) != len(now) || len(was) != len(to) || patternOf(source, was) != patternOf(text, now) {
		return "", false
	}
	left, becomes := make(map[string]int, len(was)), make(map[string]string, len(was))
	for i, v := range was {
		old, other := source[v.start:v.end], text[now[i].start:now[i].end]
		if known, there := becomes[old]; there && known != other || v.kind == number && !e.alike(old, other) {
			return "", false
		}
		becomes[old] = other
		left[old]++
	}
	for _, v := range to {
		if left[target[v.start:v.end]]--; left[target[v.start:v.end]] < 0 {
			return "", false
		}
	}
	return replaced(target, to, func(i int) string { return becomes[target[to[i].start:to[i].end]] }), true
}

// alike reports whether one number may be written in place of another.
func (e Entry) alike(a, b string) bool {
	return a == b || separators(a) == separators(b) && pluralOf(e.From, a) == pluralOf(e.From, b) && pluralOf(e.To, a) == pluralOf(e.To, b)
}

func separators(number string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && isDigit(byte(r)) {
			return -1
		}
		return r
	}, number)
}

// pluralOf returns the plural form of a number in a language.
func pluralOf(code, text string) plural.Form {
	formOf := language.Plurals(code, plural.Cardinal)
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(whole)
	if formOf == nil || err != nil || len(fraction) > 9 {
		return plural.Other
	}
	return formOf(n, fraction)
}
