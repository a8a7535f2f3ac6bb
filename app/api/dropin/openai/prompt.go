package openai

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/text/language"
)

// prompt is the request in a chat's messages.
type prompt struct {
	instructions string // may name the languages
	text         string // to translate
	form         bool   // whether text was found in one of the forms below, so that the instructions are not translated
}

// A program's message has the text to translate after its instructions, or between marks. These are the forms of the most common
// programs, and of many others that copied their wording:
//
//	labelled  PDFMathTranslate and BabelDOC: "… translate it into French, … NO notes. Input:\n\nTEXT",
//	          "Translate the following markdown source text to French. …\nSource Text: TEXT\nTranslated Text:"
//	marked    Zotero's PDF Translate: "… translation from English to French of the academic text enclosed in 🔤. … 🔤 TEXT 🔤 …"
//	first     Immersive Translate, Read Frog, FluentRead: "Translate to French:\n\nTEXT", "Translate to French (output translation only):\n\nTEXT"
//	          Subtitle Edit: "Please translate the following text from English to French, only write the result:\n\nTEXT"
//	          Chinese programs: "将以下文本翻译成法语：\n\nTEXT"
//
// Other programs have the instructions in the system's message, and only the text in the user's, for example Immersive Translate
// and Bob. KISS Translator sends JSON, see segments.go.
var (
	label = regexp.MustCompile(`(?i)(?:^|[\n.] ?)(?:source text|text to translate|original text|input text|input|text|原文|待翻译文本)[:：]`)
	after = regexp.MustCompile(`(?i)^\s*(?:[\p{L} ]{0,30}translation|translated text|output|译文|翻译结果)[:：]$`) // after the labelled text
	first = regexp.MustCompile(`(?is)^\s*(?:(?:please )?translate\b|(?:请|帮我|请你)?(?:将|把)?.{0,20}(?:翻译|译)[成为到])`)
)

// mark surrounds a text of Zotero's PDF Translate.
const mark = "🔤"

// fences surround a text after instructions.
var fences = []struct {
	open *regexp.Regexp
	end  string
}{
	{regexp.MustCompile("^```[a-z]*\n"), "```"}, {regexp.MustCompile(`^"""\n?`), `"""`},
	{regexp.MustCompile(`^<text>\n?`), "</text>"}, {regexp.MustCompile(`^<source>\n?`), "</source>"},
}

// Instructions are parsed letter by letter before admission, at a hundred times the cost of reading a text. Therefore the
// instructions of a call have a maximum size, which its prompts share.
const (
	mostInstructions  = 16 << 10 // in bytes
	leastInstructions = 512      // per prompt
)

// within returns the beginning and the end of a text, most bytes in all.
func within(most int, text string) string {
	if len(text) <= most {
		return text
	}
	return text[:most/2] + "\n" + text[len(text)-most/2:]
}

// read finds the text in a user's message, after instructions of at most most bytes; system is the text of the system's messages.
func read(system, user string, most int) prompt {
	found := func(instructions, text string) prompt {
		return prompt{instructions: within(most, instructions), text: unfenced(strings.TrimSpace(text)), form: true}
	}
	if before, rest, ok := strings.Cut(user, mark+"."); ok {
		more, rest, _ := strings.Cut(rest, mark)
		if text, _, ok := strings.Cut(rest, mark); ok {
			return found(before+more, text)
		}
	}
	head := user[:min(len(user), most)]
	if m := label.FindStringIndex(head); m != nil && !languagesIn(head[:m[0]]).none() {
		text := strings.TrimSpace(user[m[1]:])
		if i := strings.LastIndexByte(text, '\n'); i >= 0 && len(text)-i < longestLabel && after.MatchString(text[i+1:]) {
			text = text[:i]
		}
		return found(head[:m[0]], text)
	}
	if first.MatchString(head) {
		line, rest, more := strings.Cut(strings.TrimLeft(user, " \t\n"), "\n")
		if more && strings.TrimSpace(rest) != "" && !languagesIn(within(most, line)).none() {
			return found(line, rest)
		}
		if end := strings.IndexAny(line[:min(len(line), most)], ":："); end > 0 && !languagesIn(line[:end]).none() {
			_, colon := utf8.DecodeRuneInString(line[end:])
			return found(line[:end], line[end+colon:])
		}
	}
	return prompt{instructions: within(most, system), text: user}
}

// unfenced returns a text without the fences around it.
func unfenced(text string) string {
	for _, fence := range fences {
		if open := fence.open.FindString(text); open != "" {
			if inner, ok := strings.CutSuffix(text[len(open):], fence.end); ok {
				return strings.TrimSuffix(inner, "\n")
			}
		}
	}
	return text
}

// pair has the codes of the languages named by instructions: several if they contradict each other.
type pair struct{ from, to []string }

func (p pair) none() bool { return len(p.to) == 0 }

