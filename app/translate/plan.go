package translate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"dragoman/app/admission"
	"dragoman/app/language"
	"dragoman/app/markup"
	"dragoman/app/segment"
	"dragoman/app/wrap"
	"dragoman/model/search"
)

// record is the translation of one record into one language on its way.
type record struct {
	number int    // in what Translate returns
	source int    // the record's number in the request
	to     string // the model's code of the target language
	result Result
	route  *route
	blocks []block
	open   int // sentences without an outcome
}

// pair is from which language into which.
type pair struct{ from, to string }

// block is a part of a record that is translated by itself, such as all of a plain
// text or a paragraph of HTML, or one that stays as it is.
type block struct {
	text      string // of one that stays
	parts     parts  // of one that is translated
	messages  []message
	readings  markup.Readings
	paragraph *wrap.Paragraph
}

// message is a message of ICU in a block, whose branches are translated by themselves.
type message struct {
	text   string // as it stands in the translation of the block
	blocks []block
}

// parts are a text that is cut into sentences and what is between them.
type parts struct {
	pieces    []segment.Piece // those that are no sentences in the form in which they go into the translation
	sentences []*sentence     // of the pieces that are
}

// sentence is a sentence, or a part of one, on its way. It may be in several places:
// whole sentences of a request that come out the same are one.
type sentence struct {
	markup.Sentence
	hop     *hop
	parent  *sentence // of which it is a part; nil for a whole sentence
	depth   int       // 0 for a whole sentence, 1 for its parts, and so on
	records []*record // of a whole sentence: those that wait for it, once for each place
	best    *outcome  // of the ways that were tried; nil before the first
	chain   *chain    // what earlier steps of its route made of it; nil in the first

	*attempts // nil as soon as it has its outcome
}

// attempts are what is needed while a sentence has no outcome.
type attempts struct {
	way     way             // how it is decoded now
	shape   markup.Sentence // the sentence as the way has its terms
	masked  markup.Masked   // where the way masks
	phrases []search.Phrase // what the terms become; nil until it is needed
	source  []int64         // the ids that are decoded
	decoded int             // tokens that came out last

	queued, computed time.Duration // by all ways together

	parts parts // where it is translated in parts
	open  int   // parts without an outcome
}

// plan divides the records into sentences. What it makes is bounded: MaxSentences, and
// the memory that the request may take.
func (w *work) plan(ctx context.Context) error {
	s := w.service
	size := 0
	for _, r := range w.req.Records {
		size += len(r.Text)
	}
	admission.Charge(ctx, w.req.Caller)
	if err := w.take(ctx, admission.Texts(int64(size), len(w.req.To))+sizeOfTerms(w.req.Terms)); err != nil {
		return err
	}
	w.terms = glossary(w.req.Terms)
	from := w.sources(ctx)
	if err := w.findRoutes(ctx, from); err != nil {
		return err
	}
	if err := w.unsupported(from); err != nil {
		return err
	}
	// Not before the routes have checked how many are wanted.
	if err := w.take(ctx, admission.Alternatives(int64(size), len(w.req.To)*w.req.Alternatives)); err != nil {
		return err
	}
	defer s.cfg.Metrics.Stages.Begin(ctx, stageSegment).End()
	w.records = make([]*record, len(w.req.To)*len(w.req.Records))
	for i, r := range w.req.Records {
		var units []unit // cut once for all languages
		for t, to := range w.to {
			number := t*len(w.req.Records) + i
			rec := &record{number: number, source: i, to: to,
				result: Result{Record: r, From: from[i], To: w.req.To[t], Detected: w.req.From == Auto}}
			w.records[number] = rec
			if from[i] == "" || from[i] == to {
				continue
			}
			if rec.route = w.routes[pair{from[i], to}]; rec.route == nil {
				rec.result.Flags = UnsupportedSource
				continue
			}
			if units == nil {
				units = w.unitsOf(i, language.Base(from[i]))
			}
			rec.result.Model, rec.result.Version, rec.result.Exports = rec.route.Model, rec.route.Version, rec.route.exports
			if err := w.divide(ctx, rec, units); err != nil {
				return err
			}
		}
	}
	return nil
}

// take takes memory for the request.
func (w *work) take(ctx context.Context, n int64) error {
	err := admission.Take(ctx, n)
	if err == nil {
		w.taken += n
	}
	return err
}

// sources returns the language of each record, "" where none could be detected.
func (w *work) sources(ctx context.Context) []string {
	from := slices.Repeat([]string{w.from}, len(w.req.Records))
	if w.req.From != Auto {
		return from
	}
	defer w.service.cfg.Metrics.Stages.Begin(ctx, stageDetect).End()
	for i, r := range w.req.Records {
		from[i], _, _ = w.selection.Detector().Detect(r.Text)
	}
	return from
}

