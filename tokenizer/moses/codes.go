package moses

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"dragoman/tokenizer/agenda"
)

// Limits of a file of codes, several times the largest known.
const (
	maxCodes  = 16 << 20 // bytes
	maxMerges = 1 << 19
)

// Codes are the merges of subword-nmt's byte pair encoding (Sennrich et al. 2016) of words. They are immutable and safe for
// concurrent use.
type Codes struct {
	symbols map[string]int32   // of characters and merged text; the last symbol of a word ends with endOfWord
	ranks   map[[2]int32]int32 // ranks of pairs that merge: the pair with the smallest rank merges first
	results []int32            // by rank: the symbol of the merged pair
	apart   bool               // endOfWord is a symbol of its own (version 0.1)
}

const endOfWord = "</w>"

// ParseCodes parses codes: a first line "#version: 0.2", without which the version is 0.1, and in each further line two symbols
// that merge, the best pair first.
func ParseCodes(file []byte) (*Codes, error) {
	lines := bytes.Count(file, []byte("\n")) + 1
	switch {
	case len(file) > maxCodes:
		return nil, fmt.Errorf("the codes of words have more than %d MB, which none have", maxCodes>>20)
	case lines > maxMerges:
		return nil, fmt.Errorf("%d lines of codes, at most %d are supported", lines, maxMerges)
	case !utf8.Valid(file):
		return nil, errors.New("the codes of words are not in UTF-8: this is not a file of subword-nmt's codes")
	}
	c, text, first := &Codes{apart: true}, string(file), 1
	if head, rest, _ := strings.Cut(text, "\n"); strings.HasPrefix(head, "#version:") {
		version := strings.TrimSpace(strings.TrimPrefix(head, "#version:"))
		numbers := version
		for strings.HasSuffix(numbers, ".0") {
			numbers = strings.TrimSuffix(numbers, ".0")
		}
		if numbers != "0.1" && numbers != "0.2" {
			return nil, fmt.Errorf("codes of version %.20q, 0.1 and 0.2 are supported", version)
		}
		c.apart, text, first = numbers == "0.1", rest, 2
	}
	c.symbols, c.ranks = map[string]int32{}, map[[2]int32]int32{}
	for line := range strings.Lines(strings.TrimRight(text, "\r\n")) {
		left, right, ok := strings.Cut(strings.Trim(line, "\r\n "), " ")
		if !ok || left == "" || right == "" || strings.Contains(right, " ") {
			return nil, fmt.Errorf("line %d is %.60q, not two symbols with a space between them: this is not a file of subword-nmt's codes",
				first+len(c.results), line)
		}
		pair := [2]int32{c.number(left), c.number(right)}
		if _, known := c.ranks[pair]; !known { // the first occurrence counts
			c.ranks[pair] = int32(len(c.results))
		}
		c.results = append(c.results, c.number(left+right))
	}
	if len(c.results) == 0 {
		return nil, errors.New("there are no codes")
	}
	return c, nil
}

// number returns the symbol of a text.
func (c *Codes) number(text string) int32 {
	if _, known := c.symbols[text]; !known {
		c.symbols[text] = int32(len(c.symbols))
	}
	return c.symbols[text]
}

// unknown is the symbol of text that occurs in no code.
const unknown = -1

func (c *Codes) symbolOf(text []byte) int32 {
	if s, ok := c.symbols[string(text)]; ok {
		return s
	}
	return unknown
}

// noRank is the rank of a pair that does not merge.
const noRank = 1<<31 - 1

// node is a part of a word, up to the start of the next node; rank is the rank of the pair of these two nodes.
type node struct{ symbol, rank, start, previous, next int32 }

// merger is the working memory for a word, kept for the next word.
type merger struct {
	text   []byte
	nodes  []node
	merged []int32
	todo   agenda.Agenda
}

// split calls do with the pieces of a word. do must not keep a piece.
func (c *Codes) split(m *merger, word string, do func(piece []byte)) {
	c.begin(m, word)
	for i := range m.nodes {
		c.refresh(m, int32(i))
	}
	for len(m.todo) > 0 {
		c.round(m)
	}
	for i := int32(0); int(i) < len(m.nodes); {
		n := m.nodes[i]
		if i = n.next; int(i) == len(m.nodes) || int(m.nodes[i].start) == len(word) { // no character follows, at most the end of the word
			do([]byte(word[n.start:]))
			return
		}
		m.text = append(append(m.text[:0], word[n.start:m.nodes[i].start]...), separator...)
		do(m.text)
	}
}

// begin creates nodes for the characters.
func (c *Codes) begin(m *merger, word string) {
	m.nodes, m.todo = m.nodes[:0], m.todo[:0]
	add := func(text []byte, start int) {
		i := int32(len(m.nodes))
		m.nodes = append(m.nodes, node{c.symbolOf(text), noRank, int32(start), i - 1, i + 1})
	}
	for start, r := range word {
		m.text = utf8.AppendRune(m.text[:0], r)
		if !c.apart && start+utf8.RuneLen(r) >= len(word) {
			m.text = append(m.text, endOfWord...)
		}
		add(m.text, start)
	}
	if c.apart {
		add([]byte(endOfWord), len(word))
	}
}

// refresh updates the rank of the pair of a node and the next node.
func (c *Codes) refresh(m *merger, i int32) {
	n := &m.nodes[i]
	n.rank = noRank
	if int(n.next) == len(m.nodes) || n.symbol == unknown || m.nodes[n.next].symbol == unknown {
		return
	}
	if rank, ok := c.ranks[[2]int32{n.symbol, m.nodes[n.next].symbol}]; ok {
		n.rank = rank
		m.todo.Push(agenda.NewEntry(rank, int(i)))
	}
}

// round merges all occurrences of the best pair, from left to right, before it examines new pairs. New pairs may have better
// ranks, so another order would give other pieces.
func (c *Codes) round(m *merger) {
	rank := m.todo[0].Rank()
	m.merged = m.merged[:0]
	for len(m.todo) > 0 && m.todo[0].Rank() == rank {
		i := int32(m.todo.Pop().Position())
		n := &m.nodes[i]
		if n.rank != rank { // the pair has changed meanwhile
			continue
		}
		gone := &m.nodes[n.next]
		gone.rank, n.rank = noRank, noRank
		if n.symbol, n.next = c.results[rank], gone.next; int(n.next) < len(m.nodes) {
			m.nodes[n.next].previous = i
		}
		m.merged = append(m.merged, i)
	}
	for _, i := range m.merged {
		c.refresh(m, i)
		if previous := m.nodes[i].previous; previous >= 0 {
			c.refresh(m, previous)
		}
	}
}
