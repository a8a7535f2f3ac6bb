package openai

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/text/language"
)

// prompt is the request in a chat's messages.
type prompt struct {
	instructions instructions
	text         string // to translate
	form         bool   // whether text was found in one of the forms below, so that the instructions are not translated
	unclear      bool   // the user's message has instructions, in none of the forms
	task         bool   // the instructions ask for something else than a translation
}

// instructions are a text that may name the languages of a translation.
type instructions struct {
	text      string
	languages func() pair // parses the text at the first call
}

func newInstructions(text string) instructions {
	return instructions{text, sync.OnceValue(func() pair { return languagesIn(text) })}
}

// A program's message has the text to translate after its instructions, or between marks. These are the forms of the most common
// programs, and of many others that copied their wording:
//
//	first     Immersive Translate, Read Frog, FluentRead: "Translate to French:\n\nTEXT", "Translate to French (output translation only):\n\nTEXT"
//	          Subtitle Edit: "Please translate the following text from English to French, only write the result:\n\nTEXT"
//	          Chinese programs: "将以下文本翻译成法语：\n\nTEXT"; others: "en -> fr\nTEXT", "EN-FR: TEXT", "Output language: French\n\nTEXT"
//	labelled  PDFMathTranslate and BabelDOC: "… translate it into French, … NO notes. Input:\n\nTEXT",
//	          "Translate the following markdown source text to French. …\nSource Text: TEXT\nTranslated Text:"
//	marked    Zotero's PDF Translate: "… translation from English to French of the academic text enclosed in 🔤. … 🔤 TEXT 🔤 …"
//	fenced    i18n-ai-translate: "… Translate from English to French. … ```json\nTEXT\n```"; others: "Translate to French <<<TEXT>>>"
//	JSON      Payload's plugins: "Translate me the following array: TEXT in locale=en to locale fr, …"
//	quoted    "Translate "TEXT" into French."
//	above     "TEXT\n\nTranslate the text above into French."
//
// Other programs have the instructions in the system's message, and only the text in the user's, for example Immersive Translate
// and Bob. KISS Translator and Weblate send JSON, see segments.go. A message that begins like instructions and has none of the
// forms is refused, because its instructions would be translated.
var (
	label = regexp.MustCompile(`(?i)(?:^|[\n.] ?)[#*]* ?(?:(?:here (?:is|are)|below (?:is|are)|the|source|original|input|following) ){0,3}` +
		`(?:text|input|content|sentence|string|paragraph|subtitle|json|原文|待翻译文本)s?(?: (?:to (?:be )?translated?|is|below|as follows|for translation)){0,2}[:：]`)
	after = regexp.MustCompile(`(?i)^[\s#*]*(?:[\p{L} ]{0,30}translation|translated (?:text|sentence)|output|response|answer|a|assistant|译文|翻译结果)[:：][*]*$`) // after the labelled text

	// asks matches the beginning of instructions.
	asks = regexp.MustCompile(`(?is)` + opening + `(?:translate\b|` + chinese + `|` + field + `|` +
		`(?:you are|you're|act as|as an?|your (?:task|job|role)|i want|i need|i(?:'d| would) like|instructions?|below is|task|convert|provide|only|return|output|respond|answer)\b.{0,300}?translat)`)
	// describes matches the beginning of instructions about the program, which the actual request follows.
	describes = regexp.MustCompile(`(?i)` + opening + `(?:you|your|act|as|i|instructions?|below|task|only|return|output|respond|answer)\b`)
	// others matches the beginning of instructions in other languages, whose names of languages are inflected.
	others = regexp.MustCompile(`(?i)^[\s#*>;-]*(?:bitte |por favor,? |per favore,? )?(?:(?:übersetzen?|tradui(?:s|sez|re)|tradu(?:ce|zca|cir|ci|rre|za|z|zir|ceți)?|vertaal|przetłumacz|(?:пере|пре)веди(?:те)?|перекла(?:ди|діть)|p[řr]elož(?:te)?|prevedi|översätt|oversæt|oversett|` +
		`käännä|fordítsd?|tõlgi|μετ[αά]φρ[αά]σ(?:ε|τε)|terjemahkan|dịch|ترجم)[ :]|[^\n]{0,40}(?:übersetzen|翻訳|訳して|번역|翻成|çevir|แปล|अनुवाद))[^\n]{0,80}?[:：\n]`)
	// rewords matches a first line that asks for a translation in other words; its groups are possible names of languages.
	rewords = regexp.MustCompile(`(?i)` + opening + `(?:translate(?:[^\n.:：]{0,80}[:：]|[^\n.:：]{0,60}\b(?:in)?to [^\n.:：]{2,40}\n)|(?:locali[sz]e|convert|rewrite|render|express|say|write|put|provide|give|show|tell|return|output|produce|generate|i need|i want)\b[^\n.:：]{0,80}?\b(?:in|to|into) ` + noise +
		`([^\n.:：]{2,40}?) *[:：\n]|[^\n.:：]{0,60}?([\p{L}]{4,20}) (?:translation|version) of\b[^\n.:：]{0,60}(?:[:：\n]|["”»]\?))`)
	// template matches the beginning of a prompt in the form of a language model's chat.
	template = regexp.MustCompile(`^\s*(?:<s>|<bos>)?\s*(?:\[INST\]|<<SYS>>|<\|[a-z_]+\|>|<start_of_turn>)`)
	// turn matches the end of a prompt in whose place a language model continues, and a last line about the answer's form.
	turn = regexp.MustCompile(`(?i)(?:^|\n)\s*(?:assistant[:：]|(?:return|respond|reply|answer|output)\b[^\n]{0,80}\bjson\b[^\n]{0,80})\s*$`)
	// wanted matches JSON that names a target language.
	wanted = regexp.MustCompile(`(?is)^\s*\{.*?"(?:target|to|dest(?:ination)?|output)(?:[ _-]?lang(?:uage)?|[ _-]?locale)?(?:[ _-]?code)?"\s*:\s*"([^"]{2,40})"`)
	// checks and translates match instructions that check translations, and that ask for one.
	checks     = regexp.MustCompile(`(?im)^[ \t#*-]*(?:please )?(?:check|verify|review|evaluate|assess|score|proofread|validate|rate)\b[^\n]{0,60}\btranslat`)
	translates = regexp.MustCompile(`(?im)^[ \t#*-]*(?:please )?translate\b`)
	following  = regexp.MustCompile(`(?i)\b(?:following|below|next|(?:this|these|the) (?:text|sentence|paragraph|string|word|phrase|json|message|content|line)s?)\b`)
	named      = regexp.MustCompile(`(?i)^[ \t]*(?:(` + field + `)|(?:from|to|source|target|src|tgt)[ \t]*[:=：])[ \t]*([^\n]*)`) // a line
	above      = regexp.MustCompile(`(?is)^(.*\S)\s*\n\s*((?:please )?translate[^\n]*\b(?:above|preceding|previous)\b[^\n]*)$`)
	quoted     = regexp.MustCompile(`(?is)` + opening + `translate[^"“«'「\n]{0,80}["“«'「](.+)["”»'」]([^\n]{0,200})$`)
	// lead matches paragraphs about the text before the instructions.
	lead = regexp.MustCompile(`(?i)^\s*(?:[\p{L} ]{0,30}\b(?:context|glossary|terminology|terms|background|domain|audience|tone|style)\b[^\n:]{0,60}:[^\n]*\n(?:[^\n]+\n)*[ \t]*\n\s*)+`)
	// direction matches codes of two languages before a text: "EN-FR: TEXT", "en2fr: TEXT".
	direction = regexp.MustCompile(`^[\s#*\[(]*([a-z]{2,3}|[A-Z]{2,3})(?:[-_/|>:]|2)([a-z]{2,3}|[A-Z]{2,3})[\])*]*[:：][*]*`)
	// command matches a command to translate, with a language: "/translate fr TEXT".
	command = regexp.MustCompile(`(?i)^\s*[/!](?:translate|tr)[ \t]+(?:(?:in)?to[ \t]+)?([^\s:]+)[\s:]`)
	arrow   = regexp.MustCompile(`[ \t]*(?:-{1,2}>|={1,2}>|→|⇒|➜)[ \t]*`)
	// tail matches instructions after a text.
	tail = regexp.MustCompile(`(?is)^\s*(?:(?:return|output|only|do not|don't|please|respond|answer|reply|provide|give|write|translat|keep|preserve|your|in|from|to|into)\b[^\n]{0,400}|[^\n]{0,40}[:：])?\s*$`)
	// rule matches a paragraph of rules.
	rule = regexp.MustCompile(`(?i)^\s*(?:[-*•] |#|rules?\b|return\b|only\b|do not\b|don't\b|keep\b|preserve\b|maintain\b|output\b|respond\b|ensure\b|make sure\b|important\b)`)
)

