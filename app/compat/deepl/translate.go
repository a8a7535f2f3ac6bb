package deepl

import (
	"strings"

	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/markup"
	"dragoman/app/translate"
)

// request is a request to translate that was understood.
type request struct {
	texts    []string
	from, to string // codes of the backend; from may be translate.Auto
	format   translate.Format
	whole    bool   // each text is one sentence
	wrapped  bool   // a line break ends no sentence
	model    string // model_type, as the answer repeats it; "" where it is not asked for
	billed   bool   // the characters of each text are asked for
	ignored  ignored
	outline  markup.Outline // of XML

	glossaries []string // ids
}

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
func serveTranslation(call compat.Call) (any, error) {
	req, err := decode(call.Fields, call.Languages)
	if err != nil {
		return nil, err
	}
	marked := make([]string, len(req.texts))
	for i, text := range req.texts {
		marked[i] = req.ignored.mark(text)
	}
	results, err := call.Translate(compat.Job{
		From: req.from, To: req.to, Texts: marked, Format: req.format, Whole: req.whole, Wrapped: req.wrapped, Outline: req.outline,
		Glossaries: req.glossaries,
	})
	if err != nil {
		return nil, err
	}
	out := translations{make([]translation, len(results))}
	for i, r := range results {
		out.Translations[i] = translation{
			DetectedSourceLanguage: code(compat.SourceOf(r)), Text: req.ignored.unmark(r.Text), ModelTypeUsed: req.model,
		}
		if req.billed {
			out.Translations[i].BilledCharacters = new(dialect.Characters(req.texts[i], req.format))
		}
	}
	return out, nil
}

// decode understands the fields of /v2/translate.
func decode(fields compat.Fields, languages compat.Languages) (request, error) {
	var req request
	var err error
	if req.texts, _, err = fields.Texts("text"); err != nil {
		return req, err
	}
	if len(req.texts) == 0 {
		return req, compat.Refuse("Parameter 'text' not specified.")
	}
	if req.to, err = target(fields, languages); err != nil {
		return req, err
	}
	if req.from, err = source(fields, languages); err != nil {
		return req, err
	}
	if req.glossaries, err = glossaryIDs(fields); err != nil {
		return req, err
	}
	if len(req.glossaries) > 0 && req.from == translate.Auto {
		return req, compat.Refuse("Parameter 'source_lang' not specified: a glossary needs it.")
	}
	err = req.options(fields)
	return req, err
}

// mostGlossaries is how many a request may name.
const mostGlossaries = 5

// glossaryIDs reads the glossaries of a request, none where it names none.
func glossaryIDs(fields compat.Fields) ([]string, error) {
	id, err := fields.Text("glossary_id")
	if err != nil {
		return nil, err
	}
	lists, _, err := fields.Texts("glossary_ids")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, list := range lists { // an array, or in forms a list with commas
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one != "" {
				ids = append(ids, one)
			}
		}
	}
	switch {
	case id != "" && len(ids) > 0:
		return nil, compat.Refuse("'glossary_id' and 'glossary_ids' cannot be used together.")
	case len(ids) > mostGlossaries:
		return nil, compat.Refuse("'glossary_ids' has more than %d glossaries.", mostGlossaries)
	case id != "":
		return []string{id}, nil
	}
	return ids, nil
}

// target reads the language to translate into.
func target(fields compat.Fields, languages compat.Languages) (string, error) {
	name, err := fields.Text("target_lang")
	switch {
	case err != nil:
		return "", err
	case name == "":
		return "", compat.Refuse("Parameter 'target_lang' not specified.")
	}
	found, ok := languages.Target(name)
	switch {
	case ok:
		return found, nil
	case compat.IsTraditional(name):
		return "", unsupported("target_lang", "This server does not tell traditional Chinese from simplified: use ZH-HANS.")
	}
	return "", unsupported("target_lang", "")
}

// source reads the language to translate from.
func source(fields compat.Fields, languages compat.Languages) (string, error) {
	name, err := fields.Text("source_lang")
	switch {
	case err != nil:
		return "", err
	case name == "":
		return translate.Auto, nil
	}
	if found, ok := languages.Source(name); ok {
		return found, nil
	}
	return "", unsupported("source_lang", "")
}

// unsupported is DeepL's error of a value that it does not take, with a hint.
func unsupported(name, hint string) error {
	return compat.Refuse("%s", strings.TrimSpace("Value for '"+name+"' not supported. "+hint))
}
