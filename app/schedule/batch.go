package schedule

// Batch accounts for the rows and the memory of a worker's batch. A newcomer has one row in its first step, but needs all of them
// when its beams diverge, so rows and memory are reserved for the whole time of a sentence in the batch.
type Batch struct {
	Rows  int   // limit for a caller; RowsFor(Rows) is the limit for all
	Bytes int64 // limit; 0: none

	Sentences     int // sentences with a reservation
	ReservedRows  int
	ReservedBytes int64
}

// RowsFor returns the rows of a batch in which a caller may have some number: a third more than those, so that other callers find
// places.
func RowsFor(rows int) int { return rows + (rows+2)/3 }

// room reports whether there is room for a sentence whose caller has reserved some rows and bytes; alone tells whether that
// caller is the only one. A caller may reserve up to Rows, but at most three quarters of the rows that others leave; if there are
// other callers, also at most three quarters of the memory that they leave. A single sentence always fits: there are as many rows
// as the widest one needs, and the memory was checked at the start.
func (b *Batch) room(s *Sentence, ownRows int, ownBytes int64, alone bool) Room {
	rows, bytes := RowsFor(b.Rows)-b.ReservedRows, b.Bytes-b.ReservedBytes
	switch {
	case b.Sentences == 0:
		return Fits
	case s.Rows > min(rows, b.Rows) || b.Bytes > 0 && s.Bytes > bytes:
		return Full
	case ownRows == 0:
		return Fits
	case ownRows+s.Rows > min(b.Rows, int(ThreeQuarters(int64(rows+ownRows)))),
		b.Bytes > 0 && !alone && ownBytes+s.Bytes > (bytes+ownBytes)/4*3:
		return CallerFull
	}
	return Fits
}

// IdleRoom multiplies the limit of source tokens that join in a round while no sentence decodes. A limit remains: the first
// sentence to be done should not wait until all are encoded, nor a cancelled request until the others are.
const IdleRoom = 4

// Window returns the number of source tokens that a request may have waiting when it is alone: the tokens that all idle workers
// take from the queue in a round. prefill is the limit of one worker.
func Window(prefill, workers int) int { return IdleRoom * prefill * max(1, workers) }
