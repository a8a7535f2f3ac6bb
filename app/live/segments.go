package live

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dragoman/app/translate"
)

// segment is a sentence of the text and its translation.
type segment struct {
	id     int64
	part   translate.Part
	key    string // what its translation is known by
	number int    // of the part in the cut
	start  int    // characters of the text before it
	length int    // its own
	ended  bool   // the sentence is at its end

	translation          // or that of what it was before
	stable      int      // bytes of it
	settled     bool     // text is the translation of the sentence as it is
	drafts      []string // the translations of its last states while it is unfinished, the newest last
	draft       string   // the key of the newest of these states

	place          place // as clients know it
	placed, worded int64 // the revisions of the last changes of its place, and of its text; 0: none
}

// place is what clients are told of a segment beside its text.
type place struct {
	after  int64  // the id of the segment before; 0: there is none
	skip   int    // characters of the text between the two
	length int    // of the sentence, in characters
	before string // what stands between the translations of the two
	final  bool
}

// removal is a segment that is not there any more.
type removal struct{ id, revision int64 }

// mostRemoved is how many of those are remembered.
const mostRemoved = 1024

// match gives the sentences of a cut, which came of edits to the one before, their segments. What
// did not change keeps its segment; of what did, the first sentence gets the first segment, and so on,
// so that one that is edited, or is cut in two, keeps its own.
func (x *Session) match(cut translate.Cut) {
	fresh := sentencesOf(cut)
	old := x.segments
	same := func(a, b *segment) bool { return a.key == b.key }
	head := 0
	for head < min(len(fresh), len(old)) && same(fresh[head], old[head]) {
		head++
	}
	foot := 0
	for foot < min(len(fresh), len(old))-head && same(fresh[len(fresh)-1-foot], old[len(old)-1-foot]) {
		foot++
	}
	for i, g := range fresh {
		fromEnd := len(fresh) - i
		switch {
		case fromEnd <= foot:
			fresh[i] = old[len(old)-fromEnd].become(g)
		case i < len(old)-foot:
			fresh[i] = old[i].become(g)
		default:
			x.lastID++
			g.id = x.lastID
		}
	}
	if gone := len(old) - len(fresh); gone > 0 {
		for _, g := range old[len(fresh)-foot : len(old)-foot] {
			x.removed = append(x.removed, removal{g.id, x.revision + 1})
		}
		x.shrunk = x.revision + 1
		if n := len(x.removed) - mostRemoved; n > 0 {
			x.forgotten = x.removed[n-1].revision
			x.removed = slices.Delete(x.removed, 0, n)
		}
	}
	if cut.From != x.cut.From {
		x.told = x.revision + 1
	}
	x.cut, x.segments = cut, fresh
}

// sentencesOf are new segments for what is translated of a cut.
func sentencesOf(cut translate.Cut) (list []*segment) {
	chars := 0
	for i, p := range cut.Parts {
		n := utf8.RuneCountInString(p.Text)
		if p.Translated {
			list = append(list, &segment{
				part: p, key: keyOf(cut, p), number: i, start: chars, length: n, ended: true,
			})
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

// become makes a segment that of another sentence, and returns it.
func (g *segment) become(other *segment) *segment {
	g.settled = g.settled && g.key == other.key
	g.part, g.key, g.number, g.start, g.length, g.ended = other.part, other.key, other.number, other.start, other.length, other.ended
	return g
}

// unfinished says whether a segment is the sentence that is being written.
func (x *Session) unfinished(g *segment) bool { return !g.ended && !x.complete && !x.settle }

// show gives all segments what is known of them, and tells clients what that changes.
func (x *Session) show() {
	revision := x.revision + 1
	after, end, last, done := int64(0), 0, "", x.complete && !x.dirty
	for _, g := range x.segments {
		unfinished := x.unfinished(g)
		if t, known := x.known.get(g.key); known && !unfinished && !g.settled {
			// What goes on with it has to agree with what is shown, not with what that was before.
			g.settled, g.drafts, g.draft = true, slices.Repeat([]string{t.text}, x.service.cfg.Stability.Agree-1), ""
			g.write(t, len(t.text), revision)
		}
		now := place{
			after: after, skip: g.start - end, length: g.length, before: x.cut.Between(g.number, last), final: g.settled && !unfinished,
		}
		told := g.place
		if unfinished { // how long it is by now is told with its text
			told.length = now.length
		}
		if told != now || g.placed == 0 {
			g.placed = revision
		}
		g.place = now
		done = done && (g.settled || x.refused[g.key])
		after, end, last = g.id, g.start+g.length, g.text
	}
	if tail := x.cut.Between(len(x.cut.Parts), last); tail != x.tail {
		x.tail, x.tailed = tail, revision
	}
	if done && x.doneAt == 0 {
		x.doneAt = revision
		x.idle.Reset(min(x.service.cfg.Idle, afterDone))
	}
	if x.changedSince(revision) {
		x.revision = revision
		x.announce()
	}
}

// afterDone is how long a session is kept at most whose text is complete and translated, for clients that
// have to connect again.
const afterDone = 30 * time.Second

// changedSince says whether anything has changed with a revision that is the next.
func (x *Session) changedSince(revision int64) bool {
	return max(x.tailed, x.told, x.shrunk, x.troubled, x.doneAt) == revision ||
		slices.ContainsFunc(x.segments, func(g *segment) bool { return max(g.placed, g.worded) == revision })
}

// write gives a segment a translation, so many bytes of which are stable.
func (g *segment) write(t translation, stable int, revision int64) {
	if t != g.translation || stable != g.stable {
		g.translation, g.stable, g.worded = t, stable, revision
	}
}

// hypothesize takes the translation of a state of a sentence that is not finished.
func (x *Session) hypothesize(id int64, key string, t translation) {
	i := slices.IndexFunc(x.segments, func(g *segment) bool { return g.id == id })
	if i < 0 || x.segments[i].settled {
		return
	}
	g, how := x.segments[i], x.service.cfg.Stability
	g.drafts = append(g.drafts, t.text)
	g.drafts = g.drafts[max(0, len(g.drafts)-how.Agree):]
	g.draft = key
	stable := how.of(g.drafts)
	if strings.HasPrefix(t.text, g.text[:g.stable]) {
		stable = max(stable, g.stable)
	}
	g.write(t, stable, x.revision+1)
}
