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
	edited  time.Time // when the first edit came that is in it; zero: none
	draft   bool      // it is of the sentence that is being written
	paid    bool      // for its sentences
	dropped bool      // an edit has made it useless
}

// item is a sentence, or the beginning of one, that is being translated.
type item struct {
	part       translate.Part
	segment    int64 // its id
	key        string
	start, end int  // where the sentence is in the text, in characters
	spoiled    bool // an edit has changed it since
	arrived    bool
}

// add adds a sentence, or the beginning of one.
func (f *inflight) add(g *segment, part translate.Part, key string) {
	f.items = append(f.items, item{part: part, segment: g.id, key: key, start: g.start, end: g.start + g.length})
}

// characters are those of some of the items. Of these it reads nothing itself that edits change.
func (f *inflight) characters(of func(*item) bool) (n int) {
	for i := range f.items {
		if of(&f.items[i]) {
			n += translate.Characters(f.items[i].part.Text)
		}
	}
	return n
}

// edit moves the sentences as edits move them that were applied, and says whether none of those that have
// not arrived is of use any more. A sentence that has grown at its end is: it shows what the next one will
// begin with.
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
