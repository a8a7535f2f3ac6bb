package live

import (
	"slices"
	"time"
)

// progress is the translation of a text so far. It is plain data.
type progress struct {
	document document
	known    memo            // translations by key
	refused  map[string]bool // keys of sentences that cannot be translated
	problem  error           // why a sentence is not translated at present

	complete bool      // no more edits follow
	dirty    bool      // the text has changed since it was cut
	done     bool      // the text was complete and translated
	paused   bool      // the word at the end of the text counts as written
	drafted  bool      // the previous request was for the sentence that is being written
	alone    bool      // sentences are translated one at a time, to find the sentence that cannot be translated
	edited   time.Time // time of the first edit without a result; zero: none
}

// window is the number of sentences that a session translates at a time.
const window = 4

// show tells clients the known translations of the text, and reports whether the text has become complete and translated.
func (p *progress) show() (done bool) {
	d := &p.document
	d.show(&p.known)
	if p.complete && !p.dirty && !p.done && !slices.ContainsFunc(d.segments, func(g *segment) bool { return !g.settled && !p.refused[g.key] }) {
		p.done, done = true, true
		if !p.leavesOut() {
			p.problem = nil // although the request that clears the problem lasts for a moment longer
		}
		d.note()
	}
	d.commit()
	return done
}

// next returns the next request to translate; nil if there is none. The sentence that is being written goes before complete ones,
// because its writer looks at it, but not twice in a row.
func (p *progress) next() *inflight {
	f := &inflight{cut: p.document.cut, edited: p.edited}
	p.edited = time.Time{}
	if p.drafted || !p.addDraft(f) {
		p.addFinal(f)
	}
	if len(f.items) == 0 {
		p.addDraft(f)
	}
	if p.drafted = f.draft; len(f.items) == 0 {
		return nil
	}
	f.open = len(f.items)
	return f
}

// addFinal adds complete sentences.
func (p *progress) addFinal(f *inflight) {
	added, most := make(map[string]bool), window
	if p.alone {
		most = 1
	}
	for _, g := range p.document.segments {
		if len(f.items) < most && !g.settled && !p.document.isUnfinished(g) && !p.refused[g.key] && !added[g.key] {
			f.add(g, g.part, g.key)
			added[g.key] = true
		}
	}
}

// addDraft adds the written part of the sentence that is being written, unless this part has been translated. addDraft reports
// whether it adds the part.
func (p *progress) addDraft(f *inflight) bool {
	d := &p.document
	if len(d.segments) == 0 {
		return false
	}
	g := d.segments[len(d.segments)-1]
	part := g.part
	if written := g.number < len(d.cut.Parts)-1; !p.paused && !written { // written: white space follows, so the last word is complete
		part = part.Beginning(wholeWords(part.Text))
	}
	key := "draft\x00" + keyOf(d.cut, part)
	if !d.isUnfinished(g) || g.settled || !part.Translated || key == g.draft || p.refused[key] {
		return false
	}
	if t, known := p.known.get(key); known {
		d.hypothesize(g.id, key, t)
		p.show()
		return false
	}
	f.add(g, part, key)
	f.draft = true
	return true
}

// refuse remembers that a sentence cannot be translated. If the request had several sentences, they are tried one by one to find
// the refused one.
func (p *progress) refuse(f *inflight) {
	if p.alone = len(f.items) > 1; p.alone {
		return
	}
	if len(p.refused) >= mostRefused {
		clear(p.refused)
	}
	p.refused[f.items[0].key] = true
}

// leavesOut reports whether the text has sentences that cannot be translated.
func (p *progress) leavesOut() bool {
	return slices.ContainsFunc(p.document.segments, func(g *segment) bool { return !g.settled && p.refused[g.key] })
}

// mostRefused is the maximum number of remembered sentences that cannot be translated.
const mostRefused = 256

// tellProblem tells clients why a sentence is not translated; nil: there is no problem.
func (p *progress) tellProblem(problem error) {
	if problem != nil || p.problem != nil {
		p.problem = problem
		p.document.note()
		p.document.commit()
	}
}
