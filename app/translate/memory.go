package translate

import (
	"context"
	"strings"

	"dragoman/app/fault"
	"dragoman/app/text/segment"
)

// MemoryRef names a translation memory. It is plain data.
type MemoryRef struct {
	Owner, ID string
	// Least is the similarity from which on the translation of a similar sentence is used, 0 to use those of equal sentences only.
	Least float64 `json:",omitzero"`
}

// Memories opens translation memories. It is safe for concurrent use.
type Memories interface {
	// Open opens a memory for a request. The error can be shown to the sender.
	Open(ctx context.Context, ref MemoryRef) (Memory, error)
}

// Memory has translations that people have approved. One goroutine uses it.
type Memory interface {
	// Find returns the entry for a text, whose similarity is 1, or else up to near similar ones, the most similar first. from and to
	// are codes of languages.
	Find(ctx context.Context, from, to, text string, near int) ([]MemoryMatch, error)
}

// MemoryMatch is an entry of a memory for a text.
type MemoryMatch struct {
	Source string // of the entry
	// Target is the translation, with the numbers and placeholders of the text if the entry has others in the same places.
	Target     string
	Similarity float64 // 1 for an equal source, and at least 0.75
}

// openMemory opens the translation memory of a request.
func (s *Service) openMemory(ctx context.Context, req Request) (Memory, error) {
	switch {
	case req.Memory == nil:
		return nil, nil
	case s.cfg.Memories == nil:
		return nil, fault.New(fault.NotOffered, "payload.memoryId", "this service keeps no translation memories: MEMORY_FILE is off")
	}
	return s.cfg.Memories.Open(ctx, *req.Memory)
}

// recallMemory looks the sentences up in the translation memory. It returns the sentences that are left to the models, and the
// others with their outcomes.
func (w *work) recallMemory(ctx context.Context, sentences []*sentence) (rest []*sentence, known []remembered, err error) {
	if w.memory == nil {
		return sentences, nil, nil
	}
	for _, x := range sentences {
		matches, err := w.memory.Find(ctx, x.step.from, x.step.last().to, x.Text, w.nearWanted(x))
		if err != nil {
			return nil, nil, err
		}
		o, ok, err := w.useMemory(x, matches)
		switch {
		case err != nil:
			return nil, nil, err
		case ok:
			known = append(known, remembered{x, o})
			continue
		}
		if x.near, err = w.nearOf(x, matches); err != nil {
			return nil, nil, err
		}
		x.setExamples(matches)
		rest = append(rest, x)
	}
	return rest, known, nil
}

// nearWanted returns the number of similar sentences that a request can use for a sentence.
func (w *work) nearWanted(x *sentence) int {
	least := 0
	switch {
	case x.isPrompted():
		least = mostExamples
	case w.req.Memory.Least > 0:
		least = 1
	}
	return max(least, w.req.Alternatives-1)
}

// last returns the last step of a route.
func (s *step) last() *step {
	for s.next != nil {
		s = s.next
	}
	return s
}

// useMemory returns the outcome of a sentence with the translation of an equal one, or of one that is similar enough for the
// request. A person may have written a number or name in another way, but markup must not be lost.
func (c *codec) useMemory(x *sentence, matches []MemoryMatch) (o outcome, ok bool, err error) {
	if len(matches) == 0 || matches[0].Similarity < 1 && (c.req.Memory.Least == 0 || matches[0].Similarity < c.req.Memory.Least) {
		return o, false, nil
	}
	match := matches[0]
	text, lost := x.Verify(c.ctx, match.Target)
	switch {
	case c.ctx.Err() != nil:
		return o, false, c.ctx.Err()
	case lost != nil && (!x.AsIs() || match.Similarity < 1):
		return o, false, nil
	case lost != nil:
		text = x.Escape(match.Target)
	}
	o = outcome{text: text, memory: &match}
	err = c.compareTerms(x, &o)
	return o, err == nil, err
}

// nearOf returns the alternatives that similar sentences give to a sentence: with its markup, or without any.
func (c *codec) nearOf(x *sentence, matches []MemoryMatch) (near []hypothesis, err error) {
	if c.req.Alternatives == 0 {
		return nil, nil
	}
	for _, m := range matches {
		text, lost := x.Verify(c.ctx, m.Target)
		if lost != nil {
			if text = m.Target; c.req.Format == HTML || c.req.Format == XML {
				if text = x.Escape(m.Target); text != m.Target {
					continue
				}
			}
		}
		near = append(near, hypothesis{Alternative: Alternative{Text: text, Memory: &m}})
	}
	return near, c.ctx.Err()
}

// offer puts alternatives behind the outcome's own translation, as far as there are at most most of them in all.
func (o *outcome) offer(near []hypothesis, most int) {
	if len(near) == 0 {
		return
	}
	list := []hypothesis{o.hypothesis(0)}
	for _, h := range near {
		list = addNew(list, h)
	}
	for k := 1; k < len(o.hypotheses); k++ {
		list = addNew(list, o.hypotheses[k])
	}
	o.hypotheses = list[:min(len(list), most)]
}

// keepWhole makes units of several sentences one sentence each if the translation memory has them for all languages.
func (w *work) keepWhole(ctx context.Context, units []unit, records []*record) error {
	if w.memory == nil {
		return nil
	}
	for i := range units {
		u := &units[i]
		if !u.hasSeveral() || len(u.messages) > 0 || strings.Contains(strings.TrimSpace(u.text.Text), "\n") {
			continue
		}
		known := true
		for k := 0; k < len(records) && known; k++ {
			p := records[k].route.pair()
			matches, err := w.memory.Find(ctx, p.from, p.to, u.text.Text, 0)
			if err != nil {
				return err
			}
			known = len(matches) > 0
		}
		if known {
			u.pieces = []segment.Piece{{Text: u.text.Text, Sentence: true}}
		}
	}
	return nil
}

// hasSeveral reports whether a unit has several sentences.
func (u *unit) hasSeveral() bool {
	n := 0
	for _, piece := range u.pieces {
		if piece.Sentence {
			n++
		}
	}
	return n > 1
}
