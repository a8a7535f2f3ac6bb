package main

import (
	"context"
	"strings"
	"unicode"

	"dragoman/app/text/markup"
)

// A standIn translates in place of a model. It changes the text between the spans that the service preserves, and the branches of
// messages.
type standIn struct {
	name   string
	to     string // the language of its translations
	change func(text string) string
	// whole changes a whole text, with its spans; nil: not at all.
	whole func(text string) string
	// same maps texts to the same one if they differ by no more than a translation does.
	same func(text string) string
}

// standIns are the stand-ins, but for the one that changes nothing.
var standIns = []standIn{
	{name: "upper", to: "de", change: strings.ToUpper, same: strings.ToUpper},
	{name: "cyrillic", to: "ru", change: cyrillic.Replace, same: cyrillic.Replace},
	{name: "hostile", to: "fr", change: func(text string) string { return text }, whole: quote, same: unquoted.Replace},
}

var (
	cyrillic = strings.NewReplacer("A", "А", "B", "Б", "C", "Ц", "D", "Д", "E", "Е", "F", "Ф", "G", "Г", "H", "Х", "I", "И", "J", "Й", "K", "К",
		"L", "Л", "M", "М", "N", "Н", "O", "О", "P", "П", "Q", "Я", "R", "Р", "S", "С", "T", "Т", "U", "У", "V", "В", "W", "Ш", "X", "Ж", "Y", "Ы", "Z", "З",
		"a", "а", "b", "б", "c", "ц", "d", "д", "e", "е", "f", "ф", "g", "г", "h", "х", "i", "и", "j", "й", "k", "к", "l", "л", "m", "м", "n", "н",
		"o", "о", "p", "п", "q", "я", "r", "р", "s", "с", "t", "т", "u", "у", "v", "в", "w", "ш", "x", "ж", "y", "ы", "z", "з")
	unquoted = strings.NewReplacer("'", "", `"`, "", "’", "", "“", "", "”", "")
)

// quote adds what French has in its words, and quotation marks: these are signs of many formats.
func quote(text string) string { return "'" + text + ` "'` }

// translate returns the translation of a text.
func (s standIn) translate(ctx context.Context, text string, format markup.Format) (string, error) {
	sentence, err := markup.Parse(ctx, text, format)
	if err == nil {
		sentence, err = sentence.In(ctx, "")
	}
	if err != nil {
		return "", err
	}
	messages := sentence.Messages()
	var out strings.Builder
	at := 0
	for _, span := range sentence.Spans {
		out.WriteString(s.change(sentence.Text[at:span.Start]))
		at = span.Start
		for _, m := range messages {
			if m.Start < span.Start || m.End > span.End {
				continue
			}
			for _, b := range m.Branches {
				branch, err := s.translate(ctx, sentence.Text[b[0]:b[1]], format)
				if err != nil {
					return "", err
				}
				out.WriteString(sentence.Text[at:b[0]] + branch)
				at = b[1]
			}
		}
		out.WriteString(sentence.Text[at:span.End])
		at = span.End
	}
	out.WriteString(s.change(sentence.Text[at:]))
	if s.whole != nil && strings.ContainsFunc(sentence.Text, unicode.IsLetter) {
		return s.whole(out.String()), nil
	}
	return out.String(), nil
}
