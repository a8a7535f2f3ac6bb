package translate

import (
	"cmp"
	"context"
	"strings"

	"dragoman/app/guard/admission"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/app/text/segment"
	"dragoman/app/text/wrap"
)

// unit is a part of a text that is translated by itself, such as all of a plain text or a paragraph
// of HTML, or one that stays as it is. It is the same for all target languages.
type unit struct {
	raw       string          // as it is in the text
	text      markup.Sentence // of one that is translated, until it is laid out
	pieces    []segment.Piece // of text; none for one that stays
	sentences int             // of the pieces, once it is laid out

	readings  markup.Readings   // which text is without
	entities  *strings.Replacer // that symbols of its translation are written with; nil: they are written out
	paragraph *wrap.Paragraph   // that text is in one line; nil: it is as it is
	messages  [][]unit          // the units of each message of ICU in it
}

// cutter cuts texts into units, as a request wants it.
type cutter struct {
	req   *Request
	terms *markup.Terms // nil: none
}

// unitsOf cuts a record, in the language from, into units.
func (c cutter) unitsOf(ctx context.Context, record int, from string) ([]unit, error) {
	text := c.req.Records[record].Text
	if c.req.parts == nil || c.req.parts[record].whole {
		return c.cut(ctx, text, from)
	}
	return []unit{{raw: text, text: c.req.parts[record].markup, pieces: []segment.Piece{{Text: text, Sentence: true}}}}, nil
}

// cut cuts a text, in the language from, into units. It fails with ctx's error.
func (c cutter) cut(ctx context.Context, text, from string) (units []unit, err error) {
	split := markup.SplitHTML
	switch c.req.Format {
	case HTML:
	case XML:
		split = c.req.Outline.Split
	default:
		return c.cutPlain(text, from), admission.Work(ctx, len(text))
	}
	for _, piece := range split(text) {
		if err := admission.Work(ctx, len(piece.Raw)); err != nil {
			return nil, err
		}
		if piece.Unit {
			units = append(units, c.newUnit(piece.Raw, piece.Parse(), from, 0))
		} else {
			units = append(units, unit{raw: piece.Raw})
		}
	}
	return units, nil
}

// cutPlain cuts a plain text, each of whose paragraphs is a unit if it is wrapped.
func (c cutter) cutPlain(text, from string) (units []unit) {
	parsed := markup.Parse(text, markup.Text)
	at := 0
	keep := func(end int) {
		if at < end {
			units = append(units, c.newUnit(text[at:end], parsed.Slice(at, end), from, 0))
			at = end
		}
	}
	for p := range wrap.Wrapped(text, cmp.Or(c.req.Wrap, wrap.Off)) {
		if parsed.HasLines(p.Start, p.End) {
			continue
		}
		keep(p.Start)
		u := c.newUnit(text[p.Start:p.End], markup.Parse(p.Text, markup.Text), from, 0)
		u.paragraph = &p
		units = append(units, u)
		at = p.End
	}
	if at == 0 {
		return []unit{c.newUnit(text, parsed, from, 0)}
	}
	keep(len(text))
	return units
}

// maxNesting is how deep the messages of ICU may stand in each other for their branches
// to be translated.
const maxNesting = 4

// newUnit makes a unit that is translated, in a message at that depth.
func (c cutter) newUnit(raw string, text markup.Sentence, from string, depth int) unit {
	text, readings := text.CutReadings()
	text = text.In(from)
	if c.terms != nil {
		text = text.WithTerms(c.terms)
	}
	u := unit{raw: raw, text: text, pieces: c.pieces(text, from), readings: readings, entities: text.Entities(raw)}
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
			units = append(units, c.newUnit(inner.Original(), inner, from, depth+1))
			at = branch[1]
		}
		keep(m.End)
		u.messages = append(u.messages, units)
		u.raw = text.Original() // in which the message stands as in a translation
	}
	return u
}

// pieces cuts a text of a unit into sentences.
func (c cutter) pieces(text markup.Sentence, from string) (pieces []segment.Piece) {
	if c.req.Whole {
		return []segment.Piece{{Text: text.Text, Sentence: true}}
	}
	split := segment.Split
	if c.req.Wrapped {
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

// size counts the sentences of units, and what is kept in them.
func size(units []unit) (sentences, spans int) {
	for _, u := range units {
		spans += len(u.text.Spans)
		for _, piece := range u.pieces {
			if piece.Sentence {
				sentences++
			}
		}
		for _, inner := range u.messages {
			n, s := size(inner)
			sentences, spans = sentences+n, spans+s
		}
	}
	return sentences, spans
}

// layOut finds the sentences of units, which it returns in the order in which [join] has their
// translations.
func layOut(units []unit) (sentences []markup.Sentence) {
	for i := range units {
		u := &units[i]
		pieces, found := divide(u.text, u.pieces)
		if len(found) == 0 && !u.text.HasTerms() { // nothing is translated: entities stay as they were, and readings
			pieces, u.readings, u.paragraph = nil, markup.Readings{}, nil
		}
		u.text, u.pieces, u.sentences = markup.Sentence{}, pieces, len(found)
		sentences = append(sentences, found...)
		for _, inner := range u.messages {
			sentences = append(sentences, layOut(inner)...)
		}
	}
	return sentences
}

// divide returns the sentences among the pieces of a text, and the pieces, of which those that are no
// sentences have the form in which they go into the translation. Where a cut would go through
// something that must come back as it is, it is not made.
func divide(text markup.Sentence, pieces []segment.Piece) (divided []segment.Piece, sentences []markup.Sentence) {
	keep := func(text markup.Sentence) {
		if text.Text != "" {
			divided = append(divided, segment.Piece{Text: text.Original()})
		}
	}
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
			keep(text.Slice(kept, from))
			sentences = append(sentences, text.Slice(from, to))
			divided = append(divided, segment.Piece{Text: text.Text[from:to], Sentence: true})
			kept = to
		}
		start, translate = at, false
	}
	keep(text.Slice(kept, start))
	return divided, sentences
}

// join is the text that units become, with a translation for each of their sentences, which it takes
// from the list.
func join(units []unit, of pair, translations *[]string) string {
	var joined strings.Builder
	for _, u := range units {
		text := u.raw
		if len(u.pieces) > 0 {
			text = of.join(u.pieces, (*translations)[:u.sentences])
			*translations = (*translations)[u.sentences:]
			if u.entities != nil {
				text = u.entities.Replace(text)
			}
		}
		var messages []string // as they were, and what they become
		for _, inner := range u.messages {
			was := ""
			for _, part := range inner {
				was += part.raw
			}
			messages = append(messages, was, join(inner, of, translations))
		}
		if len(messages) > 0 {
			text = strings.NewReplacer(messages...).Replace(text)
		}
		text = u.readings.Restore(text)
		if u.paragraph != nil {
			text = u.paragraph.Wrap(text)
		}
		joined.WriteString(text)
	}
	return joined.String()
}

// pair is from which language into which.
type pair struct{ from, to string }

// join puts a translation where each sentence of the pieces was.
func (p pair) join(pieces []segment.Piece, translations []string) string {
	return segment.Join(pieces, translations, language.Base(p.from), language.Base(p.to))
}