const (
	opening = `^(?:[\s#*>;/-]|<(?:task|instructions?|prompt|system|user|request)>|(?:q|question|user|human|prompt|request)[:：])*(?:(?:please|kindly|now|hello|hi|hey|can you|could you|would you|help me|i want(?: you)? to|i(?:'d| would) like(?: you)? to|your task is to)[ ,!]+)*`
	chinese = `(?:请|帮我|请你)?(?:将|把)?.{0,20}(?:翻译|译)[成为到]`
	field   = `(?:source|target|input|output|from|to|original|destination)[ _-]?(?:language|lang|locale)s?["']?[ \t]*[:=：]`
)

// mark surrounds a text of Zotero's PDF Translate.
const mark = "🔤"

// fences surround a text after instructions.
var fences = []struct {
	open *regexp.Regexp
	end  string // "": the end of the tag that is the group of open
}{
	{regexp.MustCompile("```(?:[a-z]*\n)?"), "```"}, {regexp.MustCompile(`"""\n?`), `"""`}, {regexp.MustCompile(`'''\n?`), `'''`}, {regexp.MustCompile(`~~~\n?`), "~~~"},
	{regexp.MustCompile(`<<<\n?`), ">>>"}, {regexp.MustCompile(`<((?:[a-z]+[_-])*(?:text|source|input|content|document|sentence)(?:[_-][a-z]+)*)>\n?`), ""},
}

