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

// prompt is what the messages of a chat ask for.
type prompt struct {
	instructions string // that may name the languages
	text         string // to translate
	form         bool   // text was found in one of the forms below: its instructions are not translated
}

// A program's message has the text to translate behind its instructions, or in marks. These are the forms of those
// programs that are used most, and of many others that have their words from them:
//
//	labelled  PDFMathTranslate and BabelDOC: "… translate it into French, … NO notes. Input:\n\nTEXT",
//	          "Translate the following markdown source text to French. …\nSource Text: TEXT\nTranslated Text:"
//	marked    Zotero's PDF Translate: "… translation from English to French of the academic text enclosed in 🔤. … 🔤 TEXT 🔤 …"
//	first     Immersive Translate, Read Frog, FluentRead: "Translate to French:\n\nTEXT", "Translate to French (output translation only):\n\nTEXT"
//	          Subtitle Edit: "Please translate the following text from English to French, only write the result:\n\nTEXT"
//	          Chinese programs: "将以下文本翻译成法语：\n\nTEXT"
//
// Others have the instructions in the system's message, and the text alone in the user's: so do Immersive Translate and Bob.
// KISS Translator's is JSON, see segments.go.
var (
	label = regexp.MustCompile(`(?i)(?:^|[\n.] ?)(?:source text|text to translate|original text|input text|input|text|原文|待翻译文本)[:：]`)
	after = regexp.MustCompile(`(?i)^\s*(?:[\p{L} ]{0,30}translation|translated text|output|译文|翻译结果)[:：]$`) // the text that is labelled
	first = regexp.MustCompile(`(?is)^\s*(?:(?:please )?translate\b|(?:请|帮我|请你)?(?:将|把)?.{0,20}(?:翻译|译)[成为到])`)
)

// mark is what Zotero's PDF Translate has around a text.
const mark = "🔤"

// fences stand around a text behind instructions.
var fences = []struct {
	open *regexp.Regexp
	end  string
}{
	{regexp.MustCompile("^```[a-z]*\n"), "```"}, {regexp.MustCompile(`^"""\n?`), `"""`},
	{regexp.MustCompile(`^<text>\n?`), "</text>"}, {regexp.MustCompile(`^<source>\n?`), "</source>"},
}

// Instructions are looked at letter by letter before anything is admitted, a hundred times as long as it takes to read a text:
// so as much of them as a call has at most, shared by its prompts.
const (
	mostInstructions  = 16 << 10 // bytes
	leastInstructions = 512      // of a prompt
)

// within is a text's beginning and its end, so much together.
func within(most int, text string) string {
	if len(text) <= most {
		return text
	}
	return text[:most/2] + "\n" + text[len(text)-most/2:]
}

// read finds the text in a user's message, behind instructions of so many bytes at most; system is what the system's messages say.
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

// unfenced is a text without the fences around it.
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

// pair are languages that instructions name, by codes: several where they contradict themselves.
type pair struct{ from, to []string }

func (p pair) none() bool { return len(p.to) == 0 }

// Where instructions name languages. What follows is looked up.
var (
	fromWord = regexp.MustCompile(`(?i)\bfrom[ :]+|(?:从|由|将|把)(?:以下|下面的?|这段)?`)
	toWord   = regexp.MustCompile(`(?i)\b(?:in)?to[ :]+|\btarget ?_?language["']?[ :=]+(?:is )?|\bprofessional |(?:翻译|译)(?:成|为|到)\s*|目标语言(?:是|为)?[：:]?\s*|专业的`)
)

// languagesIn finds the languages that instructions name.
func languagesIn(instructions string) pair {
	if m := codes.FindStringSubmatch(instructions); m != nil && isCode(m[1], m[1:2]) && isCode(m[2], m[2:]) {
		return pair{m[1:2], m[2:]}
	}
	return pair{namesAfter(fromWord, instructions), namesAfter(toWord, instructions)}
}

// namesAfter are the languages named behind a word, each once.
func namesAfter(word *regexp.Regexp, text string) (codes []string) {
	for _, at := range word.FindAllStringIndex(text, mostWords) {
		if code, ok := nameAt(text[at[1]:]); ok && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

const (
	mostWords = 200 // of instructions, behind which a language may be named
	longest   = 40  // bytes of a language's name

	longestLabel = 200 // bytes behind a text
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

// chineseName is what the name of a language in Chinese may be.
var chineseName = regexp.MustCompile(`^(?:简体|繁体|繁體|西班牙|\p{Han}{1,6}?)(?:中文|[语文語])`)

// code is a code of a language as programs write it.
var code = regexp.MustCompile(`^(?:[a-z]{2,3}|[A-Z]{2,3}|[a-z]{2,3}[-_][A-Za-z]{2,4})$`)

// usual are words that look like a code: "up to it".
var usual = map[string]bool{"it": true, "is": true, "no": true, "as": true, "or": true, "be": true, "am": true, "so": true, "to": true, "my": true,
	"he": true, "an": true, "me": true, "us": true, "hi": true, "do": true, "go": true, "in": true, "on": true, "id": true, "one": true}

// codes are two languages by their codes, where these look like words, too.
var codes = regexp.MustCompile(`(?i)\bfrom ([a-z]{2,3}(?:[-_][a-z]{2,4})?) (?:in)?to ([a-z]{2,3}(?:[-_][a-z]{2,4})?)\b`)

// isCode says whether a word that stands where a language may is a code of one: nothing follows, or what follows one.
func isCode(word string, words []string) bool {
	if !code.MatchString(word) {
		return false
	}
	if _, known := language.NameOf(language.Base(strings.ToLower(strings.ReplaceAll(word, "_", "-")))); !known {
		return false
	}
	return len(words) == 1 || words[1] == "to" || words[1] == "into" || words[1] == "and"
}

// unclear are the failures of a prompt that does not say what to do.
const (
	noTarget = "it is not clear into which language to translate: name the model %[1]s:fr or %[1]s:en-fr, or begin the message with \"Translate to French:\""
	severals = "the messages name several target languages, %s: name one, or the model %s:fr"
	differs  = "the model's name says %q, the messages %q: leave one of them out"
)

// languages finds the languages of a call: those of the model's name, or those that its messages name. model is how
// errors call the model.
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
