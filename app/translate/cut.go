package translate

import (
	"context"
	"strings"

	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/app/text/segment"
)

// Cut is a plain text as [Service.Translate] cuts it into sentences, for callers that have them
// translated one by one, such as those whose text grows: the translations of its parts, put
// together, are the translation of the text.
type Cut struct {
	From, To string // codes of languages; From is "" where none could be detected
	Detected bool   // From was detected
	Parts    []Part // which make up the text, byte for byte
	// Unsupported says why none of them is translated; nil: From can be translated into To.
	Unsupported *Error
	// Ended says that the last sentence is at its end; see [segment.Ends].
	Ended bool
}

// Part is a part of a text: a sentence, or what is between sentences. A text with messages of ICU has
// only one, for it cannot be translated sentence by sentence.
type Part struct {
	Text string
	// Translated says that it has a translation, see [Cut.Of]. All others stay as they are, but
	// for the spaces between two sentences: see [Cut.Between].
	Translated bool

	markup markup.Sentence
	whole  bool // it is a text of several sentences
}

// Cut cuts the one record of a request, which has one target language and the format [Text], into
// parts. It validates the request, loads no model and takes time that is linear in the text. The
// error is an [*Error], or that of the memory for requests.
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

// partsOf are those of a text.
func (c cutter) partsOf(raw, from string) ([]Part, error) {
	text, err := markup.Parse(c.ctx, raw, markup.Text)
	if err == nil {
		text, err = text.In(c.ctx, from)
	}
	if err != nil {
		return nil, err
	}
	if len(text.Messages()) > 0 { // what their branches become is put wherever they stand in the text
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

// ended says whether the last sentence is at its end.
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

// Between is what stands in the translation of the text before part number i, which is translated
// or len(Parts), and behind the translated part before it, whose translation is last: what is
// between the two in the text, with the spaces that the target language wants there.
func (c Cut) Between(i int, last string) string {
	before := i - 1 // the translated part before
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
	joined, _ := segment.Join(context.Background(), pieces, translations, language.Base(c.From), language.Base(c.To)) // two pieces
	return strings.TrimPrefix(joined, translations[0])
}

// Key is the same for parts whose translations are the same, in the same languages, with the same
// model and options.
func (p Part) Key() string {
	key := p.Text + "\x00" + p.markup.Fingerprint()
	if p.whole {
		key += "\x00"
	}
	return key
}

// Beginning is the first n bytes of a sentence as a sentence, without the white space at its end; n
// is where a character starts. Where something that must come back as it is would be cut, it ends
// before that. There may be nothing to translate in it.
func (p Part) Beginning(n int) Part {
	n = min(n, len(p.markup.Text))
	for p.markup.Inside(n) {
		n--
	}
	_, n = p.markup.Trimmed(0, n)
	text := p.markup.Slice(0, n)
	return Part{Text: text.Text, Translated: !text.Blank(), markup: text}
}

// Of is the request for the translations of parts of a [Cut] that was made of the request, which are
// the texts of the results.
func (c Cut) Of(req Request, parts ...Part) Request {
	req.From, req.parts, req.Records = c.From, parts, make([]Record, len(parts))
	for i, p := range parts {
		req.Records[i].Text = p.Text
	}
	return req
}
