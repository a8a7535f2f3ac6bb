package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dragoman/model"
)

// toy is a deterministic model: the candidates of a row are a function of its
// source and of every token that was fed to it, so a token or parent that goes to
// the wrong row changes the translation. A sentence of n source tokens and a prefix
// of two ends in greedy search after n steps.
//
// It holds the engine to the contract of [model.Batch] and notes what breaks it.
type toy struct {
	spec      model.Spec
	footprint model.Footprint
	stepTime  time.Duration // that a step takes, on a bubble's clock
	rowTime   time.Duration // that each row adds
	joinTime  time.Duration // that each source token takes in the encoder
	pairTime  time.Duration // that each pair of them takes there
	lookTime  time.Duration // that each row takes for each token that it attends to
	pieceTime time.Duration // that the encoder takes at least before it can rest

	// The hooks, where set, are called first; their error is the batch's.
	onNew   func() error
	onJoin  func(sources [][]int64) error
	onStep  func(feeds []model.Feed) error
	onLeave func()
	onClose func() error

	batches   atomic.Int32 // made
	open      atomic.Int32 // not closed yet
	steps     atomic.Int32
	joined    atomic.Int32 // sentences
	mostRows  atomic.Int32 // in one step
	mostBytes atomic.Int64 // of state, by the footprint

	mu     sync.Mutex // guards faults
	faults []string
}

func newToy() *toy {
	return &toy{
		spec: model.Spec{VocabSize: 60, MaxPositions: 100, EOS: 2, DecoderStart: 2, DModel: 64,
			Encoder: model.Stack{Layers: 1, Heads: 1, FFN: 256}, Decoder: model.Stack{Layers: 1, Heads: 1, FFN: 256}},
		footprint: model.Footprint{RowToken: 10, SourceToken: 3},
	}
}

// encodes is how long the encoder takes for a source.
func (m *toy) encodes(n int) time.Duration {
	return time.Duration(n)*m.joinTime + time.Duration(n*n)*m.pairTime
}

func (m *toy) Spec() model.Spec           { return m.spec }
func (m *toy) Footprint() model.Footprint { return m.footprint }
func (m *toy) Close() error               { return nil }

func (m *toy) NewBatch(limits model.Limits) (model.Batch, error) {
	if m.onNew != nil {
		if err := m.onNew(); err != nil {
			return nil, err
		}
	}
	m.batches.Add(1)
	if m.open.Add(1) > 1 {
		m.fault("a second batch while one is open")
	}
	return &toyBatch{toy: m, limits: limits}, nil
}

// refuse notes what the engine must not do and returns it as an error.
func (m *toy) refuse(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	m.fault(err.Error())
	return err
}

// fault notes what the engine must not do.
func (m *toy) fault(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, what)
}

type toyBatch struct {
	toy       *toy
	limits    model.Limits
	sentences []toySentence
	inUse     atomic.Bool
	broken    bool
	closed    bool
	last      model.Candidates // of the last step, void with the next call
}

// toySentence is a slot: its source and a state for each row.
type toySentence struct {
	source int // its length
	rows   []toyRow
}

// toyRow is a hash of the source and of the tokens fed to the row.
type toyRow struct {
	hash uint64
	fed  int
}

func mix(hash uint64, id int64) uint64 {
	hash = (hash ^ uint64(id+1)) * 0x9e3779b97f4a7c15
	return hash ^ hash>>29
}

// enter notes calls at the same time, on a closed batch or on a broken one.
func (b *toyBatch) enter(call string) (leave func()) {
	if b.inUse.Swap(true) {
		b.toy.fault(call + ": the batch is in use")
	}
	if b.closed {
		b.toy.fault(call + ": the batch is closed")
	}
	if b.broken && call != "Close" {
		b.toy.fault(call + ": the batch is broken")
	}
	clear(b.last.LogProbs)
	clear(b.last.IDs)
	return func() { b.inUse.Store(false) }
}

// fail breaks the batch, as an error that is not about the input does.
func (b *toyBatch) fail(err error) error {
	b.broken = b.broken || err != nil && !errors.Is(err, model.ErrInput)
	return err
}

func (b *toyBatch) Len() int { return len(b.sentences) }

func (b *toyBatch) Join(ctx context.Context, sources [][]int64) error {
	defer b.enter("Join")()
	took := time.Duration(0)
	for _, source := range sources {
		took += b.toy.encodes(len(source))
	}
	return b.join(ctx, sources, took)
}

// join lets sources join that take so long.
func (b *toyBatch) join(ctx context.Context, sources [][]int64, took time.Duration) error {
	if b.toy.onJoin != nil {
		if err := b.toy.onJoin(sources); err != nil {
			return b.fail(err)
		}
	}
	if len(sources) == 0 {
		return b.fail(b.toy.refuse("join of no sentences"))
	}
	for i, source := range sources {
		if len(source) == 0 || len(source) > b.toy.spec.MaxPositions {
			return b.fail(b.toy.refuse("a source of %d tokens", len(source)))
		}
		if i > 0 && len(source) > len(sources[i-1]) {
			b.toy.fault("sources are not sorted by length")
		}
		hash := uint64(len(source))
		for _, id := range source {
			hash = mix(hash, id)
		}
		b.sentences = append(b.sentences, toySentence{source: len(source), rows: []toyRow{{hash: hash}}})
	}
	sleep(ctx, took)
	b.toy.joined.Add(int32(len(sources)))
	return b.fail(ctx.Err())
}

// toyEncoding is a source on its way into a batch.
type toyEncoding struct {
	batch  *toyBatch
	source []int64
	left   time.Duration
}

