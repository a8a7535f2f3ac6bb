package deepl

import (
	"slices"
	"strings"

	"dragoman/app/api/dialect"
	"dragoman/app/memory"
	"dragoman/app/text/markup"
	"dragoman/app/translate"
)

// options are the translation options of a request.
type options struct {
	format  translate.Format
	whole   bool   // each text is one sentence
	wrapped bool   // a line break ends no sentence
	model   string // model_type, repeated in the answer; "" if not given
	billed  bool   // the characters of each text are requested
	memory  *translate.MemoryRef
	ignored ignored
	outline markup.Outline // division of XML into units
}

// readOptions reads the options of a request and refuses unsupported ones.
func readOptions(fields dialect.Fields) (o options) {
	chosen := func(name string, values ...string) string {
		value := fields.Text(name)
		if value != "" && !slices.Contains(values, value) {
			fields.Fail(unsupported(name, "Use one of "+strings.Join(values, ", ")+"."))
		}
		return value
	}
	split := chosen("split_sentences", "0", "1", "nonewlines")
	o.whole, o.wrapped = split == "0", split == "nonewlines"
	formality := chosen("formality", "default", "more", "less", "prefer_more", "prefer_less")
	o.format = translate.Format(chosen("tag_handling", "xml", "html"))
	chosen("tag_handling_version", "v1", "v2")
	o.model = strings.TrimPrefix(chosen("model_type", "quality_optimized", "prefer_quality_optimized", "latency_optimized"), "prefer_")
	if formality == "more" || formality == "less" {
		fields.Fail(dialect.Refuse("'formality' is not supported for given 'target_lang'."))
	}
	if o.format != "" {
		o.ignored = ignored{}
		for _, name := range fields.Names("ignore_tags") {
			o.ignored[name] = true
		}
	}
	// Options that the translation would not reflect.
	for _, missing := range []struct{ name, hint string }{
		{"style_id", "This server has no style rules."},
		{"custom_instructions", "This server takes no instructions."},
	} {
		if fields.Given(missing.name) {
			fields.Fail(unsupported(missing.name, missing.hint))
		}
	}
	o.readMemory(fields)
	o.readOutline(fields)
	fields.Bool("preserve_formatting")
	o.billed = fields.Bool("show_billed_characters")
	return o
}

// readMemory reads the fields about a translation memory. Without a threshold only the translations of equal sentences are used.
func (o *options) readMemory(fields dialect.Fields) {
	id := fields.Text("translation_memory_id")
	percent, valid := fields.Number("translation_memory_threshold")
	if id == "" {
		return
	}
	o.memory = &translate.MemoryRef{ID: id}
	if !fields.Given("translation_memory_threshold") {
		return
	}
	if !valid || percent < 0 || percent > 100 {
		fields.Fail(unsupported("translation_memory_threshold", "Use a number from 0 to 100."))
		return
	}
	o.memory.Least = max(float64(percent)/100, memory.NearLeast)
}

// readOutline reads the fields for the segmentation of XML. For texts of other formats the fields are only checked.
//
// Line breaks end sentences of XML, as at DeepL, unless split_sentences is nonewlines or 0.
func (o *options) readOutline(fields dialect.Fields) {
	outline := markup.Outline{
		Splitting: fields.Names("splitting_tags"), NonSplitting: fields.Names("non_splitting_tags"),
		Undetected: !fields.Bool("outline_detection") && fields.Given("outline_detection"), Lines: !o.wrapped && !o.whole,
	}
	if o.format == translate.XML {
		o.outline = outline
	}
}

// noTranslate is the HTML attribute that excludes an element from translation.
const noTranslate = ` translate="no"`

// ignored are the names of elements whose text is not translated, from ignore_tags.
//
// The service recognizes such elements by an attribute, so their start tags get the attribute before the translation and lose it
// afterwards. Every start tag of these names gets the attribute, even if it has one already. So each removed attribute was added
// before, and unmark(mark(text)) is text for any text.
type ignored map[string]bool

// mark adds the attribute to the start tags of the elements. A text of more than most characters, 0 for no limit, is unchanged:
// because it will be refused.
func (ig ignored) mark(text string, most int) string {
	if len(ig) > 0 && translate.TooLong(text, most) {
		return text
	}
	return ig.edit(text, func(out *strings.Builder, rest string) string {
		out.WriteString(noTranslate)
		return rest
	})
}

// unmark removes the attributes added by mark.
func (ig ignored) unmark(text string) string {
	return ig.edit(text, func(_ *strings.Builder, rest string) string {
		return strings.TrimPrefix(rest, noTranslate)
	})
}

// glue removes spaces that a translation has before an ignored element and that its source, without marks, does not have: languages
// with spaces between sentences add them. A space inside quotation marks stays.
func (ig ignored) glue(source, translation string) string {
	before, after := ig.places(source), ig.places(translation)
	if len(before) != len(after) {
		return translation
	}
	var out strings.Builder
	end := 0
	for i := range after {
		lead, between := source[:before[i]], translation[end:after[i]]
		if lead != "" && !strings.ContainsAny(lead[len(lead)-1:], " \t\r\n\"'") && sameElement(source[before[i]:], translation[after[i]:]) {
			between = strings.TrimRight(between, " ")
		}
		out.WriteString(between)
		end = after[i]
	}
	return out.String() + translation[end:]
}

// places returns the starts of the elements.
func (ig ignored) places(text string) (at []int) {
	ig.edit(text, func(out *strings.Builder, rest string) string {
		at = append(at, strings.LastIndexByte(text[:len(text)-len(rest)], '<'))
		return rest
	})
	return at
}

// sameElement reports whether two texts begin with the same start tag and text.
func sameElement(one, other string) bool {
	next := func(text string) string {
		if end := strings.IndexByte(text[1:], '<'); end >= 0 {
			text = text[:1+end]
		}
		if tag, _, _ := strings.Cut(text, ">"); strings.HasSuffix(tag, "/") {
			return tag
		}
		return text
	}
	return next(one) == next(other)
}

// edit calls after at the end of the name of each start tag, with the remaining text, and continues with its result. Writes to
// out come before that.
func (ig ignored) edit(text string, after func(out *strings.Builder, rest string) string) string {
	if len(ig) == 0 {
		return text
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteByte('<')
		end := strings.IndexAny(rest, " \t\r\n\f/><")
		if end < 0 {
			end = len(rest)
		}
		out.WriteString(rest[:end])
		text = rest[end:]
		if ig[rest[:end]] && text != "" && text[0] != '<' {
			text = after(&out, text)
		}
	}
}
