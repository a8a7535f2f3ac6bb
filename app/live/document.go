package live

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dragoman/app/translate"
)

// document is a text in its last cut: its sentences, their translations, and the state that clients know of both.
type document struct {
	changes
	cut      translate.Cut
	told     int64 // revision of the text's language
	goesOn   bool  // the last sentence is being written, unless it has ended
	segments []*segment
	lastID   int64  // last id of a segment
	tail     string // text after the last segment in the translation
	tailed   int64  // revision of tail; 0: none
}

// segment is a sentence of the text and its translation.
type segment struct {
	id int64
	cutPart

	translation          // translation of the sentence, or of its previous state
	stable      int      // number of stable bytes of the translation
	settled     bool     // the translation is of the current sentence
	drafts      []string // translations of the last states of an unfinished sentence, the newest last
	draft       string   // key of the newest of these states

	place          place // the place that clients know
	placed, worded int64 // revisions of the last changes of the segment's place, and of its text; 0: none
}

// cutPart is a part of a cut that is translated: a sentence.
type cutPart struct {
	part   translate.Part
	key    string // key of its translation
	number int    // number of the part in the cut
	start  int    // characters of the text before it
	length int    // in characters
	ended  bool   // the sentence is complete
}

// place is the state of a segment that clients are told, besides its text.
type place struct {
	after  int64  // id of the previous segment; 0: none
	skip   int    // characters of the text between the previous segment and this one
	length int    // length of the sentence in characters
	before string // text between the translations of the previous segment and this one
	final  bool
}

func newDocument(cut translate.Cut) document {
	return document{changes: newChanges(), cut: cut, told: 1, goesOn: true}
}

// match assigns segments to the sentences of a new cut, which results from edits to the previous one. Unchanged sentences keep
// their segments; of the changed sentences, the first gets the first changed segment, and so on, so that a sentence that is
// edited, or split in two, keeps its segment.
func (d *document) match(cut translate.Cut) {
	found, old := translatedParts(cut), d.segments
	head := 0
	for head < min(len(found), len(old)) && found[head].key == old[head].key {
		head++
	}
	foot := 0
	for foot < min(len(found), len(old))-head && found[len(found)-1-foot].key == old[len(old)-1-foot].key {
		foot++
	}
	segments := make([]*segment, len(found))
	for i, s := range found {
		var g *segment
		switch fromEnd := len(found) - i; {
		case fromEnd <= foot:
			g = old[len(old)-fromEnd]
		case i < len(old)-foot:
			g = old[i]
		default:
			d.lastID++
			g = &segment{id: d.lastID}
		}
		g.settled = g.settled && g.key == s.key
		g.cutPart = s
		segments[i] = g
	}
	if len(old) > len(found) {
		d.remove(old[len(found)-foot : len(old)-foot])
	}
	if cut.From != d.cut.From {
		d.told = d.note()
	}
	d.cut, d.segments = cut, segments
}

// translatedParts returns the translated parts of a cut.
func translatedParts(cut translate.Cut) (list []cutPart) {
	chars := 0
	for i, p := range cut.Parts {
		n := utf8.RuneCountInString(p.Text)
		if p.Translated {
			list = append(list, cutPart{part: p, key: keyOf(cut, p), number: i, start: chars, length: n, ended: true})
		}
		chars += n
	}
	if len(list) > 0 {
		list[len(list)-1].ended = cut.Ended
	}
	return list
}

// keyOf returns the key of the translation of a part of a cut.
func keyOf(cut translate.Cut, p translate.Part) string { return cut.From + "\x00" + p.Key() }

// isUnfinished reports whether a segment is the sentence that is being written.
func (d *document) isUnfinished(g *segment) bool { return !g.ended && d.goesOn }

// show updates all segments from the known translations, and notes the changes for clients.
func (d *document) show(known *memo) {
	after, end, last := int64(0), 0, ""
	for _, g := range d.segments {
		unfinished := d.isUnfinished(g)
		if t, ok := known.get(g.key); ok && !unfinished && !g.settled {
			// Later drafts have to agree with the shown text, not with earlier drafts.
			g.settled, g.drafts, g.draft = true, slices.Repeat([]string{t.text}, agreeing-1), ""
			d.write(g, t, len(t.text))
		}
		now := place{
			after: after, skip: g.start - end, length: g.length, before: d.cut.Between(g.number, last), final: g.settled && !unfinished,
		}
		told := g.place
		if unfinished { // clients are told its current length with its text
			told.length = now.length
		}
		if told != now || g.placed == 0 {
			g.placed = d.note()
		}
		g.place = now
		after, end, last = g.id, g.start+g.length, g.text
	}
	if tail := d.cut.Between(len(d.cut.Parts), last); tail != d.tail {
		d.tail, d.tailed = tail, d.note()
	}
}

// write sets the translation of a segment, with the number of stable bytes.
func (d *document) write(g *segment, t translation, stable int) {
	if t != g.translation || stable != g.stable {
		g.translation, g.stable, g.worded = t, stable, d.note()
	}
}

// hypothesize adds the translation of a state of an unfinished sentence.
func (d *document) hypothesize(id int64, key string, t translation) {
	i := slices.IndexFunc(d.segments, func(g *segment) bool { return g.id == id })
	if i < 0 || d.segments[i].settled {
		return
	}
	g := d.segments[i]
	g.drafts = append(g.drafts, t.text)
	g.drafts = g.drafts[max(0, len(g.drafts)-agreeing):]
	g.draft = key
	n := stable(g.drafts)
	if strings.HasPrefix(t.text, g.text[:g.stable]) {
		n = max(n, g.stable)
	}
	d.write(g, t, n)
}

// update returns the changes for a client that has seen everything up to a revision.
func (d *document) update(seen int64) Update {
	if seen < d.forgotten {
		seen = 0
	}
	u := Update{Revision: d.revision, All: seen == 0}
	if d.told > seen {
		u.From = d.cut.From
	}
	if d.tailed > seen {
		u.Tail = new(d.tail)
	}
	for _, g := range d.segments {
		if max(g.placed, g.worded) > seen {
			u.Segments = append(u.Segments, g.since(seen))
		}
	}
	if seen > 0 {
		u.Removed = d.removedSince(seen)
	}
	return u
}

// since returns the segment for a client that has seen everything up to a revision.
func (g *segment) since(seen int64) Segment {
	s := Segment{
		ID: g.id, Revision: max(g.placed, g.worded), After: g.place.after, Skip: g.place.skip, Length: g.place.length,
		Before: g.place.before, Stable: utf8.RuneCountInString(g.text[:g.stable]), Final: g.place.final,
	}
	if g.worded > seen {
		s.Text, s.Flags = new(g.text), g.flags
	}
	return s
}
