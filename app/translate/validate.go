package translate

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"dragoman/app/guard/bound"
	"dragoman/app/text/char"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
)

// validate validates a request, except its languages, as far as that is possible without a model.
func (s *Service) validate(ctx context.Context, req Request) error {
	if n := len(req.Records) * len(req.To); n > s.cfg.MaxRecords {
		return invalid(CodeTooManyRecords, "records", "%d records × %d languages, at most %d translations are allowed: send several requests",
			len(req.Records), len(req.To), s.cfg.MaxRecords)
	}
	for i, r := range req.Records {
		if !utf8.ValidString(r.Text) {
			return recordError(CodeInvalidText, req.First+i, r, "the text is not UTF-8")
		}
		if n, err := Text.Characters(ctx, r.Text); err != nil {
			return context.Cause(ctx)
		} else if n > s.cfg.MaxChars {
			return recordError(CodeTextTooLong, req.First+i, r,
				"the text has %d characters, at most %d are allowed: split it into several records", n, s.cfg.MaxChars)
		}
	}
	if n := req.Alternatives; n < 0 || n > mostAlternatives {
		return invalid(CodeInvalidOption, "alternatives", "%d translations of each text are wanted, the best one included: "+
			"use 0 for the best alone, or more, up to the beams that are allowed (MAX_BEAMS)", n)
	}
	if err := validateOutline(req); err != nil {
		return err
	}
	if f := req.Format; f != "" && f != Text && f != HTML && f != XML {
		return invalid(CodeInvalidOption, "format", "the format is %s: use text, html or xml", excerpt.Quote(string(req.Format)))
	}
	return validateTerms(req)
}

// mostElements is the maximum number of element names in an outline, because the outline is looked up for each record.
const mostElements = bound.Elements

func validateOutline(req Request) error {
	o := req.Outline
	switch n := len(o.Splitting) + len(o.NonSplitting); {
	case n > mostElements:
		return invalid(CodeInvalidOption, "xml", "%d names of elements are given, at most %d are allowed", n, mostElements)
	case req.Format != XML && (n > 0 || o.Undetected || o.Lines):
		return invalid(CodeInvalidOption, "xml", "it says how XML is divided, but the format is not xml: leave it out, or set the format")
	}
	return nil
}

// languagesOf returns the codes of a request's languages; from may be Auto.
func languagesOf(models Selection, req Request) (from string, to []string, err error) {
	from, ok := req.From, true
	if from != Auto {
		from, ok = language.Find(models.Languages(), req.From)
	}
	switch {
	case from == Auto && models.Detector() == nil:
		return "", nil, invalid(CodeUnknownLanguage, "fromLang", "this service does not detect languages: name one")
	case !ok:
		return "", nil, unknownLanguage(models, "fromLang", req.From)
	case len(req.To) == 0:
		return "", nil, invalid(CodeUnknownLanguage, "toLang", "no language to translate into: name one")
	}
	for i, name := range req.To {
		field := "toLang"
		if len(req.To) > 1 {
			field = fmt.Sprintf("toLangs[%d]", i)
		}
		code, ok := language.FindTarget(models.Languages(), name)
		switch {
		case !ok:
			return "", nil, unknownLanguage(models, field, name)
		case slices.Contains(to, code):
			return "", nil, invalid(CodeInvalidOption, field, "%s is there twice", excerpt.Quote(name))
		}
		to = append(to, code)
	}
	return from, to, nil
}

// unknownLanguage is the error of a field that names a language without its code, or another one than the models'.
func unknownLanguage(models Selection, field, name string) error {
	hint := ""
	if code, ok := language.Named(name); ok {
		if code, ok = language.Find(models.Languages(), code); ok {
			hint = ", " + code + " is"
		}
	}
	return invalid(CodeUnknownLanguage, field, "%s is not a language of this model%s", excerpt.Quote(name), hint)
}

// Characters returns the size of a text for limits and billing: code points after compatibility decomposition and composition
// (NFKC). The text is translated in this form, in which one character may become 18 (U+FDFA). Ordinary text has as many code
// points as before.
func Characters(text string) int { return characters(nil, text) }

func characters(looks *char.Looks, text string) int {
	n, done := 0, norm.NFKC.QuickSpanString(text)
	n = utf8.RuneCountInString(text[:done])
	var it norm.Iter
	for it.InitString(norm.NFKC, text[done:]); !it.Done(); {
		looks.Past(1)
		n += utf8.RuneCount(it.Next())
	}
	return n
}
