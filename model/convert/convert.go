// Package convert turns models of other programs into checkpoints in Hugging Face's form: config.json,
// model.safetensors and the tokenizer's files. Matrices of 8 bits stay as they are, with their scales beside them
// (see package model/checkpoint).
//
// Files are hostile until proved otherwise: sizes are bounded before anything is allocated, and no input makes the
// package panic.
package convert

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"dragoman/model/checkpoint"
	"dragoman/model/firefox"
)

// Checkpoint is the folder with the checkpoint of the model in dir: dir itself, or where that holds the model of another
// program, out, into which the checkpoint is written.
func Checkpoint(dir, out string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	switch {
	case slices.ContainsFunc(names, firefox.IsModel):
		err = convertFirefox(dir, names, out)
	case isOpus(names):
		err = convertOpus(dir, out)
	default:
		return dir, nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	return out, nil
}

// tensor is one to write.
type tensor struct {
	name  string
	dtype checkpoint.DType
	shape []int
	bytes int64
	data  io.Reader // of so many bytes
}

// writeSafetensors writes tensors in their order.
func writeSafetensors(path string, tensors []tensor) (err error) {
	type entry struct {
		DType   checkpoint.DType `json:"dtype"`
		Shape   []int            `json:"shape"`
		Offsets [2]int64         `json:"data_offsets"`
	}
	header, end := map[string]entry{}, int64(0)
	for _, t := range tensors {
		header[t.name] = entry{t.dtype, t.shape, [2]int64{end, end + t.bytes}}
		end += t.bytes
	}
	raw, err := json.Marshal(header)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(raw)))
	if _, err := f.Write(append(length, raw...)); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := io.CopyN(f, t.data, t.bytes); err != nil {
			return fmt.Errorf("tensor %s: %w", t.name, err)
		}
	}
	return nil
}

// writeJSON writes a file of the folder.
func writeJSON(folder, name string, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), raw, 0o644)
}

// zeros reads as zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
