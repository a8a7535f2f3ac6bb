package translate

import (
	"cmp"
	"context"
	"strings"

	"dragoman/app/budget"
	"dragoman/app/text/char"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/app/text/segment"
	"dragoman/app/text/wrap"
)

// unit is a part of a text that is translated by itself, such as all of a plain text or a paragraph of HTML, or a part that stays
// as it is. A unit is the same for all target languages.
type unit struct {
	raw       string          // as in the text
	text      markup.Sentence // sentence of a translated unit, until the unit is laid out
	pieces    []segment.Piece // pieces of text; empty for a unit that stays as it is
	sentences int             // number of sentences in pieces, once it is laid out

	readings  markup.Readings // removed from text
	mark      markup.Accelerator
	entities  *strings.Replacer // writes symbols of its translation as references; nil to leave them
	paragraph *wrap.Paragraph   // the paragraph that text has on one line; nil if it is not wrapped
	messages  [][]unit          // the units of each ICU message in the text
}

// cutter cuts texts into units, by the options of a request.
type cutter struct {
	ctx   context.Context
	req   *Request
	terms *markup.Terms // nil if there are none
	whole bool          // each text, or block of HTML or XML, is one sentence
}

// unitsOf cuts a record, in language from, into units.
func (c cutter) unitsOf(record int, from string) ([]unit, error) {
	text := c.req.Records[record].Text
	if c.req.parts == nil || c.req.parts[record].whole {
		return c.cut(text, from)
	}
	return []unit{{raw: text, text: c.req.parts[record].markup, pieces: []segment.Piece{{Text: text, Sentence: true}}}}, nil
}

// cut cuts a text, in language from, into units. It fails with the context's error.
func (c cutter) cut(text, from string) (units []unit, err error) {
	split := markup.SplitHTML
	switch c.req.Format {
	case HTML:
	case XML:
		split = c.req.Outline.Split
	default:
		if units, err = c.cutPlain(text, from); err != nil {
			return nil, err
		}
		return units, budget.Work(c.ctx, len(text))
	}
	pieces, err := split(c.ctx, text)
	if err != nil {
		return nil, err
	}
	for _, piece := range pieces {
		if err := budget.Work(c.ctx, len(piece.Raw)); err != nil {
			return nil, err
		}
		u := unit{raw: piece.Raw}
		if piece.Unit {
			parsed, err := piece.Parse(c.ctx)
			if err != nil {
				return nil, err
			}
			if u, err = c.newUnit(piece.Raw, parsed, from, 0); err != nil {
				return nil, err
			}
		}
		units = append(units, u)
	}
	return units, nil
}

// cutPlain cuts a plain text. If the text is wrapped, each paragraph is a unit.
func (c cutter) cutPlain(text, from string) (units []unit, err error) {
	text, mark := markup.CutAccelerator(markup.WithoutStray(text))
	parsed, err := markup.Parse(c.ctx, text, markup.Text)
	if err != nil {
		return nil, err
	}
	at := 0
	add := func(end int, text markup.Sentence, raw string, paragraph *wrap.Paragraph) error {
		u, err := c.newUnit(raw, text, from, 0)
		u.paragraph = paragraph
		units, at = append(units, u), end
		return err
	}
	keep := func(end int) error {
		if at == end {
			return nil
		}
		return add(end, parsed.Slice(at, end), text[at:end], nil)
	}
	for p, err := range wrap.Wrapped(c.ctx, text, cmp.Or(c.req.Wrap, wrap.Off)) {
		if err != nil {
			return nil, err
		}
		if parsed.HasLines(p.Start, p.End) {
			continue
		}
		if err := keep(p.Start); err != nil {
			return nil, err
		}
		line, err := markup.Parse(c.ctx, p.Text, markup.Text)
		if err == nil {
			err = add(p.End, line, text[p.Start:p.End], &p)
		}
		if err != nil {
			return nil, err
		}
	}
	if at == 0 {
		err = add(len(text), parsed, text, nil)
		units[0].mark = mark
	} else {
		err = keep(len(text))
	}
	return units, err
}

