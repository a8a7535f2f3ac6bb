package remote

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/language"
	"dragoman/model/prompt"
)

// Reader reads the answers of language models. It is immutable and safe for concurrent use.
//
// What surely is no part of a translation is taken off: thinking, marks of a chat template, a wrapper, a label, the source before
// its translation, a note after it. Something counts as such only if the source has nothing like it. What remains is compared with
// the source: an answer that is much longer, has more paragraphs, is in another language or refuses has a fault.
type Reader struct {
	detector language.Detector // nil: the languages of answers are not checked
	names    map[string][]string
}

// NewReader returns a reader of answers in some languages. names are the names of languages by code, as answers may have them.
func NewReader(names map[string][]string) *Reader {
	r := &Reader{names: names}
	var known []string
	for code := range names {
		if name, ok := language.NameOf(code); ok {
			known = append(known, code)
			r.names[code] = append(slices.Clone(names[code]), name.English, name.Own)
		}
	}
	slices.Sort(known)
	r.detector, _ = language.NewDetector(language.DetectorConfig{Languages: known}) // nil without known languages
	return r
}

// Read returns the translation in an answer to a source, and what is wrong with it.
func (r *Reader) Read(source, answer, from, to string) (string, prompt.Fault) {
	text := strings.ReplaceAll(strings.ReplaceAll(answer, "\r\n", "\n"), "\x00", "")
	text, ok := withoutThinking(source, text)
	if !ok {
		return "", prompt.Refused
	}
	text = unwrap(source, withoutMarks(source, text))
	text = r.withoutLabel(source, text, to)
	text = withoutSource(source, text)
	text = unwrap(source, r.withoutLabel(source, withoutNote(source, text), to))
	switch {
	case refuses(source, text):
		return "", prompt.Refused
	case paragraphs(text) > paragraphs(source) && lines(text) > lines(source), isTooLong(source, text, from, to):
		return text, prompt.Chatter
	case r.isOther(source, text, to):
		return text, prompt.OtherLanguage
	}
	return text, prompt.NoFault
}

// thinking begins an answer of a model that thinks aloud; its end may be missing.
var thinking = regexp.MustCompile(`(?is)^\s*<(think|thinking|thought|reasoning|analysis|scratchpad)>.*?(</(think|thinking|thought|reasoning|analysis|scratchpad)>|$)`)

// thoughtEnd ends the thinking of a model whose chat template begins it.
var thoughtEnd = regexp.MustCompile(`(?i)</(think|thinking|thought|reasoning)>`)

// withoutThinking takes thinking off; ok is false if nothing follows it.
func withoutThinking(source, text string) (rest string, ok bool) {
	if thinking.MatchString(source) || thoughtEnd.MatchString(source) {
		return text, true
	}
	rest = thinking.ReplaceAllString(text, "")
	if ends := thoughtEnd.FindAllStringIndex(rest, -1); len(ends) > 0 {
		rest = rest[ends[len(ends)-1][1]:]
	}
	rest = strings.TrimSpace(rest)
	return rest, rest != "" || strings.TrimSpace(text) == ""
}

// marks are those of chat templates, which servers should not pass on.
var marks = regexp.MustCompile(`<\|[a-z_]{2,30}\|>|<｜[^｜<>]{2,30}｜>|<(start|end)_of_turn>|</?s>|\[/?INST\]`)

// withoutMarks takes the marks of chat templates off both ends.
func withoutMarks(source, text string) string {
	if marks.MatchString(source) {
		return text
	}
	for found := marks.FindStringIndex(text); found != nil && strings.TrimSpace(text[:found[0]]) == ""; found = marks.FindStringIndex(text) {
		text = strings.TrimPrefix(text[found[1]:], "assistant\n")
	}
	if found := marks.FindStringIndex(text); found != nil { // what follows the end of a turn is another turn
		text = text[:found[0]]
	}
	return strings.TrimSpace(text)
}

// wrappers are the ends of wrappers that a translation has only if its source has them.
var wrappers = [][2]*regexp.Regexp{
	{regexp.MustCompile("^```[a-zA-Z]*\n"), regexp.MustCompile("\n?```$")},
	{regexp.MustCompile(`(?i)^<(target|translation|translated|output|result)>`), regexp.MustCompile(`(?i)</(target|translation|translated|output|result)>$`)},
	{regexp.MustCompile(`(?i)^\{\s*"(translation|translated_?text|target|text|output)"\s*:\s*"`), regexp.MustCompile(`"\s*\}$`)},
	{regexp.MustCompile(`^\*\*`), regexp.MustCompile(`\*\*$`)},
	{regexp.MustCompile(`^["“”„«「『]`), regexp.MustCompile(`["“”»」』]$`)},
}

