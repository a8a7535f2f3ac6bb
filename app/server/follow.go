package server

import (
	"context"
	"sync"
	"time"

	"dragoman/model/repository"
)

// scanEvery is the interval of scans of repositories. A change is applied once the repository has been stable for this time.
const scanEvery = 5 * time.Second

// run does the work of the process until ctx is done: the models follow their repositories, and a worker decodes. run calls
// refresh after the served models have changed.
func (t *translation) run(ctx context.Context, refresh func()) {
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { t.watch(ctx) })
	if t.puller != nil {
		watching.Go(func() { t.puller.follow(ctx) })
	}
	if t.work != nil {
		t.work(ctx, refresh)
		return
	}
	for {
		select {
		case <-t.catalog.Changes():
			refresh()
		case <-ctx.Done():
			return
		}
	}
}

// watch scans repositories periodically, and at once on SIGHUP, until ctx is done.
func (t *translation) watch(ctx context.Context) {
	if t.repositories == nil {
		return
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { t.repositories.Watch(ctx, t.snapshot, scanEvery, t.update) })
	for {
		select {
		case <-t.hangUp:
			t.update(t.repositories.Scan())
		case <-ctx.Done():
			return
		}
	}
}

// update makes the models those of a snapshot of the repositories.
func (t *translation) update(s repository.Snapshot) {
	if t.puller != nil {
		t.puller.measure(s)
	}
	t.catalog.Update(s)
}
