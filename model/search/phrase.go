package search

import (
	"fmt"
	"slices"
)

// Phrase is a phrase that a sentence must have: the tokens of one of its forms, in a row. The same words may have different
// tokens, for example with and without a space before them.
type Phrase struct {
	Forms [][]int64 // at least one, none of them empty
	First [][]int64 // further forms for the start of a sentence only, for example with a capital
}

// MaxPhrases is the maximum number of phrases that a sentence must have.
const MaxPhrases = 16

// Constraints are the phrases that a sentence must have.
type Constraints struct {
	Phrases []Phrase // each at a place of its own; an equal phrase counts as often as it is listed
	Joints  Joints   // joints of the vocabulary's tokens
}

// Joints describe by token id how a token begins and ends, so that a phrase is not matched within a word, nor placed after the
// end of a sentence. nil: words begin and end everywhere, and sentences nowhere.
type Joints []Joint

// Joint describes how a token begins and ends.
type Joint uint8

// Properties of a token.
const (
	GoesOn Joint = 1 << iota // the token begins with a letter or digit that continues the word before it
	Open                     // the token ends with a letter or digit that the next token can continue
	Stop                     // the token ends with a sign that ends sentences
)

// inWord reports whether two tokens are joined within a word.
func (j Joints) inWord(before, behind int64) bool {
	return before < int64(len(j)) && behind < int64(len(j)) && j[before]&Open != 0 && j[behind]&GoesOn != 0
}

// ends reports whether a sentence may end after a token.
func (j Joints) ends(id int64) bool { return id < int64(len(j)) && j[id]&Stop != 0 }

// length returns the maximum number of tokens of a phrase.
func (p Phrase) length() (most int) {
	for _, form := range slices.Concat(p.Forms, p.First) {
		most = max(most, len(form))
	}
	return most
}

// Validate fails if no sentence of maxLength tokens, including the forced prefix and the end, can have the phrases, or if the
// phrases have tokens outside the vocabulary.
func (c Constraints) Validate(prefix, maxLength, vocab int) error {
	if len(c.Phrases) > MaxPhrases {
		return fmt.Errorf("%d phrases, at most %d are allowed", len(c.Phrases), MaxPhrases)
	}
	length := prefix + 1
	for i, phrase := range c.Phrases {
		length += phrase.length()
		if len(phrase.Forms) == 0 {
			return fmt.Errorf("phrase %d has no form", i)
		}
		for _, form := range slices.Concat(phrase.Forms, phrase.First) {
			if len(form) == 0 {
				return fmt.Errorf("phrase %d has an empty form", i)
			}
			for _, id := range form {
				if id < 0 || id >= int64(vocab) {
					return fmt.Errorf("token %d of a phrase is outside the vocabulary of %d", id, vocab)
				}
			}
		}
	}
	if length > maxLength {
		return fmt.Errorf("the phrases take %d tokens with prefix and end, but max length is %d", length, maxLength)
	}
	return nil
}

// forms are phrases as a tree: each node is a run of tokens that starts some forms.
type forms struct {
	nodes  []formNode // 0 is the empty run, 1 the empty run at the start of a sentence
	joints Joints
	all    uint32 // one bit per phrase
	tokens []int  // maximum per phrase
	total  int    // tokens of all phrases
}

// formNode is a run of tokens.
type formNode struct {
	next  []formEdge
	depth int
	of    uint32 // phrases, one bit each, with a form through this node
	ends  uint32 // phrases with a form that ends at this node
}

// formEdge leads to a run with one more token.
type formEdge struct {
	id   int64
	node int
}

func newForms(c Constraints) *forms {
	f := &forms{nodes: make([]formNode, 2), joints: c.Joints}
	for i, phrase := range c.Phrases {
		f.all |= 1 << i
		f.tokens = append(f.tokens, phrase.length())
		f.total += phrase.length()
		for _, form := range phrase.Forms {
			f.add(0, form, 1<<i)
			f.add(start, form, 1<<i)
		}
		for _, form := range phrase.First {
			f.add(start, form, 1<<i)
		}
	}
	return f
}

// start is the node at which sentences begin.
const start = 1

// add adds a form of a phrase below a node.
func (f *forms) add(at int, form []int64, phrase uint32) {
	for _, id := range form {
		node := f.after(at, id)
		if node == 0 {
			node = len(f.nodes)
			f.nodes = append(f.nodes, formNode{depth: f.nodes[at].depth + 1})
			f.nodes[at].next = append(f.nodes[at].next, formEdge{id, node})
		}
		at = node
		f.nodes[at].of |= phrase
	}
	f.nodes[at].ends |= phrase
}

// after returns the node after a token, or 0.
func (f *forms) after(at int, id int64) int {
	for _, edge := range f.nodes[at].next {
		if edge.id == id {
			return edge.node
		}
	}
	return 0
}

// progress is the part of the phrases that a row has.
type progress struct {
	met    uint32 // complete phrases
	node   int    // node of the form in progress
	closed bool   // the last token ended a phrase
}

// step returns the progress after a token, and whether the token may follow the previous one. After the end of a sentence only
// the best token of a row may begin a phrase: that token may be a name after "Mr."
func (f *forms) step(p progress, before, id int64, best bool) (next progress, ok bool) {
	inWord := f.joints.inWord(before, id)
	if p.closed && inWord {
		return p, false
	}
	next = progress{met: p.met, node: f.after(p.node, id)}
	if next.node == 0 && p.node != 0 && !inWord {
		next.node = f.after(0, id)
	} else if p.node == 0 && (inWord || f.joints.ends(before) && !best) {
		next.node = 0
	}
	if f.nodes[next.node].of&^p.met == 0 { // the row has all phrases through the node already
		next.node = 0
	}
	if ends := f.nodes[next.node].ends &^ p.met; ends != 0 {
		next.met |= ends & -ends // only one of several equal phrases
		next.node, next.closed = 0, true
	}
	return next, true
}

// bank returns the number of a row's tokens that are in phrases, or total if the row has all phrases.
func (f *forms) bank(p progress) int {
	if p.met == f.all {
		return f.total
	}
	count := f.nodes[p.node].depth
	for i, n := range f.tokens {
		if p.met&(1<<i) != 0 {
			count += n
		}
	}
	return min(count, f.total-1)
}

// ClonePhrases returns a copy that shares no memory with the phrases.
func ClonePhrases(phrases []Phrase) []Phrase {
	if len(phrases) == 0 {
		return nil
	}
	clone := make([]Phrase, len(phrases))
	for i, phrase := range phrases {
		clone[i] = Phrase{Forms: cloneForms(phrase.Forms), First: cloneForms(phrase.First)}
	}
	return clone
}

func cloneForms(forms [][]int64) [][]int64 {
	forms = slices.Clone(forms)
	for i := range forms {
		forms[i] = slices.Clone(forms[i])
	}
	return forms
}
