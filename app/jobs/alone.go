package jobs

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

// A process that ends, for whatever cause, interrupts all slices that it is translating. So a slice during which several
// processes have ended is only suspected. Its records are translated one by one, while the process translates no other chunk, and
// the store knows the current record at any time. The record during which a process ends is the first one of the next try, after
// a growing delay: a job fails for a record that ends every process.

// blame returns the error of a record that was tried as often as is allowed.
func blame(record int) error {
	return fault.New(fault.Internal, fault.TextField(record),
		"the service ended or failed each time that it translated this record by itself, and its log says how, by the job's id: leave the record out")
}

// permits limit the chunks that the service translates at a time.
type permits struct {
	*semaphore.Weighted
	most int64 // maximum number of chunks
}

func newPermits(concurrency int) permits {
	most := int64(max(1, concurrency) * chunksAhead)
	return permits{semaphore.NewWeighted(most), most}
}

// makeAlone repeats, record by record, a chunk that has ended processes of workers. It returns other chunks unchanged.
func (x *execution) makeAlone(ctx context.Context, n int, made chunk) chunk {
	if !made.translated || made.alone || fault.Explain(made.err, fault.Situation{}).Kind != fault.Crashed {
		return made
	}
	again := *x
	again.claim.Job.Alone = 0
	return again.make(ctx, n, true)
}

// together translates records concurrently with other chunks.
func (x *execution) together(ctx context.Context, request translate.Request) ([]translate.Result, error) {
	if err := x.permits.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer x.permits.Release(1)
	return x.translator.Translate(ctx, request)
}

// oneByOne translates each record of a slice by itself, while no other chunk is translated. blamed reports whether a record was
// tried as often as is allowed.
func (x *execution) oneByOne(ctx context.Context, whole translate.Request) (results []translate.Result, blamed bool, err error) {
	results = make([]translate.Result, len(whole.Records))
	first := max(0, x.claim.Job.Alone-1)
	var since time.Time // start of the current turn without other chunks
	defer func() {
		if !since.IsZero() {
			x.permits.Release(x.permits.most)
		}
	}()
	for i := range whole.Records {
		n := i // first, and then the others in order
		switch {
		case i == 0:
			n = first
		case i <= first:
			n = i - 1
		}
		if i == 0 && x.claim.Job.Alone > 0 && x.claim.Job.Tries >= mostAlone {
			return nil, true, blame(whole.First + n)
		}
		if !since.IsZero() && time.Since(since) > turn { // lets other chunks run, while this record has not begun
			if err := x.mark(ctx, 0); err != nil {
				return nil, false, err
			}
			x.permits.Release(x.permits.most)
			since = time.Time{}
		}
		if since.IsZero() {
			if err := x.permits.Acquire(ctx, x.permits.most); err != nil {
				return nil, false, err
			}
			since = time.Now()
		}
		if err := x.mark(ctx, n+1); err != nil {
			return nil, false, err
		}
		request := whole
		request.Records, request.First = whole.Records[n:n+1], whole.First+n
		one, err := x.translator.Translate(ctx, request)
		if err != nil {
			if f := fault.Explain(err, fault.Situation{}); f.Kind == fault.Crashed {
				f.Field, err = fault.TextField(request.First), f
			}
			return nil, false, err
		}
		results[n] = one[0]
	}
	return results, false, nil
}

// mark notes in the store which record is translated by itself.
func (x *execution) mark(ctx context.Context, record int) error {
	return x.store.retry(ctx, func() error { return x.store.Try(ctx, x.claim, record, lease) })
}
