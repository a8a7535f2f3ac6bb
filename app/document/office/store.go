package office

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"

	"dragoman/app/document/xmlpart"
)

// Word shows copies: content controls show elements of a store, which is a part of its own, and fields show texts in their codes.
// The store and the codes are translated like the copy, which Word would otherwise replace.

// storeName matches the stores of content controls.
var storeName = regexp.MustCompile(`^customXml/item\d+\.xml$`)

// storeGrammar rewrites the elements of a store that content controls show.
var storeGrammar = grammar{named("*", "*"): (*walker).storeElement}

// valued are the controls that show something other than the text of a store.
var valued = map[string]bool{"dropDownList": true, "comboBox": true, "date": true, "checkbox": true, "picture": true}

var pathPrefix = regexp.MustCompile(`/(?:[\w.-]+:)?([\w.-]+)(?:\[(\d+)\])?`)

// contentControl copies the properties of a content control, and remembers the path of the element that it shows.
func (w *walker) contentControl(start xmlpart.Token, out sink) {
	path, isText := "", true
	w.copy(start, out, func(t xmlpart.Token, out sink) {
		isText = isText && !valued[t.Name.Local]
		if t.Name.Local == "dataBinding" {
			path = t.Attribute("xpath")
		}
		w.element(t, out)
	})
	if isText && path != "" && len(w.shownPaths) < maxKept && len(path) < maxName {
		w.shownPaths[strings.ReplaceAll(pathPrefix.ReplaceAllString(path, "/$1[$2]"), "[]", "[1]")] = true
		w.remembered += len(path) + rememberedCost
	}
}

// store rewrites a store. One to which no content control refers is copied, and so is one in UTF-16.
func (w *walker) store(out io.Writer, in io.Reader, name string) error {
	buffered := bufio.NewReader(in)
	if head, _ := buffered.Peek(1); len(w.shownPaths) == 0 || string(head) != "<" && string(head) != "\xEF" {
		_, err := io.Copy(out, buffered)
		return err
	}
	w.siblings = map[string]int{}
	return w.part(out, buffered, name)
}

// storeElement rewrites an element of a store if a content control shows it.
func (w *walker) storeElement(start xmlpart.Token, out sink) {
	around := w.path
	defer func() { w.path = around }()
	w.path += "/" + start.Name.Local
	w.siblings[w.path]++
	w.remembered += rememberedCost + len(w.path)
	w.path += "[" + strconv.Itoa(w.siblings[w.path]) + "]"
	if w.shownPaths[w.path] {
		w.plain(start, out)
		return
	}
	w.inner(start, out)
}

// The texts in codes of fields: what stands before their quotation mark, by the name of the field, or does not.
var (
	codeTexts = map[string]*regexp.Regexp{
		"HYPERLINK":    regexp.MustCompile(`(?i)\\o\s*$`),
		"IF":           regexp.MustCompile(`(?i)[=<>]\s*("[^"]*"|[^\s"=<>]+)\s+("[^"]*"\s*)?$`),
		"FILLIN":       regexp.MustCompile(`(?i)FILLIN\s*$|\\d\s*$`),
		"ASK":          regexp.MustCompile(`(?i)ASK\s+\S+\s*$`),
		"QUOTE":        regexp.MustCompile(``),
		"XE":           regexp.MustCompile(`(?i)XE\s*$|\\t\s*$`),
		"TC":           regexp.MustCompile(`(?i)TC\s*$`),
		"AUTOTEXTLIST": regexp.MustCompile(`(?i)AUTOTEXTLIST\s*$|\\t\s*$`),
		"MERGEFIELD":   regexp.MustCompile(`(?i)\\[bf]\s*$`),
	}
	macroButton = regexp.MustCompile(`(?i)^(\s*MACROBUTTON\s+\S+\s+)(.+)$`)
	// macroButtonStart matches the start of the code of a button.
	macroButtonStart = regexp.MustCompile(`(?i)^\s*MACROBUTTON\b`)
	inCode           = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
)

