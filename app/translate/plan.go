package translate

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"dragoman/app/markup"
	"dragoman/app/segment"
	"dragoman/app/telemetry"
)

// record is the translation of one record into one language on its way.
type record struct {
	number int // in what Translate returns
	source int // the record's number in the request
	result Result
	target int64 // the token of the target language
	blocks []block
	open   int // sentences without an outcome
}

// block is a part of a record that is translated by itself, such as all of a plain
// text or a paragraph of HTML, or one that stays as it is.
type block struct {
	text     string // of one that stays
	parts    parts  // of one that is translated
	messages []message
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

// sentence is a sentence, or a part of one, on its way.
type sentence struct {
	record *record
	parent *sentence // of which it is a part; nil for a whole sentence
	depth  int       // 0 for a whole sentence, 1 for its parts, and so on
	markup.Sentence

	way     way           // how it is decoded now
	masked  markup.Masked // where the way masks
	source  []int64       // the ids that are decoded: language token, pieces, </s>
	decoded int           // tokens that came out last
	best    *outcome      // of the ways that were tried; nil before the first

	queued, computed time.Duration // by all ways together

	parts parts // where it is translated in parts
	open  int   // parts without an outcome
}

// plan divides the records into sentences.
func (w *work) plan(ctx context.Context) {
	s, from := w.service, w.sources(ctx)
	units := make([][]unit, len(from)) // of each record, cut once for all languages
	defer s.cfg.Metrics.Stage(ctx, telemetry.Segment).End()
	for _, to := range w.req.To {
		target, _ := s.cfg.Tokenizer.LanguageID(to)
		for i, r := range w.req.Records {
			rec := &record{number: len(w.records), source: i, target: target,
				result: Result{Record: r, From: from[i], To: to, Detected: w.req.From == Auto}}
			w.records = append(w.records, rec)
			if from[i] == "" || from[i] == to {
				continue
			}
			if units[i] == nil {
				units[i] = w.cut(r.Text, from[i])
			}
			rec.blocks = w.divide(rec, units[i])
		}
	}
}

// sources returns the language of each record, "" where none could be detected.
func (w *work) sources(ctx context.Context) []string {
	from := slices.Repeat([]string{w.req.From}, len(w.req.Records))
	if w.req.From != Auto {
		return from
	}
	defer w.service.cfg.Metrics.Stage(ctx, telemetry.Detect).End()
	for i, r := range w.req.Records {
		from[i], _, _ = w.service.cfg.Detector.Detect(r.Text)
	}
	return from
}

// unit is a part of a text: what a block is made of in each language.
type unit struct {
	raw    string          // as it is in the text
	text   markup.Sentence // of one that is translated
	pieces []segment.Piece // of text; nil for one that stays

	messages [][]unit // the units of each message of ICU in it
}

// cut cuts a text, in the language from, into units.
func (w *work) cut(text, from string) []unit {
	split := markup.SplitHTML
	switch w.req.Format {
	case HTML:
	case XML:
		split = markup.SplitXML
	default:
		return []unit{w.newUnit(text, markup.Parse(text, markup.Text), from, 0)}
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

// maxNesting is how deep the messages of ICU may stand in each other for their branches
// to be translated.
const maxNesting = 4

// newUnit makes a unit that is translated, in a message at that depth.
func (w *work) newUnit(raw string, text markup.Sentence, from string, depth int) unit {
	u := unit{raw: raw, text: text}
	if w.req.Whole {
		u.pieces = []segment.Piece{{Text: text.Text, Sentence: true}}
	} else {
		for _, line := range text.Lines() {
			u.pieces = append(u.pieces, segment.Split(text.Text[line[0]:line[1]], from)...)
		}
	}
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

// divide makes blocks, with sentences that are to do, of the units of a text of a record.
func (w *work) divide(rec *record, units []unit) []block {
	blocks := make([]block, 0, len(units))
	for _, u := range units {
		b := block{text: u.raw, parts: w.newParts(rec, nil, u.text, u.pieces)}
		// Where nothing is translated, entities stay as they were.
		if len(b.parts.sentences) == 0 {
			b.parts = parts{}
		}
		for _, inner := range u.messages {
			m := message{blocks: w.divide(rec, inner)}
			for _, part := range inner {
				m.text += part.raw
			}
			b.messages = append(b.messages, m)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// newParts makes sentences, which are to do, of the pieces of a text. parent is the
// sentence that the text is of, if it is one. Where a cut would go through something
// that must come back as it is, it is not made.
func (w *work) newParts(rec *record, parent *sentence, text markup.Sentence, pieces []segment.Piece) parts {
	var p parts
	start, at, translate := 0, 0, false
	for _, piece := range pieces {
		at += len(piece.Text)
		translate = translate || piece.Sentence
		if text.Inside(at) {
			continue
		}
		if text.Slice(start, at).Blank() {
			translate = false
		}
		if from, to := trimmed(text.Text, start, at); translate {
			p.keep(text.Slice(start, from))
			x := w.newSentence(rec, parent, text.Slice(from, to))
			p.pieces = append(p.pieces, segment.Piece{Text: x.Text, Sentence: true})
			p.sentences = append(p.sentences, x)
			p.keep(text.Slice(to, at))
		} else {
			p.keep(text.Slice(start, at))
		}
		start, translate = at, false
	}
	return p
}

// keep adds a text that stays as it is.
func (p *parts) keep(text markup.Sentence) {
	if text.Text != "" {
		p.pieces = append(p.pieces, segment.Piece{Text: text.Original()})
	}
}

// trimmed leaves the white space out at both ends of text[start:end].
func trimmed(text string, start, end int) (from, to int) {
	text = text[start:end]
	to = start + len(strings.TrimRightFunc(text, unicode.IsSpace))
	from = end - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	return min(from, to), to
}

// newSentence makes a sentence that is to do.
func (w *work) newSentence(rec *record, parent *sentence, text markup.Sentence) *sentence {
	x := &sentence{record: rec, parent: parent, Sentence: text, way: way{mask: unmasked}}
	if !w.req.Once && !text.AsIs() {
		x.way.mask = 0
	}
	if parent == nil {
		rec.open++
	} else {
		x.depth = parent.depth + 1
		parent.open++
	}
	w.todo = append(w.todo, x)
	return x
}
