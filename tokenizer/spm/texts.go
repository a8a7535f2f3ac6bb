package spm

import "strings"

// texts are the texts of pieces, by id: one string for all, because a process may have hundreds of models.
type texts struct {
	all  string
	ends []uint32
}

// textsOf copies the texts of pieces.
func textsOf(pieces []pieceProto) texts {
	size := 0
	for _, p := range pieces {
		size += len(p.text)
	}
	var all strings.Builder
	all.Grow(size)
	t := texts{ends: make([]uint32, len(pieces))}
	for i, p := range pieces {
		all.WriteString(p.text)
		t.ends[i] = uint32(all.Len())
	}
	t.all = all.String()
	return t
}

func (t texts) at(id int32) string {
	if id == 0 {
		return t.all[:t.ends[0]]
	}
	return t.all[t.ends[id-1]:t.ends[id]]
}
