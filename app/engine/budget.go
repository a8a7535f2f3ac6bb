package engine

import "dragoman/model"

// cost is what a sentence reserves in the batch from its admission to its end.
// A newcomer has one row in its first step, but it must find all of them free when
// its beams part.
type cost struct {
	rows  int
	bytes int64 // of KV cache and cross-attention memory at its full length
}

func costOf(beams, maxLength, sourceTokens int, f model.Footprint) cost {
	return cost{
		rows:  beams,
		bytes: int64(beams)*int64(maxLength)*f.RowToken + int64(sourceTokens)*f.SourceToken,
	}
}

// Pool is memory that the engines of several models share for decoding state. It is safe for
// concurrent use.
type Pool interface {
	// Take takes some bytes if there are as many left, or in any case where it must.
	Take(bytes int64, must bool) (ok bool)
	// Give gives bytes back that were taken.
	Give(bytes int64)
}

// budget keeps account of the rows and the memory of a batch.
type budget struct {
	rows  int   // limit for a caller; all together have roomFor it
	bytes int64 // limit, 0 is none
	pool  Pool  // that bytes come from; nil is none

	sentences int // that hold a reservation
	reserved  cost
}

// roomFor are the rows that a batch has room for where a caller may have some: those, and a third
// more, so that another one finds places.
func roomFor(rows int) int { return rows + (rows+2)/3 }

// room says whether there is room for a sentence, whose caller has own of what is reserved, and
// may be alone. A caller may have the rows that a batch is meant for, but three quarters
// of what others leave; and so many of the memory, where there are others. One always
// fits alone: there are as many rows as the widest needs, and the memory was checked at the start.
func (b *budget) room(c, own cost, alone bool) room {
	rows, bytes := roomFor(b.rows)-b.reserved.rows, b.bytes-b.reserved.bytes
	switch {
	case b.sentences == 0:
		return fits
	case c.rows > min(rows, b.rows) || b.bytes > 0 && c.bytes > bytes:
		return full
	case own.rows == 0:
		return fits
	case own.rows+c.rows > min(b.rows, (rows+own.rows)*3/4),
		b.bytes > 0 && !alone && own.bytes+c.bytes > (bytes+own.bytes)/4*3:
		return callerFull
	}
	return fits
}

// reserve reserves what a sentence that fits may come to. It fails where other models' sentences
// have the memory.
func (b *budget) reserve(c cost) (ok bool) {
	if b.pool != nil && !b.pool.Take(c.bytes, b.sentences == 0) {
		return false
	}
	b.sentences++
	b.reserved.rows += c.rows
	b.reserved.bytes += c.bytes
	return true
}

func (b *budget) release(c cost) {
	b.sentences--
	b.reserved.rows -= c.rows
	b.reserved.bytes -= c.bytes
	if b.pool != nil {
		b.pool.Give(c.bytes)
	}
}
