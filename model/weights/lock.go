package weights

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"dragoman/model"
	"dragoman/model/export"
)

// lockFile is locked by the process that works in an exported folder, see [model.Lock].
// While the lock is free no process needs what is unfinished there.
const lockFile = ".dragoman.lock"

// unfinished matches what a killed process may leave.
var unfinished = []string{export.WorkPrefix + "*", ".dragoman.checked.*"}

// unneeded matches what is left of a complete export whose process was killed then.
var unneeded = append(unfinished[:len(unfinished):len(unfinished)], downloadFolder)

// lock makes the folder and waits until no other process works in it.
func (p *Preparer) lock(ctx context.Context, out string) (unlock func(), err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for the exported model: %w: set SAVE_WEIGHTS to a folder that can be written", err)
	}
	unlock, err = model.Lock(ctx, filepath.Join(out, lockFile), func() {
		p.cfg.Log.Info("waiting for another process that prepares this model", "folder", out)
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("lock %s: %w: set SAVE_WEIGHTS to a folder that can be written, on a volume with file locks", out, err)
	}
	return unlock, err
}

// sweepIfFree removes what killed processes left in a complete folder, if no process
// works in it. In a folder that cannot be written it does nothing.
func (p *Preparer) sweepIfFree(out string) {
	if len(model.Leftovers(out, unneeded...)) == 0 {
		return
	}
	unlock, ok := model.TryLock(filepath.Join(out, lockFile))
	if !ok {
		return
	}
	defer unlock()
	if err := model.Sweep(out, unneeded...); err != nil {
		p.cfg.Log.Warn("cannot remove what a killed process left", "folder", out, "error", err)
	}
}
