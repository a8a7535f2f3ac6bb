package translate

import (
	"context"
	"strings"

	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/app/text/segment"
)

// Cut is a plain text cut into sentences as by [Service.Translate], for callers that request translations sentence by sentence,
// for example of a growing text: the joined translations of its parts are the translation of the text.
type Cut struct {
	From, To string // language codes; From is "" if it could not be detected
	Detected bool   // From was detected
	Parts    []Part // the parts, joined, are the text, byte for byte
	// Unsupported is the reason why no part is translated, or nil if From can be translated into To.
	Unsupported *Error
	// Ended reports whether the last sentence is complete; see [segment.Ends].
	Ended bool
}

// Part is a part of a text: a sentence, or the text between sentences. A text with ICU messages has a single part, because such a
// text cannot be translated sentence by sentence.
type Part struct {
	Text string
	// Translated reports whether the part has a translation, see [Cut.Of]. All other parts stay as they are, except for the
	// spaces between two sentences: see [Cut.Between].
	Translated bool

	markup markup.Sentence
	whole  bool // a text of several sentences
}

// Cut cuts the record of a request with one record, one target language and the format [Text] into parts. It validates the
// request, loads no model and takes time linear in the text. The error is an [*Error], or the error of the memory for requests.
func (s *Service) Cut(ctx context.Context, req Request) (Cut, error) {
	if len(req.Records) != 1 || len(req.To) != 1 || req.Format != "" && req.Format != Text {
		return Cut{}, invalid(CodeInvalidOption, "records", "%d records × %d languages, format %s: only one plain text into one language is cut",
			len(req.Records), len(req.To), excerpt.Quote(string(req.Format)))
	}
	w, err := s.begin(ctx, req)
	if err != nil {
		return Cut{}, err
	}
	text := req.Records[0].Text
	from, err := w.sources(ctx)
	if err != nil {
		return Cut{}, err
	}
	cut := Cut{From: from[0], To: w.to[0], Detected: w.req.From == Auto, Ended: true}
	if cut.From != "" && cut.From != cut.To {
		if _, err := w.routeOf(cut.From, cut.To); err != nil && w.from != Auto {
			return Cut{}, err
		} else if err != nil {
			cut.Unsupported, cut.Parts = Unsupported(cut.From, req.To), []Part{{Text: text}}
			return cut, nil
		}
		err := w.inTurn(ctx, func(ctx context.Context) (err error) {
			if cut.Parts, err = (cutter{ctx: ctx, req: &w.req}).partsOf(text, language.Base(cut.From)); err == nil {
				cut.Ended, err = cut.ended(ctx)
			}
			return err
		})
		if err != nil {
			return Cut{}, err
		}
	} else if text != "" {
		cut.Parts = []Part{{Text: text}}
	}
	return cut, nil
}

// partsOf returns the parts of a text.
func (c cutter) partsOf(raw, from string) ([]Part, error) {
	text, err := markup.Parse(c.ctx, raw, markup.Text)
	if err == nil {
		text, err = text.In(c.ctx, from)
	}
	if err != nil {
		return nil, err
	}
	if len(text.Messages()) > 0 { // translations of their branches are inserted throughout the text
		return []Part{{Text: text.Text, Translated: true, markup: text, whole: true}}, nil
	}
	pieces, err := c.pieces(text, from)
	if err != nil {
		return nil, err
	}
	pieces, sentences, err := divide(c.ctx, text, pieces)
	parts := make([]Part, len(pieces))
	for i, piece := range pieces {
		parts[i] = Part{Text: piece.Text, Translated: piece.Sentence}
		if piece.Sentence {
			parts[i].markup, sentences = sentences[0], sentences[1:]
		}
	}
	return parts, err
}

// ended reports whether the last sentence is complete.
func (c Cut) ended(ctx context.Context) (bool, error) {
	last := len(c.Parts)
	tail := ""
	for last--; last >= 0; last-- {
		tail = c.Parts[last].Text + tail
		if c.Parts[last].Translated {
			return segment.Ends(ctx, tail, language.Base(c.From))
		}
	}
	return true, nil
}

// Between returns the text between two translated parts in the translation. i is the number of the second part, or len(Parts),
// and last is the translation of the first part. The spaces are as in the target language.
func (c Cut) Between(i int, last string) string {
	before := i - 1 // the previous translated part
	for before >= 0 && !c.Parts[before].Translated {
		before--
	}
	var pieces []segment.Piece
	for k := max(0, before); k <= min(i, len(c.Parts)-1); k++ {
		pieces = append(pieces, segment.Piece{Text: c.Parts[k].Text, Sentence: c.Parts[k].Translated})
	}
	translations := []string{last, ""}
	if before < 0 {
		translations = translations[1:]
	}
	joined, _ := segment.Join(context.Background(), pieces, translations, language.Base(c.From), language.Base(c.To)) // two pieces, so it cannot fail
	return strings.TrimPrefix(joined, translations[0])
}

// Key is equal for parts with equal translations, given the same languages, model and options.
func (p Part) Key() string {
	key := p.Text + "\x00" + p.markup.Fingerprint()
	if p.whole {
		key += "\x00"
	}
	return key
}

// Beginning returns the first n bytes of a sentence as a sentence, without white space at its end; n must be at the start of a
// character. The result ends earlier if the end would cut a span. It may have nothing to translate.
func (p Part) Beginning(n int) Part {
	n = min(n, len(p.markup.Text))
	for p.markup.Inside(n) {
		n--
	}
	_, n = p.markup.Trimmed(0, n)
	text := p.markup.Slice(0, n)
	return Part{Text: text.Text, Translated: !text.Blank(), markup: text}
}

// Of returns the request for the translations of parts of c, which was cut from req. The results' texts are the translations.
func (c Cut) Of(req Request, parts ...Part) Request {
	req.From, req.parts, req.Records = c.From, parts, make([]Record, len(parts))
	for i, p := range parts {
		req.Records[i].Text = p.Text
	}
	return req
}
