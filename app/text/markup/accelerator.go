package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// Accelerator is the mark of the letter that selects a label of a program by the keyboard: &Open, _File, T&oday. The word is
// translated without it, and the translation gets a mark again.
type Accelerator struct {
	sign   string // & or _; "" if there is none
	letter rune
}

// longestLabel is the maximum length in bytes of a label with an accelerator.
const longestLabel = 80

var (
	// accelerated matches the mark before a letter, at the start of a word or in it. In a word, _ is the second letter.
	accelerated = regexp.MustCompile(`(^|[ (\[“„«"])(&\p{Lu}|&[^\x00-\x7f]|_\pL)(\pL*)|\b(\p{Lu}?\p{Ll}*)(&\p{Ll})(\p{Ll}*)|\b(\p{Lu})(_\p{Ll})(\p{Ll}{2,})| ()(&\p{Ll})(\p{Ll}+)`)
	// codeWord matches what is after & in programs, not labels.
	codeWord = regexp.MustCompile(`^&(?:mut|self|str|amp|lt|gt|nbsp)\b`)
	// markedLetter matches an accelerator behind a label, as in Japanese, Chinese and Korean: 開く(&O).
	markedLetter = regexp.MustCompile(`\s*[(（]([&_])([A-Za-z0-9])[)）]`)
)

// CutAccelerator returns a plain text without the mark of its accelerator, if it is a label with one.
func CutAccelerator(text string) (string, Accelerator) {
	if len(text) > longestLabel || strings.ContainsRune(text, '\n') || strings.Count(text, "&")+strings.Count(text, "_") != 1 {
		return text, Accelerator{}
	}
	if m := markedLetter.FindStringSubmatchIndex(text); m != nil && strings.TrimLeft(text[m[1]:], ".…: ") == "" {
		return text[:m[0]] + text[m[1]:], Accelerator{text[m[2]:m[3]], rune(text[m[4]])}
	}
	m := accelerated.FindStringSubmatchIndex(text)
	if m == nil {
		return text, Accelerator{}
	}
	inner := m[4] < 0
	at, end := m[4], m[7]
	for _, group := range []int{10, 16, 22} {
		if m[group] >= 0 {
			at, end = m[group], m[group+3]
		}
	}
	letter := at + 1
	start := len(strings.TrimRightFunc(text[:at], unicode.IsLetter))
	word := text[start:at] + text[letter:end]
	switch next := char.First(text[end:]); {
	case next == ';', next == '=', next == '_', char.IsLetterOrDigit(next): // &nbsp; and &name=value
		return text, Accelerator{}
	case inner && (utf8.RuneCountInString(word) < 4 && start < at || min(at-start, end-letter) > 2 && unicode.IsLower(char.Last(text[:at])) && end-letter > 2): // rock&roll
		return text, Accelerator{}
	case inner && start == at && (!isLabel(text) || at == 0 || text[at-1] != ' ' || codeWord.MatchString(text[at:])), at == 0 && text[at] == '_' && unicode.IsLower(char.First(text[letter:])): // &mut, _private
		return text, Accelerator{}
	}
	return text[:at] + text[letter:], Accelerator{text[at : at+1], char.First(text[letter:])}
}

// isLabel reports whether a text starts with a capital letter and is no sentence.
func isLabel(text string) bool {
	return unicode.IsUpper(char.First(text)) && (!strings.HasSuffix(text, ".") || strings.HasSuffix(text, "..."))
}

// Restore returns a translation into language to with a mark: before the same letter if a word has it, before its first letter
// otherwise, or behind the text in a language that is not written with an alphabet.
func (a Accelerator) Restore(translation, to string) string {
	if a.sign == "" || translation == "" {
		return translation
	}
	label, _, _ := strings.Cut(translation, "\t") // the shortcut of a label follows
	if to == "ja" || to == "zh" || to == "ko" {
		bare := strings.TrimRight(label, " .…:：")
		return bare + "(" + a.sign + strings.ToUpper(string(a.letter)) + ")" + translation[len(bare):]
	}
	at := -1
	for i, r := range label {
		if unicode.IsLetter(r) && (at < 0 || unicode.ToLower(r) == unicode.ToLower(a.letter)) {
			if at = i; unicode.ToLower(r) == unicode.ToLower(a.letter) {
				break
			}
		}
	}
	if at < 0 {
		return translation
	}
	return translation[:at] + a.sign + translation[at:]
}
