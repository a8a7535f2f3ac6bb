package deepl

import (
	"strings"

	"dragoman/app/api/dialect"
	"dragoman/app/translate"
)

// translations is the answer of /v2/translate.
type translations struct {
	Translations []translation `json:"translations"`
}

type translation struct {
	DetectedSourceLanguage string `json:"detected_source_language"`
	Text                   string `json:"text"`
	BilledCharacters       *int   `json:"billed_characters,omitempty"`
	ModelTypeUsed          string `json:"model_type_used,omitempty"`
}

// serveTranslation serves /v2/translate.
func serveTranslation(call *dialect.Call) (any, error) {
	texts, _ := call.Texts("text")
	if len(texts) == 0 {
		call.Fail(notSpecified("text"))
	}
	to, from := target(call, call.Fields), source(call, call.Fields)
	ids := glossaryIDs(call.Fields)
	if len(ids) > 0 && from == translate.Auto {
		call.Fail(dialect.Refuse("Parameter 'source_lang' not specified: a glossary needs it."))
	}
	o := readOptions(call.Fields)
	marked := dialect.Each(texts, func(text string) string { return o.ignored.mark(text, call.Server.MaxChars) })
	results, err := call.Translate(dialect.Request{
		From: from, To: to, Texts: marked, Format: o.format, Whole: o.whole, Wrapped: o.wrapped, Outline: o.outline,
		Glossaries: ids, Memory: o.memory,
	})
	if err != nil {
		return nil, err
	}
	out := translations{make([]translation, len(results))}
	for i, r := range results {
		out.Translations[i] = translation{DetectedSourceLanguage: code(dialect.SourceOf(r)), Text: o.ignored.glue(texts[i], o.ignored.unmark(r.Text)), ModelTypeUsed: o.model}
		if o.billed {
			n, err := o.format.Characters(call.Context.Request.Context(), texts[i])
			if err != nil {
				return nil, err
			}
			out.Translations[i].BilledCharacters = &n
		}
	}
	return out, nil
}

// glossaryIDs reads the glossaries of a request, if it names any.
func glossaryIDs(fields dialect.Fields) []string {
	id, ids := fields.Text("glossary_id"), fields.Names("glossary_ids")
	switch {
	case id != "" && len(ids) > 0:
		fields.Fail(dialect.Refuse("'glossary_id' and 'glossary_ids' cannot be used together."))
	case id != "":
		return []string{id}
	}
	return ids
}

// target reads the target language.
func target(call *dialect.Call, fields dialect.Fields) string {
	name := required(fields, "target_lang")
	found, ok := call.Languages.Target(name)
	switch {
	case ok:
	case dialect.IsTraditional(name):
		fields.Fail(unsupported("target_lang", "This server does not tell traditional Chinese from simplified: use ZH-HANS."))
	default:
		fields.Fail(unsupported("target_lang", ""))
	}
	return found
}

// source reads the source language.
func source(call *dialect.Call, fields dialect.Fields) string {
	name := fields.Text("source_lang")
	if name == "" {
		return translate.Auto
	}
	found, ok := call.Languages.Source(name)
	if !ok {
		fields.Fail(unsupported("source_lang", ""))
	}
	return found
}

// required reads a field that must not be empty.
func required(fields dialect.Fields, name string) string {
	value := fields.Text(name)
	if value == "" {
		fields.Fail(notSpecified(name))
	}
	return value
}

// notSpecified returns DeepL's error for a missing field.
func notSpecified(name string) error { return dialect.Refuse("Parameter '%s' not specified.", name) }

// unsupported returns DeepL's error for an unsupported value, with a hint.
func unsupported(name, hint string) error {
	return dialect.Refuse("%s", strings.TrimSpace("Value for '"+name+"' not supported. "+hint))
}
