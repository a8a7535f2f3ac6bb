package markup

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
	"dragoman/app/text/entity"
	"dragoman/app/text/language"
)

// check compares a translation with its sentence, each without the spans that are masked.
type check struct {
	sentence            Sentence
	source, translation string
}

// run returns the first error of symbols, acronyms and brackets. translation are the signs of the translation.
func (c check) run(translation signSet) error {
	source := signsIn(c.source)
	if (source|translation)&counted != 0 || slices.ContainsFunc(c.sentence.Spans, func(s Span) bool { return s.Kind == Sign || s.Kind == Code }) {
		if err := c.symbols(); err != nil {
			return err
		}
	}
	if source&capitals != 0 {
		if err := c.acronyms(); err != nil {
			return err
		}
	}
	if (source|translation)&enclosing != 0 {
		return c.brackets()
	}
	return nil
}

// signSet tells which checks a text may need: most sentences need none.
type signSet uint8

const (
	counted   signSet = 1 << iota // signs that symbolsOf may count
	enclosing                     // signs that check.brackets compares
	capitals                      // two capitals in a row
	digit
	brace
	starting // signs with which tags, placeholders, addresses and Markdown start
	capital  // the last character
)

// asciiSigns are the signSets of ASCII.
var asciiSigns = func() (table [utf8.RuneSelf]signSet) {
	for c, set := range map[string]signSet{signs: counted, `()[]\`: enclosing, "{}": brace, digits: digit, upperCase: capital, signs + "%$:": starting} {
		for i := range len(c) {
			table[c[i]] |= set
		}
	}
	return table
}()

// signsIn returns the signs of a text, in one pass.
func signsIn(text string) (set signSet) {
	before := signSet(0)
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			now := asciiSigns[c]
			set |= now
			if now&before&capital != 0 {
				set |= capitals
			}
			before = now
			i++
			continue
		}
		r, n := char.Decode(text, i)
		before = 0
		if i += n; char.IsPlainLetter(r) {
			continue
		}
		if unicode.IsDigit(r) {
			set |= digit
		}
		if char.OneOfRunes(r, "（）【】［］「“") {
			set |= enclosing
		}
		if isResidue(r) || char.OneOfRunes(r, "→⇒▸＞＜【】［］〔〕") {
			set |= counted
		}
	}
	return set
}

// symbols returns an error that wraps ErrLost if the counts of a sign, symbol, operator or word in square brackets differ between
// source and translation, or those of a letter that is a soft span, or of quotes if they delimit the translated text. It counts in
// the texts themselves, independently of the recognizers, and so detects spans that they missed.
func (c check) symbols() error {
	s := c.sentence
	want, got := symbolsOf(c.source), symbolsOf(c.translation)
	for text := range got {
		if want[text] == 0 && strings.Contains(s.Text, text) { // a translation may have signs that are not in the sentence
			want[text] = 0
		}
	}
	seen := map[string]bool{}
	for i, span := range s.Spans {
		text := s.spanText(i)
		switch {
		case span.Kind == Code && text[0] == '"': // the closing quote of a line in a message file
			want[`"`], got[`"`] = strings.Count(c.source, `"`), strings.Count(c.translation, `"`)
		case span.Kind != Sign || seen[text]:
		case len(seen) == mostNames:
			return errManyNames
		case isLetterAlone(text):
			if n, m := c.letters(text); n != m {
				want[text], got[text] = n, m
			}
		case len(text) > 1 && (text != "''" || twoApostrophes.MatchString(c.source)) && !strings.ContainsFunc(text, char.IsWord) && !strings.HasSuffix(text, ">"):
			want[text], got[text] = strings.Count(c.source, text), strings.Count(c.translation, text)
		}
		seen[text] = seen[text] || span.Kind == Sign
	}
	for text, n := range want {
		if m := got[text]; n != m {
			return fmt.Errorf("%w: a symbol is there %d times, %d in the translation", ErrLost, n, m)
		}
	}
	return nil
}

// twoApostrophes matches the apostrophe of an ICU message within a word: elsewhere, two are a quote.
var twoApostrophes = regexp.MustCompile(`\pL''\pL`)

// letters counts a letter by itself in the source and in the translation, where it may be a word.
func (c check) letters(letter string) (want, got int) {
	want, got = countApart(c.source, letter), countApart(c.translation, letter)
	switch {
	case want == 0:
		return 0, 0
	case got < want:
		got += countApart(c.translation, otherCase(letter)) // the y direction, Y-Richtung
	}
	if got < want && (letter == "x" && strings.Contains(c.translation, "×") || entity.Says(letter, c.translation, c.sentence.to)) {
		got = want // 2 s, 2 秒
	}
	isWord := strings.Contains(letterWords[c.sentence.to], strings.ToLower(letter))
	if got > want && isWord || got < want && unicode.IsUpper(char.First(letter)) && strings.Count(c.sentence.Text, " ") > 1 { // the X direction is horizontal
		got = want
	}
	return want, got
}

// symbolsOf counts the symbols and the words in square brackets in a text.
func symbolsOf(text string) map[string]int {
	count := map[string]int{}
	for _, name := range bracketedName.FindAllStringSubmatch(text, -1) {
		if name[1] != "sic" {
			count[name[1]]++
		}
	}
	text = oldQuotes.ReplaceAllString(wideBrackets.Replace(text), "")
	for i, r := range text {
		if isResidue(r) || r < utf8.RuneSelf && char.OneOfRunes(r, signs) && (r != '#' || !isNumberSign(text, i)) {
			count[string(r)]++
		}
	}
	return count
}

var (
	bracketedName = regexp.MustCompile(`\[([A-Za-z][\w-]+)\](?:[^(\[:]|$)`)
	// oldQuotes matches text in the quotes of old programs: `name'.
	oldQuotes = regexp.MustCompile("`[^`'\n]{1,64}'")
	// wideBrackets are forms of signs in Chinese and Japanese, and of arrows, which stand for > between the names of menus.
	wideBrackets = strings.NewReplacer("-->", ">", "->", ">", "=>", ">", "→", ">", "⇒", ">", "▸", ">", "＞", ">", "＜", "<", "【", "[", "】", "]", "［", "[", "］", "]", "〔", "[", "〕", "]")
)

// isNumberSign reports whether the # at byte i stands for "number", for which languages have other signs.
func isNumberSign(text string, i int) bool {
	if strings.HasPrefix(text[i+1:], " of ") { // # of entries
		return true
	}
	next, before := char.First(text[i+1:]), char.Last(strings.TrimRight(text[:i], " "))
	return unicode.IsDigit(next) || char.OneOfRunes(next, "%{") || i > 0 && unicode.IsLetter(before) && char.OneOfRunes(next, ":.,)")
}

// isResidue reports whether r is a symbol that no sentence needs. Currencies, minus signs and percents are compared with numbers.
func isResidue(r rune) bool {
	switch {
	case r < utf8.RuneSelf, char.IsMinus(r), isArrow(r), r >= 0xFF00 && r <= 0xFF5E, r == removedRune, r == '\uFFFD', char.OneOfRunes(r, "°～×▸►"):
		return false
	}
	return unicode.In(r, unicode.Sm, unicode.So) || char.OneOfRunes(r, "‰‱•‣※‖§¶†‡")
}

// acronyms returns an error that wraps ErrLost if an acronym of the source is missing in the translation and one that looks
// like it has come in: NYC must not become NYK. A translation may have words for an acronym, or for a word in capitals.
func (c check) acronyms() error {
	want := acronyms(c.source)
	if len(want) == 0 || strings.IndexFunc(c.source, unicode.IsLower) < 0 {
		return nil
	}
	got := acronyms(c.translation)
	missing, fresh := 0, 0
	for word := range want {
		if got[word] == 0 {
			missing++
		}
	}
	for word := range got {
		if want[word] == 0 {
			fresh++
		}
	}
	if missing > 0 && fresh > missing+1 {
		return fmt.Errorf("%w: words in capitals came in", ErrLost)
	}
	initials := initialsOf(c.translation)
	for word, n := range want {
		c.sentence.looks.Past(len(word))
		if got[word] >= n {
			continue
		}
		if untranslated[word] && !strings.Contains(strings.ToUpper(c.translation), word) {
			return fmt.Errorf("%w: an acronym is missing", ErrLost)
		}
		if len(word) > 2 && strings.Contains(initials, word) { // New York City
			continue
		}
		for other := range got {
			if want[other] == 0 && !strings.Contains(c.source, other) && resembles(word, other) {
				return fmt.Errorf("%w: an acronym was changed", ErrLost)
			}
		}
	}
	return nil
}

// initialsOf returns the first byte of each word of a text.
func initialsOf(text string) string {
	var initials []byte
	for word := range strings.FieldsSeq(text) {
		initials = append(initials, word[0])
	}
	return string(initials)
}

// resembles reports whether one acronym may be a distorted other one: one letter differs, or a short one without vowels has the
// same first letter. Translations of acronyms have other letters, or the same ones in another order, as NATO and OTAN.
func resembles(a, b string) bool {
	const short, long = 4, 6
	if max(len(a), len(b)) > longestAcronym || isAnagram(a, b) || translated[a+" "+b] {
		return false
	}
	prefix := 0
	for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < min(len(a), len(b))-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return max(len(a), len(b))-prefix-suffix <= 1 && len(a) <= long || prefix > 0 && len(a) <= short && !strings.ContainsAny(a, "AEIOU")
}

// untranslated are names of programs and formats, for which no language has words.
var untranslated = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq("NULL JSON XML HTML HTTP HTTPS PDF API SQL CSV CSS PNG GIF DOCX XLSX SMS IBM NASA YAML SSH FTP IBAN VPN WLAN") {
		set[word] = true
	}
	return set
}()

// translated are acronyms whose translations look like them.
var translated = map[string]bool{"RGB RVB": true, "RGB RVA": true, "RGBA RVBA": true, "HSV TSV": true, "HSL TSL": true, "HSB TSL": true,
	"RGBE RVBE": true, "BGR BVR": true, "CMY CMJ": true, "CMYK CMJN": true, "CJK CJC": true, "AI KI": true, "HP TP": true, "BG HG": true, "FG VG": true,
	"US USA": true, "US UU": true, "USA UU": true, "PPI PPP": true, "DPI PPP": true, "GDP PIB": true, "DC CC": true, "UAE VAE": true, "ECB EZB": true, "JPEG JPG": true, "JPG JPEG": true, "NOT NON": true, "OR OU": true, "TIP TIPP": true, "MIN MN": true}

// longestAcronym is the maximum length of an acronym that is compared.
const longestAcronym = 16

// acronyms counts the words of two or more capitals in a text, also with digits or a plural ending.
func acronyms(text string) map[string]int {
	count := map[string]int{}
	for end := 0; end < len(text); end++ {
		start := end
		for end < len(text) && text[end] >= 'A' && text[end] <= 'Z' {
			end++
		}
		if end-start > 1 && !isNamePart(char.Last(text[:start])) && !isNamePart(char.First(text[end:])) { // ENTRÉE has none
			count[text[start:end]]++
		}
	}
	return count
}

var isNamePart = isWordOr("_")

// isAnagram reports whether two words have the same letters, as NATO and OTAN do.
func isAnagram(a, b string) bool {
	sorted := func(word string) string {
		letters := []byte(word)
		slices.Sort(letters)
		return string(letters)
	}
	return sorted(a) == sorted(b)
}

// brackets returns an error that wraps ErrLost if the brackets of a translation are not in pairs where those of the source
// are, or if an aside in brackets is missing: one short word, or the whole text. Longer asides are often written in another way.
// Square brackets, commas, dashes and colons may stand for round brackets.
func (c check) brackets() error {
	source, translation := strings.ReplaceAll(c.source, removed, ""), c.translation
	want, got := parenthesesOf(source), parenthesesOf(translation)
	folded := wideRound.Replace(translation)
	for _, name := range label.FindAllString(wideRound.Replace(source), -1) {
		if !strings.Contains(folded, name) {
			return fmt.Errorf("%w: a letter in brackets is missing", ErrLost)
		}
	}
	switch {
	case c.isEmptied():
		return fmt.Errorf("%w: brackets have nothing in them any more", ErrLost)
	case want.open == want.closed && got.open != got.closed:
		return fmt.Errorf("%w: a bracket is missing", ErrLost)
	case got.open < want.open && countPauses(translation) <= countPauses(source) && c.lacksAside(source):
		return fmt.Errorf("%w: %d brackets, %d in the translation", ErrLost, want.open, got.open)
	}
	return nil
}

// lacksAside reports whether the source has a short aside, or is one, that the translation without its brackets lacks: a translation
// that has the aside in other words (Pattern (fill), Motif de fond) is about as long as the source.
func (c check) lacksAside(source string) bool {
	found := shortAside.FindString(source)
	if found == "" {
		return false
	}
	from, to := c.sentence.from, c.sentence.to
	whole, aside := language.Length(source, from), language.Length(found[:strings.LastIndexAny(found, ")）】")], from)
	return from == "" || aside == whole || language.Length(c.translation, to) < whole-aside/2
}

// isEmptied reports whether brackets or quotes have nothing in them any more.
func (c check) isEmptied() bool {
	n := len(emptied.FindAllString(c.translation, -1))
	return n > 0 && n > len(emptied.FindAllString(c.source, -1))
}

// shortAside matches a text with an aside of one short word, and a text that is one aside.
var shortAside = regexp.MustCompile(`[(（]\s*(?:[abd-qs-zA-Z]|\pL\p{Ll}{2,5}|\p{Lo}{1,6})\s*[)）](?:\P{Ll}|$)|【[^】]{1,12}】|^\s*[(（].*[)）]\s*$`)

// label matches the letter of a button or of an item of a list.
var label = regexp.MustCompile(`\([A-Z]\)`)

var wideRound = strings.NewReplacer("（", "(", "）", ")")

// countPauses counts the signs that set a part of a sentence apart.
func countPauses(text string) (n int) {
	for _, r := range text {
		if char.OneOfRunes(r, ",:;–—、，：；،") {
			n++
		}
	}
	return n
}

type parentheses struct{ open, closed int }

// parenthesesOf counts the round brackets of a text, without those of endings, as in year(s).
func parenthesesOf(text string) (count parentheses) {
	for _, r := range ending.ReplaceAllString(text, "") {
		switch r {
		case '(', '（', '[', '【', '［':
			count.open++
		case ')', '）', ']', '】', '］':
			count.closed++
		}
	}
	return count
}

var emptied = regexp.MustCompile(`(?:^|[^\pL\pN_])[(（]\s*[)）]|\[\s*\]|「\s*」|“\s*”|\\"\s*\\"`)

var ending = regexp.MustCompile(`[\p{Lu}\p{Ll}]\(\p{Ll}{1,4}\)`)

// IsCapitals reports whether the sentence is one word in capitals: NULL, or EXIT.
func (s Sentence) IsCapitals() bool { return capitalForm.MatchString(s.Text) }

const removedRune = '\uFFFC'

// mostNames limits the number of different names counted in a sentence and its translation, as each is searched in both. A
// sentence that fits a model has fewer.
const mostNames = 256

var errManyNames = fmt.Errorf("%w: more than %d names to compare", ErrLost, mostNames)

// countApart counts the occurrences of a name by itself.
func countApart(text, name string) (count int) {
	for range apartIn(text, name) {
		count++
	}
	return count
}

// apartIn yields the positions at which a name occurs by itself: no word or number continues at either end.
func apartIn(text, name string) iter.Seq[int] {
	return func(yield func(start int) bool) {
		for at := 0; ; at += len(name) {
			n := strings.Index(text[at:], name)
			if n < 0 {
				return
			}
			at += n
			if !continues(text[:at], name, text[at+len(name):]) && !yield(at) {
				return
			}
		}
	}
}

// continues reports whether a word or a number continues beyond a name between two texts.
func continues(before, name, behind string) bool {
	first, last := char.First(name), char.Last(name)
	return char.IsWord(char.Last(before)) && (char.IsWord(first) || first == '-') || char.IsWord(char.First(behind)) && char.IsWord(last) ||
		unicode.IsDigit(first) && numberBefore.MatchString(before[max(0, len(before)-4):]) ||
		unicode.IsDigit(last) && numberBehind.MatchString(behind[:min(len(behind), 8)])
}

var (
	numberBefore = regexp.MustCompile(`(?:^|[^\pL\pN\pP]|\p{Ps})[-−]$|\d[.,]$`)
	numberBehind = regexp.MustCompile(`^(?:[.,]\d|[ \x{a0}\x{202f}]\d{3}(?:\D|$))`)
)

// otherCase returns a letter in the other case.
func otherCase(text string) string {
	if upper := strings.ToUpper(text); upper != text {
		return upper
	}
	return strings.ToLower(text)
}

// isLetterAlone reports whether a text is one letter, with its marks.
func isLetterAlone(text string) bool {
	r, n := char.Decode(text, 0)
	return unicode.IsLetter(r) && strings.TrimFunc(text[n:], unicode.IsMark) == ""
}
