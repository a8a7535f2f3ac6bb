package textfile

import (
	"maps"
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
	kept := map[string]int{}
	for _, part := range append(quoted, wholeArgument.FindAllString(text, -1)...) {
		kept[part]++
	}
	hasBraces := func(text string) bool {
		left := maps.Clone(kept)
		signs := looseSigns(text, func(part string) bool {
			left[part]--
			return left[part] >= 0
		})
		return slices.ContainsFunc(signs, func(at int) bool { return text[at] != '\'' })
	}
	isMessage := (f == icu || f == java && (doubled || messageArgument.MatchString(text))) && !hasBraces(text)
	return text, func(translation string) string {
		translation = percents(translation)
		if isMessage && hasBraces(translation) {
			return quotedBraces(translation, looseSigns(translation, func(part string) bool { return kept[part] > 0 }))
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

// messageSign matches a quoted part of a message, an argument, or one more apostrophe or brace.
var messageSign = regexp.MustCompile(`'[{}#|<][^']*'|\{\s*\w+\s*(?:,[^{}]*)?\}|['{}]`)

// looseSigns returns where apostrophes and braces stand outside of the quoted parts and arguments that are kept.
func looseSigns(text string, isKept func(part string) bool) (list []int) {
	for at := 0; ; {
		m := messageSign.FindStringIndex(text[at:])
		if m == nil {
			return list
		}
		start, end := at+m[0], at+m[1]
		if end-start > 1 && isKept(text[start:end]) {
			at = end
			continue
		}
		list = append(list, start)
		at = start + 1
	}
}

// quotedBraces quotes braces that start no argument of a message, and doubles apostrophes. signs are their places.
func quotedBraces(text string, signs []int) string {
	var out strings.Builder
	at := 0
	for len(signs) > 0 {
		n := 1
		for n < len(signs) && signs[n] == signs[0]+n {
			n++
		}
		run := strings.ReplaceAll(text[signs[0]:signs[0]+n], "'", "''")
		if strings.ContainsAny(run, "{}") {
			run = "'" + run + "'"
		}
		out.WriteString(text[at:signs[0]] + run)
		at, signs = signs[0]+n, signs[n:]
	}
	return out.String() + text[at:]
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