// fenced returns the text between a fence, open at a place of a text, and its last end, and what follows.
func fenced(text string, at []int, end string) (inner, after string, ok bool) {
	if end == "" {
		end = "</" + text[at[2]:at[3]] + ">"
	}
	last := strings.LastIndex(text[at[1]:], end)
	if last <= 0 {
		return "", "", false
	}
	return text[at[1]:][:last], text[at[1]+last+len(end):], true
}

// Instructions are parsed letter by letter before admission, at a hundred times the cost of reading a text. Therefore the
// instructions of a call have a maximum size, which its prompts share.
const (
	mostInstructions  = 16 << 10 // in bytes
	leastInstructions = 512      // per prompt
	mostTried         = 4        // places where a text may begin
)

// within returns the beginning and the end of a text, most bytes in all.
func within(most int, text string) string {
	if len(text) <= most {
		return text
	}
	return text[:most/2] + "\n" + text[len(text)-most/2:]
}

// reader finds the text in a user's message.
type reader struct {
	lead       string // paragraphs about the text
	user, head string // the message behind them, and its beginning, which may have instructions
	asks       bool   // the message begins like instructions
	known      bool   // the system's message or the model's name has the languages
}

// read finds the text in a user's message, after instructions of at most most bytes; system is the text of the system's messages.
// known reports whether the model's name has the languages.
func read(system, user string, most int, known bool) prompt {
	in := newInstructions(within(most, system))
	if at := turn.FindString(user[max(0, len(user)-300):]); template.MatchString(user) || strings.HasSuffix(strings.TrimRight(at, space), ":") {
		return prompt{instructions: in, text: user, unclear: true}
	}
	r := reader{user: user, head: user[:min(len(user), most)]}
	if lead := lead.FindString(r.head); asks.MatchString(r.head[len(lead):]) {
		r.lead, r.user, r.head, r.asks = lead, user[len(lead):], r.head[len(lead):], true
	}
	r.known = known || !in.languages().none()
	for _, form := range []func() (instructions, text string, ok bool){r.marked, r.sides, r.line, r.labelled, r.fenced, r.json, r.quoted, r.first, r.above} {
		instructions, text, ok := form()
		if !ok || strings.TrimSpace(text) == "" || isLabel(text) {
			continue
		}
		if own := newInstructions(within(most, r.lead+instructions)); !own.languages().none() {
			in = own
		}
		return prompt{instructions: in, text: unfenced(strings.TrimSpace(text)), form: true, task: checks.MatchString(in.text) && !translates.MatchString(in.text)}
	}
	return prompt{instructions: in, text: user, unclear: r.unclear()}
}

