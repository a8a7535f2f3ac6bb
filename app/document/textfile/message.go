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
	choiceStart       = regexp.MustCompile(`\{\s*\d+\s*,\s*choice\s*,`)
	messageArgument   = regexp.MustCompile(`\{\w+[},]`)
	wholeArgument     = regexp.MustCompile(`\{\s*\w+\s*(?:,[^{}]*)?\}`)
	icuChoice         = regexp.MustCompile(`\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,`)
	// conversion matches a conversion of printf.
	conversion = regexp.MustCompile(`%(?:\d+\$)?[-+#0']*\d*(?:\.\d+)?(?:hh?|ll?|[qjztL])?[a-zA-Z@%]|%\(\w+\)[a-z]|%#@\w+@`)
)

// read returns a text of the document as a reader sees it, with single apostrophes, and the function that writes its translation.
// A quoted part of the text stays quoted.
func (f formatter) read(text string) (plain string, write func(translation string) string) {
	if f == none {
		return text, func(translation string) string { return translation }
	}
	percents := f.percents(text)
	if f == java {
		text = inRanges(text, "''''", "''")
	}
	quoted := slices.DeleteFunc(quotedPart.FindAllString(text, -1), func(part string) bool { return part == "''" })
	bare := quotedPart.ReplaceAllString(text, "")
	doubled := doubledApostrophe.MatchString(text) || messageArgument.MatchString(text) && strings.Contains(text, "''")
	if f == java {
		doubled = !strings.Contains(bare, "'") && (doubled || messageArgument.MatchString(text) || len(quoted) > 0)
	}
	apostrophes := except(nil)
	switch {
	case doubled:
		text, apostrophes = except(quoted, "''", "'").Replace(text), except(quoted, "'", "''")
	case f == icu:
		apostrophes = except(quoted, "'{", "''{", "'}", "''}", "'#", "''#", "'|", "''|", "'<", "''<")
	}
	kept := append(quoted, wholeArgument.FindAllString(text, -1)...)
	hasBraces := func(text string) bool {
		for _, part := range kept {
			text = strings.Replace(text, part, "", 1)
		}
		return strings.ContainsAny(text, "{}")
	}
	isMessage := (f == icu || f == java && (doubled || messageArgument.MatchString(text))) && !hasBraces(text)
	return text, func(translation string) string {
		translation = percents(translation)
		if isMessage && hasBraces(translation) {
			return quotedBraces(translation, kept)
		}
		if translation = apostrophes.Replace(translation); f == java {
			translation = inRanges(translation, "''", "''''")
		}
		return translation
	}
}

// inRanges replaces old by new in the branches of choices that have arguments, as {0,choice,1#one|1<{0} more}: Java reads them as
// messages once more.
func inRanges(text, old, new string) string {
	var out strings.Builder
	for {
		m := choiceStart.FindStringIndex(text)
		if m == nil {
			return out.String() + text
		}
		end, depth := m[1], 1
		for ; end < len(text) && depth > 0; end++ {
			switch text[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
		}
		branches := strings.Split(text[m[1]:end], "|")
		for i, branch := range branches {
			if strings.Contains(branch, "{") {
				branches[i] = strings.ReplaceAll(branch, old, new)
			}
		}
		out.WriteString(text[:m[1]] + strings.Join(branches, "|"))
		text = text[end:]
	}
}

// quotedBraces quotes braces that start no argument of a message, and doubles apostrophes. Some parts of the text are kept.
func quotedBraces(text string, kept []string) string {
	var out strings.Builder
	run := "" // of apostrophes and braces
	write := func(next string) {
		doubled := strings.ReplaceAll(run, "'", "''")
		if run = ""; strings.ContainsAny(doubled, "{}") {
			doubled = "'" + doubled + "'"
		}
		out.WriteString(doubled + next)
	}
	at := 0
	for _, m := range signsOf(kept).FindAllStringSubmatchIndex(text, -1) {
		if m[2] < 0 {
			write(text[at:m[1]])
		} else {
			if m[0] > at {
				write(text[at:m[0]])
			}
			run += text[m[0]:m[1]]
		}
		at = m[1]
	}
	write(text[at:])
	return out.String()
}

// signsOf returns an expression that matches some parts of a text, and captures each brace and apostrophe outside of them.
func signsOf(parts []string) *regexp.Regexp {
	pattern := ""
	for _, part := range parts {
		pattern += regexp.QuoteMeta(part) + "|"
	}
	return regexp.MustCompile(pattern + "(['{}])")
}

// except returns a replacer of pairs that keeps some parts. Of several parts that fit, it keeps the first.
func except(parts []string, pairs ...string) *strings.Replacer {
	var all []string
	for _, part := range parts {
		all = append(all, part, part)
	}
	return strings.NewReplacer(append(all, pairs...)...)
}

// percents returns the function that doubles percent signs in translations of a text for printf, except in its conversions.
func (f formatter) percents(text string) func(string) string {
	conversions := conversion.FindAllString(text, -1)
	isPrintf := func(conversion string) bool {
		return strings.ContainsAny(conversion[len(conversion)-1:], "diouxXfgcs@%")
	}
	if !slices.ContainsFunc(conversions, isPrintf) || strings.Contains(conversion.ReplaceAllString(text, ""), "%") { // strftime has others
		return func(translation string) string { return translation }
	}
	slices.SortFunc(conversions, func(a, b string) int { return len(b) - len(a) })
	return except(conversions, "%", "%%").Replace
}