func (b *toyBatch) Begin(_ context.Context, source []int64) (model.Encoding, error) {
	return &toyEncoding{b, source, b.toy.encodes(len(source))}, nil
}

func (e *toyEncoding) Continue(ctx context.Context, most time.Duration) (bool, error) {
	defer e.batch.enter("Continue")()
	took := min(e.left, max(most, e.batch.toy.pieceTime))
	sleep(ctx, took)
	if e.left -= took; e.left > 0 {
		return false, e.batch.fail(ctx.Err())
	}
	return true, e.batch.join(ctx, [][]int64{e.source}, 0)
}

func (b *toyBatch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	defer b.enter("Step")()
	b.toy.steps.Add(1)
	if b.toy.onStep != nil {
		if err := b.toy.onStep(feeds); err != nil {
			return model.Candidates{}, b.fail(err)
		}
	}
	if k < 1 || k > b.toy.spec.VocabSize || len(feeds) != len(b.sentences) || len(feeds) == 0 {
		return model.Candidates{}, b.fail(b.toy.refuse("%d candidates, %d feeds for %d sentences", k, len(feeds), len(b.sentences)))
	}
	out, looks := model.Candidates{K: k}, 0
	for i, feed := range feeds {
		if len(feed.Tokens)+len(feed.Parents) == 0 {
			continue // it rests
		}
		rows, err := b.fed(b.sentences[i].rows, feed)
		if err != nil {
			return model.Candidates{}, b.fail(err)
		}
		b.sentences[i].rows = rows
		for _, row := range rows {
			b.toy.add(&out, row, b.sentences[i].source)
			looks += row.fed + b.sentences[i].source
		}
	}
	if len(out.LogSumExp) == 0 {
		return out, b.fail(b.toy.refuse("a step in which all rest"))
	}
	b.measure(len(out.LogSumExp))
	sleep(ctx, b.toy.stepTime+time.Duration(len(out.LogSumExp))*b.toy.rowTime+time.Duration(looks)*b.toy.lookTime)
	b.last = out
	return out, b.fail(ctx.Err())
}

// fed returns the rows of a sentence after a step.
func (b *toyBatch) fed(old []toyRow, feed model.Feed) ([]toyRow, error) {
	if old[0].fed == 0 { // the forced prefix, all of it in one row
		row := old[0]
		for _, id := range feed.Tokens {
			row = toyRow{hash: mix(row.hash, id), fed: row.fed + 1}
		}
		if len(feed.Tokens) == 0 || len(feed.Parents) > 0 {
			return nil, b.toy.refuse("%d tokens and %d parents at first", len(feed.Tokens), len(feed.Parents))
		}
		return []toyRow{row}, nil
	}
	if len(feed.Tokens) == 0 || len(feed.Tokens) != len(feed.Parents) {
		return nil, b.toy.refuse("%d tokens and %d parents", len(feed.Tokens), len(feed.Parents))
	}
	rows := make([]toyRow, len(feed.Tokens))
	for r, parent := range feed.Parents {
		id := feed.Tokens[r]
		if parent < 0 || parent >= len(old) {
			return nil, b.toy.refuse("parent %d of %d rows", parent, len(old))
		}
		if id < 0 || id >= int64(b.toy.spec.VocabSize) {
			return nil, b.toy.refuse("token %d", id)
		}
		rows[r] = toyRow{hash: mix(old[parent].hash, id), fed: old[parent].fed + 1}
		if rows[r].fed > b.limits.MaxLength {
			return nil, b.toy.refuse("%d tokens in a row, there is room for %d", rows[r].fed, b.limits.MaxLength)
		}
	}
	return rows, nil
}

// measure notes what the batch takes.
func (b *toyBatch) measure(rows int) {
	if rows > b.limits.Rows {
		b.toy.fault(fmt.Sprintf("%d rows, there is room for %d", rows, b.limits.Rows))
	}
	bytes := int64(0)
	for _, s := range b.sentences {
		bytes += int64(len(s.rows)*s.rows[0].fed)*b.toy.footprint.RowToken + int64(s.source)*b.toy.footprint.SourceToken
	}
	b.toy.mostRows.Store(max(b.toy.mostRows.Load(), int32(rows)))
	b.toy.mostBytes.Store(max(b.toy.mostBytes.Load(), bytes))
}

func (b *toyBatch) Leave(i int) {
	defer b.enter("Leave")()
	if b.toy.onLeave != nil {
		b.toy.onLeave()
	}
	last := len(b.sentences) - 1
	b.sentences[i] = b.sentences[last]
	b.sentences = b.sentences[:last]
}

func (b *toyBatch) Close() error {
	defer b.enter("Close")()
	b.closed = true
	b.toy.open.Add(-1)
	if b.toy.onClose != nil {
		return b.toy.onClose()
	}
	return nil
}

// add appends the candidates of a row.
func (m *toy) add(out *model.Candidates, row toyRow, source int) {
	type candidate struct {
		id      int64
		logProb float32
	}
	all := make([]candidate, m.spec.VocabSize)
	for id := range all {
		all[id] = candidate{int64(id), -1 - float32(mix(row.hash, int64(id))>>44)/(1<<18)}
	}
	all[m.spec.EOS].logProb = -20
	if row.fed > source {
		all[m.spec.EOS].logProb = -0.5
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logProb, a.logProb), cmp.Compare(a.id, b.id))
	})
	for _, c := range all[:out.K] {
		out.IDs = append(out.IDs, c.id)
		out.LogProbs = append(out.LogProbs, c.logProb)
	}
	out.LogSumExp = append(out.LogSumExp, 0)
}

// sleep is the time that the model takes: until d is over or ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