// fieldCode copies a part of a field's code, with its texts translated.
func (w *walker) fieldCode(start xmlpart.Token, out sink) {
	before := w.fields.code()
	w.put(out, start.Raw)
	w.texted(out, func(text string) (code string) {
		whole, take := w.codeAhead(before, text)
		if code = text; len(before)+len(whole) < maxCode {
			if code = w.code(before, whole); code == whole {
				code = text
			} else {
				take()
			}
			before += text
		}
		return code
	})
}

// embedded copies a place where Word shows a file in the document.
func (w *walker) embedded(start xmlpart.Token, out sink) {
	if w.options.Left != nil {
		w.options.Left(0, 1, "embedded file (altChunk), which becomes text when Word saves the document")
	}
	w.verbatim(start, out)
}

// simpleField translates the texts in the code of a field that is one element.
func (w *walker) simpleField(start *xmlpart.Token) {
	start.Raw = []byte(w.shownTag(*start, []string{"instr"}, func(code string) string { return w.code("", code) }))
}

// maxCodeAhead is the maximum number of bytes read ahead for a text in a code.
const maxCodeAhead = 16 << 10

// codeAhead returns a part of a field's code with the rest of its last text, which Word may have divided between runs. take removes
// that rest from the following parts.
func (w *walker) codeAhead(before, text string) (whole string, take func()) {
	isButton := macroButtonStart.MatchString(before + text)
	isOpen := len(before) < maxCode && (isButton || strings.Count(before+text, `"`)%2 == 1)
	whole = text
	var parts []int
	size, rest, isInside := 0, "", true
	for i := 0; isOpen; i++ {
		if i == len(w.ahead) && (size >= maxCodeAhead || !w.readAhead()) {
			return text, func() {}
		}
		t := w.ahead[i]
		size += len(t.Raw)
		switch {
		case t.Name.Local == "instrText":
			isInside = t.Kind == xmlpart.Start
		case t.Name.Local == "fldChar" && !isButton, t.Name.Local == "p", len(whole) >= maxCode:
			return text, func() {}
		case t.Name.Local == "fldChar":
			isOpen = false
		case t.Kind == xmlpart.Text && isInside:
			end := strings.IndexByte(t.Text, '"') + 1
			if isOpen = isButton || end == 0; isOpen {
				end = len(t.Text)
			}
			whole, rest, parts = whole+t.Text[:end], t.Text[end:], append(parts, i)
		}
	}
	return whole, func() {
		for _, i := range parts {
			w.ahead[i].Text, w.ahead[i].Raw = "", nil
		}
		if len(parts) > 0 {
			last := &w.ahead[parts[len(parts)-1]]
			last.Text, last.Raw = rest, []byte(escape(rest))
			w.fields.open[len(w.fields.open)-1].code += whole[len(text):]
		}
	}
}

// code translates the texts in a part of a field's code, which follows another one.
func (w *walker) code(before, text string) string {
	if m := macroButton.FindStringSubmatch(text); m != nil {
		return m[1] + w.label(m[2])
	}
	name, _, _ := strings.Cut(strings.TrimSpace(before+text), " ")
	texts := codeTexts[strings.ToUpper(name)]
	if texts == nil {
		return text
	}
	pieces := strings.Split(text, `"`)
	quotes := strings.Count(before, `"`)
	for i, piece := range pieces {
		// A part that begins within quotation marks belongs to the text behind them.
		opened := before[:strings.LastIndexByte(before, '"')+1]
		if i > 0 {
			opened = before
		}
		if (quotes+i)%2 == 1 && texts.MatchString(strings.TrimSuffix(opened, `"`)) {
			entries := []string{piece}
			if strings.EqualFold(name, "XE") {
				entries = strings.Split(piece, ":")
			}
			for k, entry := range entries {
				label := w.label(entry)
				if label != entry {
					entries[k] = inCode.Replace(label)
				}
			}
			pieces[i] = strings.Join(entries, ":")
		}
		before += piece + `"`
	}
	return strings.Join(pieces, `"`)
}
