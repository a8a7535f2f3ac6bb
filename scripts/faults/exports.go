package main

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// exports ends the program while it exports, at any moment, and then lets it start. What
// is in the exported folder then must be what a first start leaves there.
func exports(ctx context.Context, r *run) (string, error) {
	dir, err := os.MkdirTemp("", "dragoman-faults-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	first, err := r.exported(ctx, filepath.Join(dir, "first"))
	if err != nil {
		return "", err
	}
	folder, most := filepath.Join(dir, "killed"), int64(0)
	for i := range 50 {
		signal := syscall.SIGKILL
		if i%5 == 4 {
			signal = syscall.SIGTERM
		}
		if err := r.endExport(ctx, folder, signal); err != nil {
			return "", err
		}
		size, err := sizeOf(folder)
		if err != nil {
			return "", err
		}
		most = max(most, size)
	}
	last, err := r.exported(ctx, folder)
	seen := fmt.Sprintf("%.0f MB in the folder at most, %.0f after the next start: %.0f of them beside the model",
		float64(most)/1e6, float64(last)/1e6, float64(last-first)/1e6)
	if err == nil && last > first+1<<20 {
		err = fmt.Errorf("%d bytes stay", last-first)
	}
	return seen, err
}

// endExport starts an export and sends it a signal within a second of its beginning.
func (r *run) endExport(ctx context.Context, folder string, signal syscall.Signal) error {
	if err := os.RemoveAll(filepath.Join(folder, "dragoman.json")); err != nil { // so that there is something to do
		return err
	}
	process := exec.CommandContext(ctx, r.binary, "serve")
	process.Env = append(os.Environ(), "APP_HOST=127.0.0.1", "APP_PORT=0", "SAVE_WEIGHTS="+folder)
	stderr, err := process.StderrPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "exporting the model") {
	}
	time.Sleep(rand.N(time.Second))
	if err := process.Process.Signal(signal); err != nil {
		return err
	}
	for lines.Scan() {
	}
	if err := process.Wait(); signal == syscall.SIGTERM && err != nil {
		return fmt.Errorf("SIGTERM: %w", err)
	}
	return nil
}

// exported lets the program start and end as usual, and returns the size of its folder.
func (r *run) exported(ctx context.Context, folder string) (int64, error) {
	s, err := r.start(ctx, "SAVE_WEIGHTS="+folder)
	if err != nil {
		return 0, err
	}
	if err := s.stop(); err != nil {
		return 0, err
	}
	return sizeOf(folder)
}

// sizeOf is the number of bytes of all files below a folder.
func sizeOf(folder string) (sum int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
