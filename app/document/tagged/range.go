package tagged

// maxRanges is the maximum number of open ranges: the ends of further ones are specials.
const maxRanges = 32

// pair finds ranges whose start and end are both in list, and makes a group of each that has words between them. Where two ranges
// cross, only the one that opened first becomes a group; the ends of the other stay nodes of their own.
func pair(list []*node) []*node {
	for _, n := range list {
		n.children = pair(n.children)
	}
	closing := make(map[int]int) // from the indices of starts to those of ends
	at := map[string]int{}       // from names to their positions in opened, plus 1
	var opened []int
	for i, n := range list {
		switch {
		case n.mark == "":
		case n.opens:
			if len(opened) < maxRanges && at[n.mark] == 0 {
				opened = append(opened, i)
				at[n.mark] = len(opened)
			}
		case at[n.mark] > 0:
			from := at[n.mark] - 1
			closing[opened[from]] = i
			for _, k := range opened[from:] {
				delete(at, list[k].mark)
			}
			opened = opened[:from]
		}
	}
	return build(list, 0, len(list), closing)
}

// build returns nodes [i, end) with their ranges as groups.
func build(list []*node, i, end int, closing map[int]int) []*node {
	var out []*node
	for ; i < end; i++ {
		last, ok := closing[i]
		if !ok {
			out = append(out, list[i])
			continue
		}
		g := &node{kind: group, open: list[i].raw, close: list[last].raw, children: build(list, i+1, last, closing)}
		if g.count() >= digits {
			out = append(out, g)
		} else {
			out = append(append(append(out, list[i]), g.children...), list[last])
		}
		i = last
	}
	return out
}