// says reports whether instructions name a language, or need not.
func (r *reader) says(instructions string) bool {
	return !languagesIn(instructions).none() || r.asks && r.known && following.MatchString(instructions)
}

// unclear reports whether the message has instructions.
func (r *reader) unclear() bool {
	begin := r.head[:min(len(r.head), 2000)]
	if r.asks && (!languagesIn(begin).none() || r.known && following.MatchString(begin) && strings.ContainsAny(begin, ":\n")) || others.MatchString(begin) {
		return true
	}
	if m := rewords.FindStringSubmatch(begin); m != nil && (m[1]+m[2] == "" || isLanguage(m[1]+m[2])) {
		return true
	}
	for _, form := range []*regexp.Regexp{wanted, command} {
		if m := form.FindStringSubmatch(r.head); m != nil && isLanguage(m[1]) {
			return true
		}
	}
	if turn.MatchString(r.user[max(0, len(r.user)-300):]) {
		return true
	}
	last := r.user[strings.LastIndexByte(strings.TrimRight(r.user, space), '\n')+1:]
	last = last[:min(len(last), 300)]
	return len(last) < len(r.user) && (asks.MatchString(last) || header(last) > 0) && !languagesIn(last).none()
}

func (r *reader) marked() (instructions, text string, ok bool) {
	before, rest, ok := strings.Cut(r.user, mark+".")
	if !ok {
		return "", "", false
	}
	more, rest, _ := strings.Cut(rest, mark)
	text, _, ok = strings.Cut(rest, mark)
	return before + more, text, ok
}

// sides finds a text between the labels of a text and of its translation, after examples: "English: TEXT\nFrench:".
func (r *reader) sides() (instructions, text string, ok bool) {
	user := strings.TrimRight(r.user, space)
	last := strings.LastIndexByte(user, '\n') + 1
	end := user[last:]
	if !isLabel(end) {
		return "", "", false
	}
	at := 0
	for line := range strings.Lines(r.head[:min(len(r.head), last)]) {
		name, inline, labelled := strings.Cut(line, ":")
		if labelled && len(inline) > 1 && isLabel(name+":") {
			if begin := strings.LastIndex(user[:last], "\n"+name+":") + 1; begin > at && strings.Contains(user[at:begin], "\n"+end) {
				at = begin
			}
			instructions, text = user[:at]+"from "+name+" to "+end, user[at+len(name)+1:last]
			return instructions, text, !strings.Contains(text, "\n"+name+":") && r.says(instructions)
		}
		at += len(line)
	}
	return "", "", false
}

