package live

import (
	"context"
	"time"
	"unicode/utf8"

	"dragoman/app/translate"
)

// inflight is a request of translate for sentences of a session.
type inflight struct {
	context.Context
	cancel  context.CancelFunc
	cut     translate.Cut
	items   []item
	open    int       // items that have not arrived
	edited  time.Time // time of the first edit in it; zero: none
	draft   bool      // for the sentence that is being written
	paid    bool      // for its sentences
	dropped bool      // an edit has made the request useless
}

// item is a sentence, or the beginning of one, in translation.
type item struct {
	part       translate.Part
	segment    int64 // id of its segment
	key        string
	start, end int  // place of the sentence in the text, in characters
	spoiled    bool // an edit has changed the sentence since
	arrived    bool
}

// add adds a sentence, or the beginning of one.
func (f *inflight) add(g *segment, part translate.Part, key string) {
	f.items = append(f.items, item{part: part, segment: g.id, key: key, start: g.start, end: g.start + g.length})
}

// characters returns the number of characters of the items selected by of. It does not read fields that edits change.
func (f *inflight) characters(of func(*item) bool) (n int) {
	for i := range f.items {
		if of(&f.items[i]) {
			n += translate.Characters(f.items[i].part.Text)
		}
	}
	return n
}

// edit moves the sentences by applied edits, and reports whether all items that have not arrived are useless. A sentence that has
// grown at its end is still useful: its translation shows the beginning of the longer sentence's.
func (f *inflight) edit(list []Edit) (useless bool) {
	for _, e := range list {
		if e.From == End {
			continue
		}
		added := utf8.RuneCountInString(e.Text)
		for i := range f.items {
			p := &f.items[i]
			switch {
			case e.From >= p.end:
			case e.To <= p.start:
				p.start, p.end = p.start+added-(e.To-e.From), p.end+added-(e.To-e.From)
			default:
				p.spoiled = true
				p.end = max(p.end, e.To) + added - (e.To - e.From)
			}
		}
	}
	for _, p := range f.items {
		if !p.arrived && !p.spoiled {
			return false
		}
	}
	return true
}
