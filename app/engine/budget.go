package engine

import "dragoman/model"

// cost is the reservation of a sentence in the batch, from its admission to its end. A newcomer has one row in its first step,
// but needs all of them when its beams diverge.
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

// Pool is memory for decoding state that the engines of several models share. It is safe for concurrent use.
type Pool interface {
	// Take takes some bytes if that many are left, or in any case if must is set.
	Take(bytes int64, must bool) (ok bool)
	// Give returns bytes that were taken.
	Give(bytes int64)
}

// budget accounts for the rows and the memory of a batch.
type budget struct {
	rows  int   // limit for a caller; roomFor(rows) is the limit for all
	bytes int64 // limit; 0: none
	pool  Pool  // source of the bytes; nil: none

	sentences int // sentences with a reservation
	reserved  cost
}

// roomFor returns the rows of a batch in which a caller may have some number: a third more than those, so that other callers find
// places.
func roomFor(rows int) int { return rows + (rows+2)/3 }

// room reports whether there is room for a sentence whose caller has reserved own; alone tells whether that is the only caller. A
// caller may reserve up to rows, but at most three quarters of the rows that others leave; if there are other callers, also at
// most three quarters of the memory that they leave. A single sentence always fits: there are as many rows as the widest one
// needs, and the memory was checked at the start.
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

// reserve reserves the cost of a sentence that fits. It returns false if sentences of other models occupy the memory.
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
