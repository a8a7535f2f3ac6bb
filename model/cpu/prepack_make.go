package cpu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"dragoman/model"
	"dragoman/model/onnx"
)

// prepackWork starts the names of folders that are not complete.
const prepackWork = ".work-"

// make makes the prepacked folder of the store's key, replacing a damaged one. It
// works in a folder of its own and renames it at the end, when everything is on
// the disk: an interrupted process leaves nothing that looks complete. The caller
// holds the lock.
func (s *prepackStore) make(ctx context.Context) error {
	start := time.Now()
	if err := s.clean(); err != nil {
		return err
	}
	work, err := os.MkdirTemp(s.root, prepackWork)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := s.checkSpace(); err != nil {
		return err
	}
	s.log.Info("making prepacked weights for this CPU and runtime, once",
		"folder", filepath.Join(s.root, s.name), "runtime", s.key.Runtime, "cpu", s.key.CPU)
	m, err := s.write(ctx, work)
	if err != nil {
		return err
	}
	if err := s.publish(ctx, work, m); err != nil {
		return err
	}
	s.log.Info("made prepacked weights", "bytes", m.Files[prepackDataFile].Size, "took", time.Since(start).Round(time.Millisecond))
	return nil
}

// clean removes what interrupted processes left: the holder of the lock is the
// only one to work here.
func (s *prepackStore) clean() error {
	var errs []error
	for _, dir := range s.unfinished() {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// unfinished are the folders that somebody works in or was interrupted in.
func (s *prepackStore) unfinished() []string {
	left, _ := filepath.Glob(filepath.Join(s.root, prepackWork+"*")) // fails for bad patterns only
	return left
}

// checkSpace says so before the disk is full. Packed matrices are about as large
// as the weights, and ONNX Runtime writes a graph's weights and packed matrices
// before the former are dropped: 2.3 times the weights at the most. In fp16 it
// makes all of it 32-bit.
func (s *prepackStore) checkSpace() error {
	info, err := os.Stat(filepath.Join(s.dir, model.WeightsFile))
	if err != nil {
		return err
	}
	free, err := model.FreeSpace(s.root)
	if err != nil {
		return err
	}
	need := uint64(info.Size()) * 5 / 2
	if s.precision == model.FP16 {
		need = uint64(info.Size()) * 7
	}
	if free < need {
		return fmt.Errorf("%s has %d MB free, %d MB are needed for a while", s.root, free>>20, need>>20)
	}
	return nil
}

// write writes the files into work.
func (s *prepackStore) write(ctx context.Context, work string) (*prepackManifest, error) {
	m := &prepackManifest{Key: s.key, Files: map[string]model.File{}}
	data, err := onnx.CreateData(filepath.Join(work, prepackDataFile))
	if err != nil {
		return nil, err
	}
	defer data.Close()
	for _, name := range []string{model.EncoderFile, model.DecoderFile} {
		if err := s.writeGraph(ctx, name, work, data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if m.Files[name], err = model.HashFile(ctx, filepath.Join(work, name)); err != nil {
			return nil, err
		}
		s.log.Debug("packed a graph", "file", name)
	}
	size, sum, err := data.Finish()
	m.Files[prepackDataFile] = model.File{Size: size, SHA256: sum}
	return m, err
}

// writeGraph lets ONNX Runtime optimize and pack a graph, appends the packed
// matrices to data and writes the graph that refers to them. ONNX Runtime's own
// files hold every weight again; they go away here.
func (s *prepackStore) writeGraph(ctx context.Context, name, work string, data *onnx.Data) error {
	raw := filepath.Join(work, "runtime")
	if err := os.Mkdir(raw, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(raw)
	original, saved := filepath.Join(s.dir, name), filepath.Join(raw, name)
	if err := s.config.save(ctx, original, saved, prepackDataFile); err != nil {
		return err
	}
	graph, err := compactGraph(ctx, compaction{
		saved: saved, original: original, data: data,
		location: filepath.Join(prepackFolder, s.name, prepackDataFile),
	})
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(work, name), graph)
}

// publish makes work the folder of the store's key unless the model was exported
// again meanwhile.
func (s *prepackStore) publish(ctx context.Context, work string, m *prepackManifest) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := writeSynced(filepath.Join(work, prepackManifestFile), append(raw, '\n')); err != nil {
		return err
	}
	now, err := model.HashFile(ctx, filepath.Join(s.dir, model.ManifestFile))
	if err != nil {
		return err
	}
	if now.SHA256 != s.key.Model {
		return fmt.Errorf("%s was exported again while its weights were packed", s.dir)
	}
	if err := errors.Join(os.Chmod(work, 0o755), model.Sync(work)); err != nil {
		return err
	}
	dir := filepath.Join(s.root, s.name)
	if err := os.Rename(dir, filepath.Join(work, "damaged")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(work, dir); err != nil {
		return err
	}
	os.RemoveAll(filepath.Join(dir, "damaged")) //nolint:errcheck // it does no harm
	return model.Sync(s.root)
}

// writeSynced writes a file and waits until it is on the disk.
func writeSynced(path string, raw []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Sync(), f.Close())
}
