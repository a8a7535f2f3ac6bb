package tagged

// maxRanges is how many ranges may be open at a time: the ends of more than that are specials.
const maxRanges = 32

// pair makes groups of ranges whose ends are both in a list and that have words between them. Where
// two of them cross, the ends of the one that was opened later stay specials.
func pair(list []*node) []*node {
	for _, n := range list {
		n.children = pair(n.children)
	}
	closing := make(map[int]int) // numbers of ends by those of starts
	at := map[string]int{}       // where in opened a name is, plus 1
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
	if len(closing) == 0 {
		return list
	}
	return build(list, 0, len(list), closing)
}

// build returns the nodes from number i to before number end with the ranges in them as groups.
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
