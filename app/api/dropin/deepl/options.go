package deepl

import (
	"slices"
	"strings"

	"dragoman/app/api/dialect"
	"dragoman/app/text/markup"
	"dragoman/app/translate"
)

// options are how a request wants its texts translated.
type options struct {
	format  translate.Format
	whole   bool   // each text is one sentence
	wrapped bool   // a line break ends no sentence
	model   string // model_type, as the answer repeats it; "" where it is not asked for
	billed  bool   // the characters of each text are asked for
	ignored ignored
	outline markup.Outline // of XML
}

// readOptions reads the options of a request and refuses what cannot be done.
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
	// What a translation would not show.
	for _, missing := range []struct{ name, hint string }{
		{"style_id", "This server has no style rules."},
		{"custom_instructions", "This server takes no instructions."},
		{"translation_memory_id", "This server has no translation memories."},
	} {
		if fields.Given(missing.name) {
			fields.Fail(unsupported(missing.name, missing.hint))
		}
	}
	o.readOutline(fields)
	fields.Bool("preserve_formatting")
	o.billed = fields.Bool("show_billed_characters")
	return o
}

// readOutline reads the fields that say how XML is divided. They are checked, and change nothing,
// where the texts are not XML.
//
// Line ends end sentences there, as DeepL has it, unless split_sentences is nonewlines or 0.
func (o *options) readOutline(fields dialect.Fields) {
	outline := markup.Outline{
		Splitting: fields.Names("splitting_tags"), NonSplitting: fields.Names("non_splitting_tags"),
		Undetected: !fields.Bool("outline_detection") && fields.Given("outline_detection"), Lines: !o.wrapped && !o.whole,
	}
	if o.format == translate.XML {
		o.outline = outline
	}
}

// noTranslate is the attribute of HTML that keeps translators out of an element.
const noTranslate = ` translate="no"`

// ignored are the names of elements whose text is not to be translated, those of
// ignore_tags.
//
// The service knows such elements by an attribute, so that their start tags get it
// before the translation and lose it again after it. Every start tag of these names
// gets one, also where it had one before: so each that is taken away had been
// added, and unmark(mark(text)) is text, whatever it is.
type ignored map[string]bool

// mark adds the attribute to the start tags of the elements, unless the text has more than most characters, 0 for no bound,
// and will be refused.
func (ig ignored) mark(text string, most int) string {
	if len(ig) > 0 && translate.TooLong(text, most) {
		return text
	}
	return ig.edit(text, func(out *strings.Builder, rest string) string {
		out.WriteString(noTranslate)
		return rest
	})
}

// unmark takes away what mark added.
func (ig ignored) unmark(text string) string {
	return ig.edit(text, func(_ *strings.Builder, rest string) string {
		return strings.TrimPrefix(rest, noTranslate)
	})
}

// edit calls after where the name of a start tag ends, with the text from there
// on, and goes on with what it returns. What is written to out comes before that.
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