// quotes are all quotation marks.
const quotes = `"“”„«»「」『』`

// unwrap takes off wrappers around a whole answer.
func unwrap(source, text string) string {
	text, source = strings.TrimSpace(text), strings.TrimSpace(source)
	for _, w := range wrappers {
		start, end := w[0].FindString(text), w[1].FindString(text)
		if start == "" || end == "" || len(start)+len(end) >= len(text) || w[0].MatchString(source) || w[1].MatchString(source) {
			continue
		}
		inner := text[len(start) : len(text)-len(end)]
		if strings.ContainsAny(start, quotes) && len(start) < 4 && strings.ContainsAny(inner, quotes) { // two quotations
			continue
		}
		if strings.HasPrefix(start, "{") {
			inner = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(inner)
		}
		text = strings.TrimSpace(inner)
	}
	return text
}

// preamble is a line that announces a translation, in the languages in which models do.
var preamble = regexp.MustCompile(`(?i)^(\*\*|#+ ?)?(sure|certainly|of course|okay|ok|here|the|this|below|voici|bien sûr|hier|natürlich|gerne|aquí|claro|por supuesto|ecco|certo|` +
	`вот|конечно|以下|好的|当然|这是|translation|translated text|answer|output|翻译|译文|翻訳|訳文|번역|traduction|übersetzung|traducción|tradução|traduzione|перевод)` +
	`[^\n:：]{0,120}[:：](\*\*)?[ \t]*(\n|$)`)

// withoutLabel takes off a line that announces the translation, or a label such as "French:" before it.
func (r *Reader) withoutLabel(source, text, to string) string {
	if first, _, _ := strings.Cut(source, "\n"); strings.ContainsAny(first, ":：") {
		return text
	}
	if found := preamble.FindString(text); found != "" && len(found) < len(text) {
		return strings.TrimSpace(text[len(found):])
	}
	label, rest, ok := strings.Cut(text, ":")
	if !ok || strings.Contains(label, "：") {
		label, rest, ok = strings.Cut(text, "：")
	}
	rest = strings.TrimSpace(strings.TrimPrefix(rest, "**"))
	if !ok || rest == "" || len(label) > 60 {
		return text
	}
	label = strings.TrimSpace(strings.Trim(label, "*[]# "))
	known := append([]string{"translation", "translated text", "target", "output", "answer", "翻译", "译文", "翻訳", "번역", "traduction", "übersetzung", "traducción"}, r.names[to]...)
	for _, name := range known {
		if strings.EqualFold(label, name) || strings.EqualFold(label, name+" translation") || strings.EqualFold(label, "translation ("+name+")") {
			return rest
		}
	}
	return text
}