// maxNesting is the maximum depth of ICU messages whose branches are translated.
const maxNesting = 4

// newUnit returns a translated unit, in a message at the given depth.
func (c cutter) newUnit(raw string, text markup.Sentence, from string, depth int) (unit, error) {
	text, readings, err := text.CutReadings(c.ctx)
	if err == nil {
		text, err = text.In(c.ctx, from)
	}
	if err == nil && c.terms != nil {
		text, err = text.WithTerms(c.ctx, c.terms)
	}
	if err != nil {
		return unit{}, err
	}
	pieces, err := c.pieces(text, from)
	u := unit{raw: raw, text: text, pieces: pieces, readings: readings, entities: text.Entities(raw)}
	if depth == maxNesting || err != nil {
		return u, err
	}
	messages := text.Messages()
	if len(messages) > 0 {
		u.raw = text.Original() // with the messages in the form that they have in a translation
	}
	for _, m := range messages {
		var units []unit
		at := m.Start
		keep := func(end int) {
			units = append(units, unit{raw: text.Within(at, end)})
			at = end
		}
		for _, branch := range m.Branches {
			keep(branch[0])
			inner, err := text.Branch(c.ctx, branch[0], branch[1])
			if err != nil {
				return unit{}, err
			}
			innerUnit, err := c.newUnit(inner.Original(), inner, from, depth+1)
			if err != nil {
				return unit{}, err
			}
			units = append(units, innerUnit)
			at = branch[1]
		}
		keep(m.End)
		u.messages = append(u.messages, units)
	}
	return u, nil
}

// pieces cuts the text of a unit into sentences.
func (c cutter) pieces(text markup.Sentence, from string) (pieces []segment.Piece, err error) {
	if c.req.Whole || c.whole {
		return wholeLines(text), nil
	}
	split := segment.Split
	if c.req.Wrapped {
		split = segment.SplitWrapped
	}
	noted, err := text.Noted(c.ctx)
	if err != nil {
		return nil, err
	}
	for _, line := range text.Lines() {
		at := line[0]
		found, err := split(c.ctx, noted[line[0]:line[1]], from)
		if err != nil {
			return nil, err
		}
		for i, piece := range found {
			found[i].Text = text.Text[at : at+len(piece.Text)]
			at += len(piece.Text)
		}
		pieces = append(pieces, found...)
	}
	return pieces, nil
}

// wholeLines returns the lines of a text as sentences: a model would drop the line breaks.
func wholeLines(text markup.Sentence) (pieces []segment.Piece) {
	at := 0
	for line := range strings.Lines(text.Text) {
		bare := strings.TrimRight(line, "\r\n")
		end := at + len(bare)
		if text.HasLines(at, at+len(line)) && at+len(line) < len(text.Text) {
			bare, end = line, at+len(line)
		}
		pieces = append(pieces, segment.Piece{Text: bare, Sentence: true})
		if end < at+len(line) {
			pieces = append(pieces, segment.Piece{Text: text.Text[end : at+len(line)]})
		}
		at += len(line)
	}
	return pieces
}

// size returns the number of sentences of units, and of spans in them.
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

// layOut returns the sentences of units, in the order in which [join] expects their translations.
func layOut(ctx context.Context, units []unit) (sentences []markup.Sentence, err error) {
	for i := range units {
		u := &units[i]
		pieces, found, err := divide(ctx, u.text, u.pieces)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 && !u.text.HasTerms() { // nothing is translated: entities and readings stay as they were
			pieces, u.readings, u.paragraph = nil, markup.Readings{}, nil
		}
		u.text, u.pieces, u.sentences = markup.Sentence{}, pieces, len(found)
		sentences = append(sentences, found...)
		for _, inner := range u.messages {
			found, err := layOut(ctx, inner)
			if err != nil {
				return nil, err
			}
			sentences = append(sentences, found...)
		}
	}
	return sentences, nil
}

