package deepl

import (
	"strings"

	"dragoman/app/compat"
)

// noTranslate is the attribute of HTML that keeps translators out of an element.
const noTranslate = ` translate="no"`

// ignored are the names of elements whose text is not to be translated, those of
// ignore_tags.
//
// The service knows such elements by an attribute, so that their start tags get it
// before the translation and lose it again after it. Every start tag of these names
// gets one, also where it had one before: so each that is taken away had been
// added, and unmark(mark(text)) is text, whatever it is.
type ignored map[string]bool

// mark adds the attribute to the start tags of the elements.
func (ig ignored) mark(text string) string {
	return ig.edit(text, func(out *strings.Builder, rest string) string {
		out.WriteString(noTranslate)
		return rest
	})
}

// unmark takes away what mark added.
func (ig ignored) unmark(text string) string {
	return ig.edit(text, func(_ *strings.Builder, rest string) string {
		return strings.TrimPrefix(rest, noTranslate)
	})
}

// edit calls after where the name of a start tag ends, with the text from there
// on, and goes on with what it returns. What is written to out comes before that.
func (ig ignored) edit(text string, after func(out *strings.Builder, rest string) string) string {
	if len(ig) == 0 {
		return text
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteByte('<')
		end := strings.IndexAny(rest, " \t\r\n\f/><")
		if end < 0 {
			end = len(rest)
		}
		out.WriteString(rest[:end])
		text = rest[end:]
		if ig[rest[:end]] && text != "" && text[0] != '<' {
			text = after(&out, text)
		}
	}
}

// ignoredTags reads ignore_tags.
func ignoredTags(fields compat.Fields) (ignored, error) {
	names, err := tagNames(fields, "ignore_tags")
	if err != nil {
		return nil, err
	}
	set := ignored{}
	for _, name := range names {
		set[name] = true
	}
	return set, nil
}