// withoutSource takes off the source before its translation.
func withoutSource(source, text string) string {
	source = strings.TrimSpace(source)
	rest, ok := strings.CutPrefix(text, source)
	if !ok || len(letters(source)) < 3 {
		return text
	}
	after := strings.TrimLeft(rest, " \t")
	for _, separator := range []string{"\n", "→", "->", "=>", "= "} {
		if inner, ok := strings.CutPrefix(after, separator); ok && len(letters(inner)) > 0 {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// note begins a line that is no translation.
var note = regexp.MustCompile(`(?i)^[\s(\[*_#>（【-]{0,6}(note|notes|explanation|explanations|translator'?s note|n\.?b\.?|literal(ly)?( translation)?|alternative(ly|s)?|pronunciation|` +
	`breakdown|context|please note|let me know|i hope|feel free|if you|would you|remarque|note du traducteur|hinweis|anmerkung|erklärung|nota|notas|explicación|nota do tradutor|` +
	`примечание|пояснение|注|注意|说明|备注|解释|注释|译注|補足|備考|説明|참고|설명)([:：*_)）】\] ,]|$)`)

// withoutNote takes off what follows the translation from a line with a note on.
func withoutNote(source, text string) string {
	for line := range strings.Lines(source) {
		if note.MatchString(line) {
			return text
		}
	}
	at := 0
	for line := range strings.Lines(text) {
		if at > 0 && note.MatchString(line) {
			return strings.TrimRight(text[:at], " \t\n-*_")
		}
		at += len(line)
	}
	return text
}

// refusal is how models refuse, or say what they are; declines is how people decline in the same languages.
var (
	refusal = regexp.MustCompile(`(?i)^[^.!?。]{0,60}?(\bas an? (ai|language|assistant)\b|\bi('m| am) (an ai|a language model|unable|not able|sorry)|\bsorry\b|\bi (can ?not|can['’]t|won['’]t|do not|don['’]t) ` +
		`|\bi apologi[sz]e|en tant qu['’](ia|assistant|intelligence)|je suis désolée?|je ne (peux|suis) pas|als (ki|sprachmodell)|es tut mir leid|ich kann (das|diese|ihnen|dir|leider|nicht)|lo siento|no puedo|como (ia|modelo|inteligencia)` +
		`|desculpe|não posso|mi dispiace|non posso|извините|я не могу|как (ии|языковая модель)|抱歉|对不起|作为(一个|一名)?(ai|人工智能|语言模型)|我(无法|不能)|申し訳|できません|죄송)`)
	declines = regexp.MustCompile(`(?i)sorry|apolog|can ?not|can['’]t|won['’]t|unable|don['’]t|do not|désolé|ne p(eux|ouvons)|leid|kann .{0,20}nicht|nicht .{0,20}k[oa]nn|siento|no pued|desculp|não poss|dispiac|non poss` +
		`|извин|не мог|прост|抱歉|对不起|无法|不能|申し訳|すみません|できません|죄송|\bai\b|assistant|language model|sprachmodell|人工智能|语言模型`)
	meta = regexp.MustCompile(`(?i)translat|assist|help|provide|comply|content|request|language|traduc|traduire|aide|übersetz|helf|hilfe|ayud|перев|помо|翻译|协助|帮助|提供|回答|翻訳|お手伝い|번역|도와`)
)

// refuses reports whether an answer refuses something that the source does not.
func refuses(source, text string) bool {
	return refusal.MatchString(text) && meta.MatchString(text) && !declines.MatchString(source)
}

// An answer is too long if it is longer than any translation by people, in lengths that are comparable between languages.
const mostTimes, moreLength = 2.5, 30

func isTooLong(source, text, from, to string) bool {
	return language.Length(text, to) > mostTimes*language.Length(source, from)+moreLength
}

func lines(text string) int { return strings.Count(strings.TrimSpace(text), "\n") }

func paragraphs(text string) int { return strings.Count(strings.TrimSpace(text), "\n\n") }

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, text)
}

// Limits of the check of languages: shorter texts, and less sure detections, say nothing.
const fewestLetters, surely = 24, 0.95

// isOther reports whether a text is surely in another language than to. Words that it has in common with the source, such as names,
// do not count, and languages that are written alike are not told apart.
func (r *Reader) isOther(source, text, to string) bool {
	if r.detector == nil {
		return false
	}
	own := make(map[string]bool)
	for _, word := range strings.Fields(source) {
		own[word] = true
	}
	var rest []string
	for _, word := range strings.Fields(text) {
		if !own[word] {
			rest = append(rest, word)
		}
	}
	changed := strings.Join(rest, " ")
	if utf8.RuneCountInString(letters(changed)) < fewestLetters {
		return false
	}
	code, confidence, ok := r.detector.Detect(changed)
	return ok && confidence >= surely && !alike(code, to)
}

// closeGroups are groups of languages whose texts are often taken for each other.
var closeGroups = [][]string{
	{"no", "nb", "nn", "da", "sv"}, {"hr", "bs", "sr", "sl", "mk", "bg"}, {"id", "ms", "jv", "su"}, {"cs", "sk"}, {"es", "gl", "ca", "ast", "pt", "oc"},
	{"af", "nl", "fy", "lb"}, {"ru", "uk", "be", "bg", "kk", "mn"}, {"zh", "yue", "ja"}, {"hi", "mr", "ne"}, {"ar", "fa", "ur", "ug", "ps"}, {"tr", "az", "uz"}, {"tl", "ceb", "ilo"},
}

func alike(a, b string) bool {
	if language.Group(a) == language.Group(b) {
		return true
	}
	a, b = language.Base(a), language.Base(b)
	return slices.ContainsFunc(closeGroups, func(group []string) bool { return slices.Contains(group, a) && slices.Contains(group, b) })
}