// Words before the names of languages in instructions. The names themselves are looked up in a table.
var (
	fromWord = regexp.MustCompile(`(?i)\bfrom[ :]+|(?:从|由|将|把)(?:以下|下面的?|这段)?`)
	toWord   = regexp.MustCompile(`(?i)\b(?:in)?to[ :]+|\btarget ?_?language["']?[ :=]+(?:is )?|\bprofessional |(?:翻译|译)(?:成|为|到)\s*|目标语言(?:是|为)?[：:]?\s*|专业的`)
)

// languagesIn returns the languages named by instructions.
func languagesIn(instructions string) pair {
	if m := codes.FindStringSubmatch(instructions); m != nil && isCode(m[1], m[1:2]) && isCode(m[2], m[2:]) {
		return pair{m[1:2], m[2:]}
	}
	return pair{namesAfter(fromWord, instructions), namesAfter(toWord, instructions)}
}

// namesAfter returns the languages named after a word, each once.
func namesAfter(word *regexp.Regexp, text string) (codes []string) {
	for _, at := range word.FindAllStringIndex(text, mostWords) {
		if code, ok := nameAt(text[at[1]:]); ok && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

const (
	mostWords = 200 // maximum number of words in instructions before names of languages
	longest   = 40  // maximum bytes of a language's name

	longestLabel = 200 // maximum bytes of a label after a text
)

// nameAt finds the longest name of a language, or its code, at the start of a text.
func nameAt(text string) (code string, ok bool) {
	inner := strings.TrimLeft(text, "*_`\"'“「{[<(")
	marked := len(inner) < len(text)
	text = inner
	head := text[:min(len(text), longest)]
	if end := strings.IndexAny(head, ".,;:\n\"'”」`*{}[]<>/。，：；、"); end >= 0 {
		head = head[:end]
	}
	if m := chineseName.FindString(head); m != "" {
		return language.Named(m)
	}
	words := strings.Fields(head)
	for n := min(len(words), 4); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if code, ok = language.Named(name); ok {
			return code, true
		}
		if n == 1 && (marked || !usual[strings.ToLower(name)]) && isCode(name, words) {
			return name, true
		}
	}
	return "", false
}

// chineseName matches a possible name of a language in Chinese.
var chineseName = regexp.MustCompile(`^(?:简体|繁体|繁體|西班牙|\p{Han}{1,6}?)(?:中文|[语文語])`)

// code matches a language code in the form used by programs.
var code = regexp.MustCompile(`^(?:[a-z]{2,3}|[A-Z]{2,3}|[a-z]{2,3}[-_][A-Za-z]{2,4})$`)

// usual are common words that look like codes, as in "up to it".
var usual = map[string]bool{"it": true, "is": true, "no": true, "as": true, "or": true, "be": true, "am": true, "so": true, "to": true, "my": true,
	"he": true, "an": true, "me": true, "us": true, "hi": true, "do": true, "go": true, "in": true, "on": true, "id": true, "one": true}

// codes matches two languages by their codes, also if the codes look like words.
var codes = regexp.MustCompile(`(?i)\bfrom ([a-z]{2,3}(?:[-_][a-z]{2,4})?) (?:in)?to ([a-z]{2,3}(?:[-_][a-z]{2,4})?)\b`)

// isCode reports whether a word in the place of a language is a code: no word follows, or a word that usually follows languages.
func isCode(word string, words []string) bool {
	if !code.MatchString(word) {
		return false
	}
	if _, known := language.NameOf(language.Base(strings.ToLower(strings.ReplaceAll(word, "_", "-")))); !known {
		return false
	}
	return len(words) == 1 || words[1] == "to" || words[1] == "into" || words[1] == "and"
}

// Messages for a prompt without clear languages.
const (
	noTarget = "it is not clear into which language to translate: name the model %[1]s:fr or %[1]s:en-fr, or begin the message with \"Translate to French:\""
	severals = "the messages name several target languages, %s: name one, or the model %s:fr"
	differs  = "the model's name says %q, the messages %q: leave one of them out"
)

// languages returns the languages of a call: from the model's name, or from its messages. model is the model's name in errors.
func (p prompt) languages(call *dialect.Call, model string, named pair) (from, to string) {
	inPrompt := pair{}
	if p.form || named.none() {
		inPrompt = languagesIn(p.instructions)
	}
	switch {
	case named.none() && inPrompt.none():
		call.Fail(dialect.RefuseAs(fault.MissingField, noTarget, model))
		return "", ""
	case len(inPrompt.to) > 1:
		call.Fail(dialect.Refuse(severals, strings.Join(inPrompt.to, " and "), model))
		return "", ""
	case named.none():
		named = inPrompt
	case !inPrompt.none():
		if in, ok := call.Languages.Target(inPrompt.to[0]); ok && in != call.Target(named.to[0]) {
			call.Fail(dialect.Refuse(differs, named.to[0], inPrompt.to[0]))
		}
	}
	if len(named.from) == 1 {
		from = named.from[0]
	}
	return call.Source(from), call.Target(named.to[0])
}
