package textfile

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"
)

// formatter is what reads the texts of a document, and gives a meaning to apostrophes and percent signs in them.
type formatter uint8

const (
	none          formatter = iota
	print                   // printf, or ICU where a text shows it
	icu                     // the same, in a document with messages of ICU
	java                    // java.text.MessageFormat
	braced                  // format of Python, C# and Rust, which has doubled braces
	flutter                 // messages of ARB, in which no sign can be quoted
	mf2                     // MessageFormat 2
	ruby                    // format of Ruby
	vue                     // messages of vue-i18n
	markdownText            // Markdown
	htmlText                // HTML in Markdown
	jsxText                 // Markdown with expressions in braces
	fluentMessage           // messages of Fluent
)

// formatterOf returns the reader of the texts of a file that does not name it.
func formatterOf(text string) formatter {
	switch {
	case describedARB.MatchString(text):
		return flutter
	case mf2Sign.MatchString(text):
		return mf2
	case icuChoice.MatchString(text):
		return icu
	case vueSign.MatchString(text):
		return vue
	}
	return print
}

var (
	// quotedPart matches an apostrophe of ICU and java.text, which is two, or a quoted part.
	quotedPart = regexp.MustCompile(`''|'[{}#|<][^']*'`)
	// doubledApostrophe matches an apostrophe that shows that the text is a message.
	doubledApostrophe = regexp.MustCompile(`\pL''\pL`)
	choiceStart       = regexp.MustCompile(`\{\s*\d+\s*,\s*choice\s*,`)
	messageArgument   = regexp.MustCompile(`\{\w+[},]`)
	wholeArgument     = regexp.MustCompile(`\{\s*\w+\s*(?:,[^{}]*)?\}`)
	icuChoice         = regexp.MustCompile(`\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,`)
	describedARB      = regexp.MustCompile(`"@[\w@.]+"\s*:`)
	// mf2Sign matches a declaration of MessageFormat 2, or a variable with a function.
	mf2Sign = regexp.MustCompile(`\.(?:input|local|match)\s+\{?\$\w|\{\$\w+\s+:\w`)
	// mf2Complex matches a message with declarations or a quoted pattern, and mf2Part a part of a pattern, or the bounds of one.
	mf2Complex = regexp.MustCompile(`(?s)^\s*(?:\.(?:input|local|match)\b|\{\{.*\}\}\s*$)`)
	mf2Part    = regexp.MustCompile(`\{\{|\}\}|\\[\\{|}]|\{(?:[^{}|]|\|(?:[^\\|]|\\.)*\|)*\}`)
	mf2One     = regexp.MustCompile(`(\s)one(\s[^\n]*)$`)
	// vueSign matches a linked message or a literal of vue-i18n.
	vueSign = regexp.MustCompile(`@(?:\.\w+)?:[\w({]|[^'\w]\{'[^'\n]+'\}[^']`)
	// conversion matches a conversion of printf.
	conversion = regexp.MustCompile(`%(?:\d+\$)?[-+#0']*\d*(?:\.\d+)?(?:hh?|ll?|[qjztL])?[a-zA-Z@%]|%\(\w+\)[a-z]|%#@\w+@`)
)

