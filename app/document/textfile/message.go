package textfile

import (
	"regexp"
	"slices"
	"strings"
)

// formatter is what reads the texts of a document, and gives a meaning to apostrophes and percent signs in them.
type formatter uint8

const (
	none  formatter = iota
	print           // printf, or ICU where a text shows it
	icu             // the same, in a document with messages of ICU
	java            // java.text.MessageFormat
)

var (
	// quotedPart matches an apostrophe of ICU and java.text, which is two, or a quoted part.
	quotedPart = regexp.MustCompile(`''|'[{}#|<][^']*'`)
	// doubledApostrophe matches an apostrophe that shows that the text is a message.
	doubledApostrophe = regexp.MustCompile(`\pL''\pL`)
	messageArgument   = regexp.MustCompile(`\{\w+[},]`)
	icuChoice         = regexp.MustCompile(`\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,`)
	// conversion matches a conversion of printf.
	conversion = regexp.MustCompile(`%(?:\d+\$)?[-+#0']*\d*(?:\.\d+)?(?:hh?|ll?|[qjztL])?[a-zA-Z@%]|%\(\w+\)[a-z]|%#@\w+@`)
)

// read returns a text of the document as a reader sees it, with single apostrophes, and the function that writes its translation.
// A quoted part of the text stays quoted.
func (f formatter) read(text string) (plain string, write func(translation string) string) {
	percents := f.percents(text)
	quoted := slices.DeleteFunc(quotedPart.FindAllString(text, -1), func(part string) bool { return part == "''" })
	bare := quotedPart.ReplaceAllString(text, "")
	doubled := doubledApostrophe.MatchString(text) || messageArgument.MatchString(text) && strings.Contains(text, "''")
	switch f {
	case none:
		return text, percents
	case java:
		doubled = !strings.Contains(bare, "'") && (doubled || messageArgument.MatchString(text) || len(quoted) > 0)
	}
	if !doubled && f != icu {
		return text, percents
	}
	plain = text
	if doubled {
		plain = quotedPart.ReplaceAllStringFunc(text, func(part string) string {
			if part == "''" {
				return "'"
			}
			return part
		})
	}
	return plain, func(translation string) string {
		var out strings.Builder
		for rest := percents(translation); rest != ""; {
			at := slices.IndexFunc(quoted, func(part string) bool { return strings.HasPrefix(rest, part) })
			switch {
			case at >= 0:
				out.WriteString(quoted[at])
				rest = rest[len(quoted[at]):]
				continue
			case rest[0] == '\'' && (doubled || len(rest) > 1 && strings.IndexByte("{}#|<", rest[1]) >= 0):
				out.WriteByte('\'')
			}
			out.WriteByte(rest[0])
			rest = rest[1:]
		}
		return out.String()
	}
}

// percents returns the function that doubles percent signs in translations of a text for printf, except in its conversions.
func (f formatter) percents(text string) func(string) string {
	conversions := conversion.FindAllString(text, -1)
	isPrintf := func(conversion string) bool {
		return strings.ContainsAny(conversion[len(conversion)-1:], "diouxXfgcs@%")
	}
	if f == none || !slices.ContainsFunc(conversions, isPrintf) { // strftime has others
		return func(translation string) string { return translation }
	}
	slices.SortFunc(conversions, func(a, b string) int { return len(b) - len(a) })
	return func(translation string) string {
		var out strings.Builder
		for {
			before, rest, found := strings.Cut(translation, "%")
			out.WriteString(before)
			if !found {
				return out.String()
			}
			rest = "%" + rest
			at := slices.IndexFunc(conversions, func(c string) bool { return strings.HasPrefix(rest, c) })
			if at < 0 {
				out.WriteString("%%")
				translation = rest[1:]
				continue
			}
			out.WriteString(conversions[at])
			translation = rest[len(conversions[at]):]
		}
	}
}