// line finds a text after a first line of instructions that ends with a colon.
func (r *reader) line() (instructions, text string, ok bool) {
	line, rest, more := strings.Cut(strings.TrimLeft(r.head, " \t\n"), "\n")
	line = strings.TrimSpace(line)
	ok = r.asks && more && (strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")) && strings.TrimSpace(rest) != "" && header(line) == 0 && r.says(line)
	_, rest, _ = strings.Cut(strings.TrimLeft(r.user, " \t\n"), "\n")
	return line, rest, ok
}

func (r *reader) labelled() (instructions, text string, ok bool) {
	m := label.FindStringIndex(r.head)
	if m == nil || languagesIn(r.head[:m[0]]).none() && !(r.asks && r.known && m[0] > 0) {
		return "", "", false
	}
	text = strings.TrimSpace(r.user[m[1]:])
	if i := strings.LastIndexByte(text, '\n'); i >= 0 && isLabel(text[i+1:]) {
		text = text[:i]
	}
	return r.head[:m[0]], text, true
}

func (r *reader) fenced() (instructions, text string, ok bool) {
	for _, fence := range fences {
		for _, at := range fence.open.FindAllStringSubmatchIndex(r.head, mostTried) {
			inner, after, ok := fenced(r.user, at, fence.end)
			if before := r.user[:at[0]]; before != "" && before[at[0]-1] != '\n' && strings.Contains(inner, "\n"+strings.TrimSpace(r.user[at[0]:at[1]])) {
				continue // the instructions name the fence
			}
			if instructions = r.user[:at[0]] + "\n" + after; ok && r.asks && tail.MatchString(after) && r.says(instructions) {
				return instructions, inner, true
			}
		}
	}
	return "", "", false
}

func (r *reader) json() (instructions, text string, ok bool) {
	tried := 0
	for at := 0; r.asks && tried < mostTried; tried++ {
		next := strings.IndexAny(r.head[at:], "[{")
		if next < 0 {
			break
		}
		at += next + 1
		value, err := jsontext.NewDecoder(strings.NewReader(r.user[at-1:]), jsontext.AllowDuplicateNames(true)).ReadValue()
		rest := r.user[min(len(r.user), at-1+len(value)):]
		if err == nil && strings.Contains(string(value), `"`) && tail.MatchString(rest) && r.says(r.user[:at-1]+"\n"+rest) {
			return r.user[:at-1] + "\n" + rest, string(value), true
		}
	}
	return "", "", false
}

func (r *reader) quoted() (instructions, text string, ok bool) {
	m := quoted.FindStringSubmatchIndex(r.head)
	if len(r.head) < len(r.user) || m == nil {
		return "", "", false
	}
	instructions = r.user[:m[2]] + "\n" + r.user[m[4]:]
	return instructions, r.user[m[2]:m[3]], !languagesIn(instructions).none()
}

// first finds a text after a first line of instructions, or after its colon.
func (r *reader) first() (instructions, text string, ok bool) {
	user := strings.TrimLeft(r.user, " \t\n")
	if n := header(user[:min(len(user), 2000)]); n > 0 {
		return user[:n], user[n:], r.says(user[:n])
	}
	line, rest, more := strings.Cut(user, "\n")
	line = within(mostInstructions, line)
	if m := direction.FindStringSubmatch(line); m != nil && isLanguage(m[1]) && isLanguage(m[2]) {
		return m[1] + " -> " + m[2], user[len(m[0]):], true
	}
	if sides := between.Split(line, 3); len(sides) == 2 && isLanguage(sides[0]) {
		to, inline := sides[1], ""
		if end := strings.IndexAny(to, ":：])"); end >= 0 {
			to, inline = to[:end], strings.TrimLeft(to[end:], ":：])")
		}
		if isLanguage(strings.TrimSuffix(to, " translation")) {
			return sides[0] + " -> " + to, strings.TrimSpace(inline + "\n" + rest), true
		}
	}
	if !r.asks || describes.MatchString(user) {
		return "", "", false
	}
	if more && strings.TrimSpace(rest) != "" && !languagesIn(line).none() {
		begin, _, several := strings.Cut(strings.TrimSpace(rest[:min(len(rest), 2000)]), "\n\n")
		return line, rest, !several || !rule.MatchString(begin)
	}
	if end := strings.IndexAny(line, ":："); end > 0 && end < 400 && r.says(line[:end]) {
		_, colon := utf8.DecodeRuneInString(line[end:])
		return line[:end], user[end+colon:], true
	}
	return "", "", false
}

func (r *reader) above() (instructions, text string, ok bool) {
	at := max(0, len(r.user)-1000)
	m := above.FindStringSubmatchIndex(r.user[at:])
	if m == nil || !r.known && languagesIn(r.user[at+m[4]:]).none() {
		return "", "", false
	}
	return r.user[at+m[4]:], r.user[:at+m[3]], true
}

// unfenced returns a text without the fences around it.
func unfenced(text string) string {
	for _, fence := range fences {
		if at := fence.open.FindStringSubmatchIndex(text[:min(len(text), longest)]); at != nil && at[0] == 0 {
			if inner, after, ok := fenced(text, at, fence.end); ok && after == "" {
				return strings.TrimSuffix(inner, "\n")
			}
		}
	}
	return text
}

// header returns the length of the lines that name languages at the start of a text: "From: English".
func header(text string) (n int) {
	for line := range strings.Lines(text) {
		if m := named.FindStringSubmatch(line); m == nil || m[1] == "" && !isLanguage(m[2]) {
			break
		}
		n += len(line)
	}
	return n
}

// isLabel reports whether a line is the label of a text or of a translation.
func isLabel(line string) bool {
	line = strings.Trim(line, space+"#*")
	name, ok := strings.CutSuffix(strings.ReplaceAll(line, "：", ":"), ":")
	return ok && len(line) < longestLabel && (isLanguage(name) || after.MatchString(line) || label.FindString(line) == line)
}

// isLanguage reports whether a text is the name of a language, or its code.
func isLanguage(text string) bool {
	text = strings.Trim(text, "*_`\"'”“」{}[]()<> \t\r\n")
	_, ok := language.Named(text)
	return ok || !usual[strings.ToLower(text)] && isCode(text, []string{text})
}

// pair has the codes of the languages named by instructions: several if they contradict each other.
type pair struct{ from, to []string }

func (p pair) none() bool { return len(p.to) == 0 }

// Words before the names of languages in instructions. The names themselves are looked up in a table.
var (
	fromWord = regexp.MustCompile(`(?i)\b(?:source|input|from|original)[ _-]?(?:language|lang|locale)["']?[ :=：]+(?:is )?|\b(?:source|src)[ \t]*[:=：]\s*|\bin (?:locale|language)[ =:]+|\bfrom[ :]+` + noise + `|(?:从|由|将|把)(?:以下|下面的?|这段)?`)
	toWord   = regexp.MustCompile(`(?i)\b(?:target|output|destination|to)[ _-]?(?:language|lang|locale)["']?[ :=：]+(?:is )?|\b(?:target|tgt)[ \t]*[:=：]\s*|\b(?:in)?to[ :]+` + noise + `|\bprofessional |(?:翻译|译)(?:成|为|到)\s*|目标语言(?:是|为)?[：:]?\s*|专业的`)
	between  = regexp.MustCompile(`(?i)[ \t](?:in)?to[ \t]|` + arrow.String())
)

// noise may stand between a word and the name of a language.
const noise = `(?:(?:the|target|language|locale|lang|code|natural|fluent|native|formal|informal)[ =:]+){0,3}`

// languagesIn returns the languages named by instructions.
func languagesIn(instructions string) pair {
	if m := codes.FindStringSubmatch(instructions); m != nil && isCode(m[1], m[1:2]) && isCode(m[2], m[2:]) {
		return pair{m[1:2], m[2:]}
	}
	found := pair{namesAfter(fromWord, instructions), namesAfter(toWord, instructions)}
	for _, at := range between.FindAllStringIndex(instructions, mostWords) {
		from, okFrom := nameBefore(instructions[:at[0]])
		to, okTo := nameAt(instructions[at[1]:])
		switch {
		case !okFrom || !okTo:
		case len(found.to) == 0:
			found = pair{[]string{from}, []string{to}}
		case len(found.from) == 0 && len(found.to) == 1 && found.to[0] == to:
			found.from = []string{from}
		}
	}
	return found
}

// nameBefore finds a language's name, or its code, at the end of a text.
func nameBefore(text string) (code string, ok bool) {
	text = text[max(0, len(text)-longest):]
	text = text[strings.LastIndexAny(text, ".,;:\n")+1:]
	words := strings.Fields(strings.Trim(text, "*_`\"'”“」{}[]()<> \t"))
	for n := min(len(words), 3); n > 0; n-- {
		name := strings.Join(words[len(words)-n:], " ")
		if code, ok = language.Named(name); ok || n == 1 && len(words) == 1 && isCode(name, words[len(words)-1:]) {
			return cmp.Or(code, name), true
		}
	}
	return "", false
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
	if end := strings.IndexAny(head, ".,;:\n\"'”」`*{}[]<>/|?!。，：；、？！"); end >= 0 {
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
var code = regexp.MustCompile(`^(?:[a-z]{2,3}|[A-Z]{2,3}|[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,4}){1,2})$`)

// usual are common words that look like codes, as in "up to it".
var usual = map[string]bool{"it": true, "is": true, "no": true, "as": true, "or": true, "be": true, "am": true, "so": true, "to": true, "my": true,
	"he": true, "an": true, "me": true, "us": true, "hi": true, "do": true, "go": true, "in": true, "on": true, "id": true, "one": true,
	"per": true, "may": true, "ice": true, "arm": true, "mac": true, "rum": true, "geo": true}

// codes matches two languages by their codes, also if the codes look like words.
var codes = regexp.MustCompile(`(?i)\bfrom ([a-z]{2,3}(?:[-_][a-z]{2,4})?) (?:in)?to ([a-z]{2,3}(?:[-_][a-z]{2,4})?)\b`)

// isCode reports whether a word in the place of a language is a code: no word follows, or a word that usually follows languages.
func isCode(word string, words []string) bool {
	if !code.MatchString(word) {
		return false
	}
	if _, known := language.NameOf(language.Group(strings.ToLower(strings.ReplaceAll(word, "_", "-")))); !known {
		return false
	}
	return len(words) == 1 || slices.Contains([]string{"to", "into", "and", "in", "language", "locale"}, words[1]) || strings.ContainsAny(words[1][:1], "(-=→")
}

// Messages for a prompt without clear languages.
const (
	noStart   = "the message has instructions, and it is not clear where the text begins: send \"Translate from English to French:\", an empty line and the text, or name the model %s:en-fr and send only the text"
	otherTask = "this model translates, and does no other task, such as checking translations: set another one for tasks, or turn them off in the program's settings"
	noTarget  = "it is not clear into which language to translate: name the model %[1]s:fr or %[1]s:en-fr, or begin the message with \"Translate to French:\""
	severals  = "the messages name several target languages, %s: name one, or the model %s:fr"
	differs   = "the model's name says %q, the messages %q: leave one of them out"
)

// languages returns the languages of a call: from the model's name, or from its messages. model is the model's name in errors.
func (p prompt) languages(call *dialect.Call, model string, named pair) (from, to string) {
	inPrompt := pair{}
	if p.task {
		call.Fail(dialect.Refuse(otherTask))
		return "", ""
	}
	if p.unclear {
		call.Fail(dialect.Refuse(noStart, model))
		return "", ""
	}
	if p.form || named.none() {
		inPrompt = p.instructions.languages()
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
