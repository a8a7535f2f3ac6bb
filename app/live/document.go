package live

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dragoman/app/translate"
)

// document is a text as it was cut last: its sentences, their translations, and what clients know of both.
type document struct {
	changes
	cut      translate.Cut
	told     int64 // the revision of the language that the text is in
	goesOn   bool  // the last sentence may: it is being written unless it is at its end
	segments []*segment
	lastID   int64  // of segments
	tail     string // what stands behind the last of them in the translation
	tailed   int64  // its revision; 0: none
}

// segment is a sentence of the text and its translation.
type segment struct {
	id int64
	sentence

	translation          // or that of what it was before
	stable      int      // bytes of it
	settled     bool     // text is the translation of the sentence as it is
	drafts      []string // the translations of its last states while it is unfinished, the newest last
	draft       string   // the key of the newest of these states

	place          place // as clients know it
	placed, worded int64 // the revisions of the last changes of its place, and of its text; 0: none
}

// sentence is a sentence of a cut.
type sentence struct {
	part   translate.Part
	key    string // what its translation is known by
	number int    // of the part in the cut
	start  int    // characters of the text before it
	length int    // its own
	ended  bool   // it is at its end
}

// place is what clients are told of a segment beside its text.
type place struct {
	after  int64  // the id of the segment before; 0: there is none
	skip   int    // characters of the text between the two
	length int    // of the sentence, in characters
	before string // what stands between the translations of the two
	final  bool
}

func newDocument(cut translate.Cut) document {
	return document{changes: newChanges(), cut: cut, told: 1, goesOn: true}
}

// match gives the sentences of a cut, which came of edits to the one before, their segments. What
// did not change keeps its segment; of what did, the first sentence gets the first segment, and so on,
// so that one that is edited, or is cut in two, keeps its own.
func (d *document) match(cut translate.Cut) {
	found, old := sentencesOf(cut), d.segments
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
		g.sentence = s
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

// sentencesOf are what is translated of a cut.
func sentencesOf(cut translate.Cut) (list []sentence) {
	chars := 0
	for i, p := range cut.Parts {
		n := utf8.RuneCountInString(p.Text)
		if p.Translated {
			list = append(list, sentence{part: p, key: keyOf(cut, p), number: i, start: chars, length: n, ended: true})
		}
		chars += n
	}
	if len(list) > 0 {
		list[len(list)-1].ended = cut.Ended
	}
	return list
}

// keyOf is what the translation of a part of a cut is known by.
func keyOf(cut translate.Cut, p translate.Part) string { return cut.From + "\x00" + p.Key() }

// isUnfinished says whether a segment is the sentence that is being written.
func (d *document) isUnfinished(g *segment) bool { return !g.ended && d.goesOn }

// show gives all segments what is known of them, and notes what that changes for clients.
func (d *document) show(known *memo) {
	after, end, last := int64(0), 0, ""
	for _, g := range d.segments {
		unfinished := d.isUnfinished(g)
		if t, ok := known.get(g.key); ok && !unfinished && !g.settled {
			// What goes on with it has to agree with what is shown, not with what that was before.
			g.settled, g.drafts, g.draft = true, slices.Repeat([]string{t.text}, agreeing-1), ""
			d.write(g, t, len(t.text))
		}
		now := place{
			after: after, skip: g.start - end, length: g.length, before: d.cut.Between(g.number, last), final: g.settled && !unfinished,
		}
		told := g.place
		if unfinished { // how long it is by now is told with its text
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

// write gives a segment a translation, so many bytes of which are stable.
func (d *document) write(g *segment, t translation, stable int) {
	if t != g.translation || stable != g.stable {
		g.translation, g.stable, g.worded = t, stable, d.note()
	}
}

// hypothesize takes the translation of a state of a sentence that is not finished.
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

// update is what is new for a client that has seen everything up to a revision.
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

// since is the segment for a client that has seen everything up to a revision.
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