// escapes are how readers escape signs, as pairs, and the parts of a text in which signs are none.
var escapes = map[formatter]struct {
	part  *regexp.Regexp
	pairs []string
}{
	braced:        {regexp.MustCompile(`\{\{|\}\}|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}`), []string{"{", "{{", "}", "}}"}},
	fluentMessage: {regexp.MustCompile(`\{(?:[^{}"]|"(?:[^"\\\n]|\\.)*")*\}`), []string{"{", `{"{"}`, "}", `{"}"}`}},
	htmlText:      {regexp.MustCompile(`<!--(?s:.*?)-->|</?[A-Za-z][^<>]*>|&#?\w+;`), []string{"<", "&lt;", "&", "&amp;"}},
	mf2:           {mf2Part, []string{"{", `\{`, "}", `\}`, `\`, `\\`}},
	ruby:          {regexp.MustCompile(`%%|%\{\w+\}|%<\w+>|%(?:\d+\$)?[-+0# ]*\d*(?:\.\d+)?[a-zA-Z]`), []string{"%", "%%"}},
	vue: {regexp.MustCompile(`\{'[^'\n]*'\}|\{[^{}]*\}|@(?:\.\w+)?:(?:\([^()]*\)|\{[^{}]*\}|[\w.-]*\w)`),
		[]string{"{", "{'{'}", "}", "{'}'}", "@", "{'@'}", "|", "{'|'}", `\`, `{'\\'}`}},
}

// read returns a text of the document as a reader sees it, with single apostrophes, and the function that writes its translation.
// A quoted part of the text stays quoted.
func (f formatter) read(text string) (plain string, write func(translation string) string) {
	if f == none {
		return text, func(translation string) string { return translation }
	}
	if e, ok := escapes[f]; ok {
		return text, except(e.part.FindAllString(text, -1), e.pairs...).Replace
	}
	switch f {
	case markdownText:
		return text, markdownEscapes(text, nil).Replace
	case jsxText:
		return readJSX(text)
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
		kept[headOf(part)]++
	}
	hasBraces := func(text string) bool {
		left := maps.Clone(kept)
		return strings.ContainsAny(messagePart.ReplaceAllStringFunc(text, func(part string) string {
			if left[headOf(part)]--; left[headOf(part)] >= 0 {
				return ""
			}
			return part
		}), "{}")
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

// keepsBraces reports whether a translation has the braces of the text, where others would break the message.
func (f formatter) keepsBraces(text, translation string) bool {
	if f != flutter && !icuChoice.MatchString(text) && !choiceStart.MatchString(text) {
		return true
	}
	depth := 0
	for i := range len(translation) {
		switch translation[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return strings.Count(text, "{") == strings.Count(translation, "{") && strings.Count(text, "}") == strings.Count(translation, "}")
}

// translateMF2 translates the patterns of a message of MessageFormat 2. A variant for one without the number is for 1 only if the
// target language has more numbers in that category. A translation that starts like a declaration becomes a quoted pattern.
func (p *pass) translateMF2(text string) string {
	if !mf2Complex.MatchString(text) {
		translation := p.segment(text)
		if strings.HasPrefix(translation, ".") && translation != text {
			return "{{" + translation + "}}"
		}
		return translation
	}
	known, onlyOne := pluralsOf(p.options.To, plural.Cardinal)
	var out strings.Builder
	at, start, last := 0, -1, text[max(strings.LastIndex(text, "{{"), 0):]
	for _, m := range mf2Part.FindAllStringIndex(text, -1) {
		switch part := text[m[0]:m[1]]; {
		case part == "{{" && start < 0:
			start = m[1]
		case part == "}}" && start >= 0:
			before, inner, after := trimmed(text[start:m[0]])
			head := text[at:start]
			if known != nil && !onlyOne && lacksNumber(inner, last) {
				head = mf2One.ReplaceAllString(head, "${1}1$2")
			}
			if out.WriteString(head); hasLetter(inner) && !p.isCode(inner) {
				inner = p.segment(inner)
			}
			out.WriteString(before + inner + after)
			at, start = m[0], -1
		}
	}
	return out.String() + text[at:]
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

var (
	// messagePart matches a quoted part of a message, an argument, or one more apostrophe or brace.
	messagePart = regexp.MustCompile(`'[{}#|<][^']*'|\{\s*\w+\s*(?:,[^{}]*)?\}|['{}]`)
	// quoteMarked quotes braces between marks, of which those between two braces go, and doubles apostrophes.
	quoteMarked = strings.NewReplacer("'", "''", "{", "\x00{\x00", "}", "\x00}\x00")
	quoteMarks  = strings.NewReplacer("\x00\x00", "", "\x00", "'")
)

// headOf returns a part of a message without the branches of a choice, which are translated.
func headOf(part string) string { return cmp.Or(choiceStart.FindString(part), part) }

// quotedBraces quotes braces that are not of the kept parts of a message, and doubles apostrophes.
func quotedBraces(text string, kept map[string]int) string {
	var quote func(text string) string
	quote = func(text string) string {
		return messagePart.ReplaceAllStringFunc(text, func(part string) string {
			if kept[headOf(part)] > 0 {
				return part
			}
			return quoteMarked.Replace(part[:1]) + quote(part[1:])
		})
	}
	return quoteMarks.Replace(quote(text))
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
