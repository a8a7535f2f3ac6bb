package spm

import (
	"unicode/utf8"

	"dragoman/tokenizer/agenda"
)

// shortWord is the maximum length in characters of a word whose best pair is found by a scan of all pairs. For longer words a
// heap is faster. Both give the same pieces.
const shortWord = 48

// node is a symbol of the word being merged, with the number and rank of its merge with its right neighbour; rank is noRank if
// the two do not merge.
type node struct {
	symbol symbol
	rank   int32
	number int32
}

// link holds the neighbours of a node in a long word; -1 and the word's length stand for none.
type link struct{ prev, next int32 }

// workspace is the working memory for one text, kept for the next.
type workspace struct {
	nodes  []node
	links  []link
	agenda agenda.Agenda
	steps  []step
}

// merge splits a word into symbols and merges them completely. The result belongs to the workspace.
func (m *merges) merge(ws *workspace, word []byte) []node {
	nodes := m.split(ws.nodes[:0], word)
	ws.nodes = nodes
	for i := range nodes {
		m.refresh(nodes, i, i+1)
	}
	if len(nodes) <= shortWord {
		return m.mergeShort(nodes)
	}
	return m.mergeLong(ws)
}

// split appends the word's characters as nodes.
func (m *merges) split(nodes []node, word []byte) []node {
	for len(word) > 0 {
		if c := word[0]; c < utf8.RuneSelf {
			nodes = append(nodes, node{symbol: m.bmp[c]})
			word = word[1:]
			continue
		}
		r, size := utf8.DecodeRune(word)
		s := noSymbol
		if r != utf8.RuneError || size > 1 { // an invalid byte does not count as U+FFFD
			s = m.symbolOf(r)
		}
		nodes = append(nodes, node{symbol: s})
		word = word[size:]
	}
	return nodes
}

// refresh computes the merge of node left and its neighbour right, which may be beyond the end.
func (m *merges) refresh(nodes []node, left, right int) {
	n := &nodes[left]
	if right >= len(nodes) {
		n.rank = noRank
		return
	}
	n.rank, n.number = m.pair(n.symbol, nodes[right].symbol)
}

// mergeShort merges the best pair until none is left, in place. Scanning from
// the left for a strictly better rank breaks ties as SentencePiece does.
func (m *merges) mergeShort(nodes []node) []node {
	for {
		best, at := int32(noRank), -1
		for i := range nodes {
			if nodes[i].rank < best {
				best, at = nodes[i].rank, i
			}
		}
		if at < 0 {
			return nodes
		}
		nodes[at].symbol = m.result(nodes[at].number)
		nodes = append(nodes[:at+1], nodes[at+2:]...)
		m.refresh(nodes, at, at+1)
		if at > 0 {
			m.refresh(nodes, at-1, at)
		}
	}
}

// mergeLong does the same as mergeShort, with a heap of pairs over a linked list. A pair whose nodes have changed since it was
// pushed is recognized by its rank: either the pair's rank differs from the node's, or an equal pair at the same position has
// merged instead, which gives the same result.
func (m *merges) mergeLong(ws *workspace) []node {
	nodes, links, todo := ws.nodes, ws.links[:0], ws.agenda[:0]
	for i, n := range nodes {
		links = append(links, link{int32(i - 1), int32(i + 1)})
		if n.rank != noRank {
			todo = append(todo, agenda.NewEntry(n.rank, i))
		}
	}
	todo.Init()
	for len(todo) > 0 {
		e := todo.Pop()
		at := e.Position()
		if nodes[at].rank != e.Rank() {
			continue
		}
		gone := links[at].next
		nodes[at].symbol = m.result(nodes[at].number)
		nodes[gone].rank = noRank
		next, prev := links[gone].next, links[at].prev
		links[at].next = next
		if int(next) < len(nodes) {
			links[next].prev = int32(at)
		}
		if m.refresh(nodes, at, int(next)); nodes[at].rank != noRank {
			todo.Push(agenda.NewEntry(nodes[at].rank, at))
		}
		if prev < 0 {
			continue
		}
		if m.refresh(nodes, int(prev), at); nodes[prev].rank != noRank {
			todo.Push(agenda.NewEntry(nodes[prev].rank, int(prev)))
		}
	}
	ws.links, ws.agenda = links, todo
	return compact(nodes, links)
}

// compact moves the nodes that are still linked to the front.
func compact(nodes []node, links []link) []node {
	n := 0
	for i := int32(0); int(i) < len(nodes); i = links[i].next {
		nodes[n] = nodes[i]
		n++
	}
	return nodes[:n]
}