// divide returns the sentences among the pieces of a text, and the pieces themselves, where pieces other than sentences have the
// form that they get in a translation. It does not cut spans.
func divide(ctx context.Context, text markup.Sentence, pieces []segment.Piece) (divided []segment.Piece, sentences []markup.Sentence, err error) {
	err = char.Look(ctx, len(text.Text), func(l *char.Looks) { divided, sentences = divideLooking(l, text, pieces) })
	return divided, sentences, err
}

func divideLooking(looks *char.Looks, text markup.Sentence, pieces []segment.Piece) (divided []segment.Piece, sentences []markup.Sentence) {
	divided, sentences = make([]segment.Piece, 0, len(pieces)), make([]markup.Sentence, 0, 1+len(pieces)/2)
	keep := func(from, to int) {
		if from < to {
			divided = append(divided, segment.Piece{Text: text.Slice(from, to).Original()})
		}
	}
	kept, start, end, translate := 0, 0, 0, false // text[kept:start] stays as it is
	next := 0                                     // the first span that does not end before end
	for i, piece := range pieces {
		looks.Past(len(piece.Text))
		end += len(piece.Text)
		at := end
		translate = translate || piece.Sentence
		for next < len(text.Spans) && text.Spans[next].End < end {
			next++
		}
		if next < len(text.Spans) && text.Spans[next].Start < end {
			if i+1 < len(pieces) {
				at = max(start, text.Opened(end))
			}
			if text.Inside(at) {
				continue
			}
		}
		if !translate {
			start = at
			continue
		}
		if piece := text.Slice(start, at); !piece.Blank() || piece.IsWritten() {
			from, to := text.Trimmed(start, at)
			keep(kept, from)
			if from > start || to < at {
				piece = text.Slice(from, to)
			}
			sentences = append(sentences, piece)
			divided = append(divided, segment.Piece{Text: text.Text[from:to], Sentence: true})
			kept = to
		}
		start, translate = at, false
	}
	keep(kept, start)
	return divided, sentences
}

// join returns the text of units with a translation for each of their sentences. It removes these from translations. It fails
// with ctx's error.
func join(ctx context.Context, units []unit, of pair, translations *[]string) (string, error) {
	var joined strings.Builder
	for _, u := range units {
		text, err := u.raw, ctx.Err()
		if err != nil {
			return "", err
		}
		if len(u.pieces) > 0 {
			if text, err = of.join(ctx, u.pieces, (*translations)[:u.sentences]); err != nil {
				return "", err
			}
			*translations = (*translations)[u.sentences:]
			if u.entities != nil {
				text = u.entities.Replace(text)
			}
		}
		var messages []string // pairs of an original and its translation
		for _, inner := range u.messages {
			var was strings.Builder
			for _, part := range inner {
				was.WriteString(part.raw)
			}
			translated, err := join(ctx, inner, of, translations)
			if err != nil {
				return "", err
			}
			messages = append(messages, was.String(), translated)
		}
		if len(messages) > 0 {
			text = strings.NewReplacer(messages...).Replace(text)
		}
		text = u.mark.Restore(u.readings.Restore(text), language.Base(of.to))
		if u.paragraph != nil {
			if text, err = u.paragraph.Wrap(ctx, text); err != nil {
				return "", err
			}
		}
		joined.WriteString(text)
	}
	return joined.String(), nil
}

// pair is a source and a target language.
type pair struct{ from, to string }

// join replaces each sentence of the pieces by a translation.
func (p pair) join(ctx context.Context, pieces []segment.Piece, translations []string) (string, error) {
	return segment.Join(ctx, pieces, translations, language.Base(p.from), language.Base(p.to))
}
