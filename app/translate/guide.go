package translate

import (
	"fmt"
	"slices"
	"strings"

	"dragoman/app/text/markup"
	"dragoman/model/prompt"
)

// paragraphs reports whether the model translates paragraphs in one piece.
func (m *Model) paragraphs() bool { return m.Prompted != nil && m.Prompted.Paragraphs }

// mostNeighbours is the maximum of [Prompted.Neighbours].
const mostNeighbours = 16

// before returns the texts before a sentence that its model is told, a line each: of the record and, in a document, of those before. Parts of a text that is translated
// sentence by sentence are told none, because their translations would depend on what is asked for together.
func (rec *record) before(w *work, recent, sentences []markup.Sentence) string {
	m := rec.route.first.model
	if m.Prompted == nil || m.Prompted.Neighbours == 0 || w.req.parts != nil {
		return ""
	}
	if missing := m.Prompted.Neighbours - len(sentences); missing > 0 {
		sentences = slices.Concat(recent[max(0, len(recent)-missing):], sentences)
	}
	var lines strings.Builder
	for _, s := range sentences[max(0, len(sentences)-m.Prompted.Neighbours):] {
		lines.WriteString(strings.Join(strings.Fields(s.Text), " ") + "\n")
	}
	return lines.String()
}

// mostExamples is the maximum number of similar sentences that a language model is told.
const mostExamples = 3

// isPrompted reports whether a language model translates the sentence into the target language of its route.
func (x *sentence) isPrompted() bool { return x.step.model.Prompted != nil && x.step.next == nil }

// setExamples makes examples for a language model of similar sentences.
func (x *sentence) setExamples(matches []MemoryMatch) {
	if !x.isPrompted() {
		return
	}
	for _, m := range matches[:min(len(matches), mostExamples)] {
		x.examples = append(x.examples, prompt.Example{Source: m.Source, Target: m.Target})
	}
}

// told returns what a language model is told beside the text, besides its terms, for the key of the cache.
func (x *sentence) told() string {
	if len(x.examples) == 0 {
		return x.before
	}
	return fmt.Sprintf("%s%q", x.before, x.examples)
}

// guide returns what a language model is told beside the text of a sentence.
func (x *sentence) guide() *prompt.Guide {
	g := &prompt.Guide{Try: x.tries, Examples: x.examples}
	for line := range strings.Lines(x.before) {
		g.Before = append(g.Before, strings.TrimSuffix(line, "\n"))
	}
	for _, span := range x.form.Spans {
		if span.Kind != markup.TermKind || span.Term == nil {
			continue
		}
		if term := prompt.Term(*span.Term); !slices.Contains(g.Terms, term) {
			g.Terms = append(g.Terms, term)
		}
	}
	switch {
	case x.tries == 0:
	case x.flags&(Refused|Empty) != 0:
		g.Fault = prompt.Refused
	case x.flags&Chatter != 0:
		g.Fault = prompt.Chatter
	case x.flags&TooShort != 0:
		g.Fault = prompt.Shortened
	case x.flags&(WrongLanguage|WrongScript|SourceEcho) != 0:
		g.Fault = prompt.OtherLanguage
	}
	return g
}
