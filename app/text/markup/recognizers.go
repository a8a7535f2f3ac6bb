package markup

import (
	"regexp"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// recognizer finds the spans of one syntax. read returns the length in bytes of the span that starts here, or 0.
type recognizer struct {
	first string // possible first bytes
	kind  Kind
	read  func(*scanner) int
}

// ofSigns are the recognizers for spans that do not start with a letter or digit, in order of priority.
var ofSigns = [...]recognizer{
	// Messages and templates.
	{"{<", Placeholder, (*scanner).template},
	{"[<*%@#_", Placeholder, doubled},
	{"@", Placeholder, controlFlow},
	{"'", Placeholder, quotedBraces},
	{"{", Placeholder, (*scanner).braces},
	{"%", Placeholder, (*scanner).percent},
	{"$", Placeholder, variable},
	{"$", Placeholder, (*scanner).argument},
	{"$", Number, (*scanner).signedNumber},
	{"\\", Code, networkPath},
	{"\\", Placeholder, escape},
	{"[", Placeholder, bracketed},
	{"[", Sign, (*scanner).bracketedWord},

	// Names.
	{"&", Entity, (*scanner).entity},
	{":", Placeholder, colonName},
	{"#", Code, (*scanner).topic},
	{"#*", Emoji, (*scanner).emoji},
	{"+-", Number, (*scanner).signedNumber},
	{"-", Code, shortOption},
	{"\"", Code, (*scanner).lineTail},

	// All other signs that are rare in prose.
	{signs + "-!:+'", Sign, (*scanner).sign},
}

// ofWords are the recognizers for spans that start with a letter or digit, in order of priority.
var ofWords = [...]recognizer{
	{"", Emoji, (*scanner).emoji},
	{"", Code, (*scanner).codeName},
	{"", Code, (*scanner).url},
}

// bySign indexes ofSigns by first byte.
var bySign = func() (table [utf8.RuneSelf][]recognizer) {
	for _, r := range ofSigns {
		for i := range len(r.first) {
			table[r.first[i]] = append(table[r.first[i]], r)
		}
	}
	return table
}()

// Recognizers by regular expression.
var (
	// doubled matches names between doubled signs. Only [[ ]] may enclose more than a name, and __ __ only capitals and names of
	// Python: __bold__ is Markdown.
	doubled = syntax("[<|%@#_", `\[\[[^\[\]\n]+\]\]|<<\w[\w.:-]*>>|\*\|\w[\w.:-]*\|\*|%%\w[\w.:-]*%%|@@\w[\w.:-]*@@|##\w[\w.:-]*##`+
		`|__(?:[A-Z\d][A-Z\d.:-]*(?:_[A-Z\d.:-]+)*|all|author|call|class|del|dict|doc|enter|eq|exit|file|getattr|hash|init|iter`+
		`|len|main|name|new|next|repr|setattr|str|version)__\b`)
	// controlFlow matches blocks of templates of Angular and Razor: @if (a.b) { and @let a = b;.
	controlFlow = syntax("", `@(?:(?:if|else if|for|foreach|while|switch|case|defer|placeholder|loading) ?\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\) ?\{|(?:else|empty|default|defer|placeholder|loading|error) ?\{|let \w+ = [^;\n]+;)`)
	// quotedBraces matches quoted braces of ICU messages and Python: '{', '{x}' and '{'x'}'.
	quotedBraces = syntax("{}", `'(?:\{'[\pL\pN_.]+'\}|[{}][^'{}\n]*\}?)'`)
	// variable matches variables in brackets, commands of a shell and formulas of TeX, by signs that occur between dollars nowhere
	// else: ${a.b} $(date) $t(key) $x^2$.
	variable = syntax("", `\$(?:\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\}|t?\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\$[^$\n]+\$|[^\s$][^$\n]*[\\^_=][^$\n]*\$|\$)`)
	// networkPath: \\host\share
	networkPath = syntax("\\", `\\\\[\w.-]+(?:\\[\w.$-]+)+\\?`)
	// topics matches #topic and #話題#, which may touch words of a script without spaces.
	topics = apart(isWordOr("&/"), syntax("", `#[\pL\pM\pN_]*\pL[\pL\pM\pN_]*(?:-[\pL\pN_]+)*#?`), nil)
	// escape matches escapes of strings and Markdown, and commands of TeX: \n \" \u2026 \x41 \1 \d+ \(name) \textbf{x} \[.
	escape = syntax("", `\\(?:\\[nrt]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|u\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|\([^()\s]+\)|\([^()\n]*\\\)`+
		`|[a-zA-Z]{2,}\*?(?:\{[^{}\n]*\})+|[dwsDWSB][+*?]?|\d+|[A-Za-z]|[[:punct:]])`)
	// bracketed matches FIRST_NAME in brackets, intervals of Laravel and Symfony, times of lyrics, and footnotes of Markdown.
	bracketed = syntax(upperCase+digits+"_-*^!", `\[(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|(?:\d+|-?Inf|\*),(?:\d+|Inf|\*)|\d+:\d\d(?:[.:]\d+)?|\^[\w-]+|![A-Z]+)\](?:\(inflect: true\))?`)
	// shortOption: -x, which no other shape tells from a dash before a word.
	shortOption = apart(func(r rune) bool { return char.IsWord(r) || r == '-' || char.IsUnspaced(r) }, syntax(upperCase+lowerCase, `-[A-Za-z]\b`), nil)
	// colonName: :name, as in Laravel and SQL.
	colonName = apart(isWordOr(":"), syntax(upperCase+lowerCase, `:[A-Za-z][\w-]*\w`), func(r rune) bool { return char.OneOfRunes(r, ":/") })
)

const (
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	digits    = "0123456789"
)

// topic returns the length of the topic here. In a branch of a message, # stands for the number.
func (s *scanner) topic() int {
	if s.branch {
		return 0
	}
	return topics(s)
}

// syntax returns a reader for the match of a regular expression here, within longestName bytes. second, unless empty, lists the
// possible second bytes.
func syntax(second, expression string) func(*scanner) int {
	form := regexp.MustCompile("^(?:" + expression + ")")
	return func(s *scanner) int {
		if second != "" && !char.OneOf(s.at(1), second) {
			return 0
		}
		return len(form.FindString(s.rest(longestName)))
	}
}

// apart restricts a reader: behind rejects the character before the span, before, unless nil, the character that follows it.
func apart(behind func(rune) bool, read func(*scanner) int, before func(rune) bool) func(*scanner) int {
	return func(s *scanner) int {
		if behind(s.before()) {
			return 0
		}
		n := read(s)
		if n > 0 && before != nil && before(char.First(s.text[s.pos+n:])) {
			return 0
		}
		return n
	}
}

func isWordOr(set string) func(rune) bool {
	return func(r rune) bool { return char.IsWord(r) || char.OneOfRunes(r, set) }
}