// unsupported is the error of a request all of whose texts, as far as one can tell, are in languages
// that there is no model for. With others among them they are flagged.
func (w *work) unsupported(from []string) error {
	first := -1
	for i, code := range from {
		for _, to := range w.to {
			if code == "" {
				continue
			}
			if code == to || w.routes[pair{code, to}] != nil {
				return nil
			}
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 || w.req.Flagged || w.req.Sliced {
		return nil
	}
	return Unsupported(from[first], w.req.To)
}

// Unsupported is the error of a text that is in a language that no model translates from into others.
func Unsupported(from string, to []string) *Error {
	name, ok := language.NameOf(from)
	if !ok {
		name.English = from
	}
	return invalid(CodeUnsupportedSource, "fromLang", "the text seems to be in %s (%s), which no model here translates into %s: "+
		"name its language if it is another one", name.English, from, quote(strings.Join(to, ", ")))
}

// unit is a part of a text: what a block is made of in each language.
type unit struct {
	raw    string          // as it is in the text
	text   markup.Sentence // of one that is translated
	pieces []segment.Piece // of text; nil for one that stays

	readings  markup.Readings // which text is without
	paragraph *wrap.Paragraph // that text is in one line; nil: it is as it is
	messages  [][]unit        // the units of each message of ICU in it
}

// cut cuts a text, in the language from, into units.
func (w *work) cut(text, from string) []unit {
	split := markup.SplitHTML
	switch w.req.Format {
	case HTML:
	case XML:
		split = w.req.Outline.Split
	default:
		return w.cutText(text, from)
	}
	var units []unit
	for _, piece := range split(text) {
		if piece.Unit {
			units = append(units, w.newUnit(piece.Raw, piece.Parse(), from, 0))
		} else {
			units = append(units, unit{raw: piece.Raw})
		}
	}
	return units
}

// cutText cuts a plain text, each of whose paragraphs is a unit if it is wrapped.
func (w *work) cutText(text, from string) (units []unit) {
	parsed := markup.Parse(text, markup.Text)
	at := 0
	keep := func(end int) {
		if at < end {
			units = append(units, w.newUnit(text[at:end], parsed.Slice(at, end), from, 0))
			at = end
		}
	}
	for p := range wrap.Wrapped(text, cmp.Or(w.req.Wrap, wrap.Off)) {
		if parsed.HasLines(p.Start, p.End) {
			continue
		}
		keep(p.Start)
		u := w.newUnit(text[p.Start:p.End], markup.Parse(p.Text, markup.Text), from, 0)
		u.paragraph = &p
		units = append(units, u)
		at = p.End
	}
	if at == 0 {
		return []unit{w.newUnit(text, parsed, from, 0)}
	}
	keep(len(text))
	return units
}

// maxNesting is how deep the messages of ICU may stand in each other for their branches
// to be translated.
const maxNesting = 4

// newUnit makes a unit that is translated, in a message at that depth.
func (w *work) newUnit(raw string, text markup.Sentence, from string, depth int) unit {
	text, readings := text.CutReadings()
	text = text.In(from)
	if w.terms != nil {
		text = text.WithTerms(w.terms)
	}
	u := unit{raw: raw, text: text, pieces: w.pieces(text, from), readings: readings}
	if depth == maxNesting {
		return u
	}
	for _, m := range text.Messages() {
		var units []unit
		at := m.Start
		keep := func(end int) {
			units = append(units, unit{raw: text.Slice(at, end).Original()})
			at = end
		}
		for _, branch := range m.Branches {
			keep(branch[0])
			inner := text.Branch(branch[0], branch[1])
			units = append(units, w.newUnit(inner.Original(), inner, from, depth+1))
			at = branch[1]
		}
		keep(m.End)
		u.messages = append(u.messages, units)
		u.raw = text.Original() // in which the message stands as in a translation
	}
	return u
}

// pieces cuts a text of a unit into sentences.
func (w *work) pieces(text markup.Sentence, from string) (pieces []segment.Piece) {
	if w.req.Whole {
		return []segment.Piece{{Text: text.Text, Sentence: true}}
	}
	split := segment.Split
	if w.req.Wrapped {
		split = segment.SplitWrapped
	}
	noted := text.Noted()
	for _, line := range text.Lines() {
		at := line[0]
		for _, piece := range split(noted[line[0]:line[1]], from) {
			piece.Text = text.Text[at : at+len(piece.Text)]
			at += len(piece.Text)
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// sentenceBytes is the memory that a sentence of a request takes until it is answered,
// beside its text: what waits for it, its outcome, its place in the answer. spanBytes is
// that of each thing in it that is kept. Measured at 400 to 700 bytes and at 150;
// TestMemoryOfARequest holds them to that.
const sentenceBytes, spanBytes = 800, 200

// divide makes the units of a record's text blocks with sentences, which are to do.
func (w *work) divide(ctx context.Context, rec *record, units []unit) error {
	places, spans := size(units)
	if w.places += places; w.places > w.service.cfg.MaxSentences {
		return invalid(CodeTooManySentences, "records", "%d records × %d languages have more than %d sentences: send several requests",
			len(w.req.Records), len(w.req.To), w.service.cfg.MaxSentences)
	}
	if err := w.take(ctx, int64(places*(sentenceBytes+w.req.Alternatives*alternativeBytes)+spans*spanBytes)); err != nil {
		return err
	}
	rec.blocks = w.blocksOf(rec, units)
	return nil
}

// size counts the sentences of units, and what is kept in them.
func size(units []unit) (places, spans int) {
	for _, u := range units {
		spans += len(u.text.Spans)
		for _, piece := range u.pieces {
			if piece.Sentence {
				places++
			}
		}
		for _, inner := range u.messages {
			p, s := size(inner)
			places, spans = places+p, spans+s
		}
	}
	return places, spans
}

// blocksOf makes blocks of units.
func (w *work) blocksOf(rec *record, units []unit) []block {
	blocks := make([]block, 0, len(units))
	for _, u := range units {
		b := block{text: u.raw, parts: w.newParts(u.text, u.pieces, func(text markup.Sentence) *sentence { return w.whole(rec, text) })}
		// Where nothing is translated, entities stay as they were, and readings.
		if len(b.parts.sentences) == 0 && !u.text.HasTerms() {
			b.parts = parts{}
		} else {
			b.readings, b.paragraph = u.readings, u.paragraph
		}
		for _, inner := range u.messages {
			m := message{blocks: w.blocksOf(rec, inner)}
			for _, part := range inner {
				m.text += part.raw
			}
			b.messages = append(b.messages, m)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// newParts makes sentences, by newSentence, of the pieces of a text. Where a cut would go
// through something that must come back as it is, it is not made.
func (w *work) newParts(text markup.Sentence, pieces []segment.Piece, newSentence func(text markup.Sentence) *sentence) parts {
	var p parts
	kept, start, end, translate := 0, 0, 0, false // text[kept:start] stays as it is
	for i, piece := range pieces {
		end += len(piece.Text)
		at := end
		translate = translate || piece.Sentence
		if i+1 < len(pieces) {
			at = max(start, text.Opened(end))
		}
		if text.Inside(at) {
			continue
		}
		if translate && !text.Slice(start, at).Blank() {
			from, to := text.Trimmed(start, at)
			p.keep(text.Slice(kept, from))
			x := newSentence(text.Slice(from, to))
			p.pieces = append(p.pieces, segment.Piece{Text: x.Text, Sentence: true})
			p.sentences = append(p.sentences, x)
			kept = to
		}
		start, translate = at, false
	}
	p.keep(text.Slice(kept, start))
	return p
}

// keep adds a text that stays as it is.
func (p *parts) keep(text markup.Sentence) {
	if text.Text != "" {
		p.pieces = append(p.pieces, segment.Piece{Text: text.Original()})
	}
}

// question is what tells the whole sentences of a request apart.
type question struct {
	route *route
	text  string
	spans string
}

// whole is the sentence of a record with a text: a new one, which is to do, or one that
// the request has already.
func (w *work) whole(rec *record, text markup.Sentence) *sentence {
	q := question{rec.route, text.Text, text.Fingerprint()}
	x := w.known[q]
	if x == nil {
		x = w.newSentence(rec.route.first, nil, text)
		w.fresh = append(w.fresh, x)
		w.open++
		w.known[q] = x
	}
	x.records = append(x.records, rec)
	rec.open++
	return x
}

// newSentence makes a sentence that is to do.
func (w *work) newSentence(h *hop, parent *sentence, text markup.Sentence) *sentence {
	x := &sentence{parent: parent}
	w.begin(x, h, text)
	if parent != nil {
		x.depth = parent.depth + 1
		parent.open++
		h.lane.again = append(h.lane.again, x)
	}
	return x
}

// begin makes a sentence one with this text, which a hop is to translate.
func (w *work) begin(x *sentence, h *hop, text markup.Sentence) {
	x.hop, x.Sentence = h, text.Whole().Between(language.Base(h.from), language.Base(h.to))
	x.best, x.attempts = nil, &attempts{way: way{mask: unmasked}}
	if !w.req.Once && !text.AsIs() {
		x.way.mask = 0
	}
	x.startTerms()
}
