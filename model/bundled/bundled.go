// Package bundled holds the checkpoint that dragoman serves when it is told of no
// other: a small M2M100 model, embedded in the binary. Its model card is
// README.md beside this file.
package bundled

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
)

// Source is what the manifest of an export says that it was made from.
const Source = "bundled"

// Note tells those who meet the bundled model what to expect of it.
const Note = "This is a small demonstration model for everyday sentences. " +
	"Set MODEL_WEIGHTS to serve a real model, such as facebook/m2m100_418M."

//go:embed config.json generation_config.json model.safetensors sentencepiece.bpe.model tokenizer_config.json vocab.json
var files embed.FS

// Languages are the codes of the languages that the checkpoint was trained on.
func Languages() []string { return []string{"de", "en", "fr", "ja", "zh"} }

// Version tells one bundled checkpoint from another: the leading digits of a
// sha256 over the names and contents of its files.
func Version() (string, error) {
	h := sha256.New()
	err := each(func(name string, content []byte) error {
		h.Write([]byte(name))
		h.Write(content)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))[:12], err
}

// WriteTo writes the checkpoint's files into dir, which must exist.
func WriteTo(dir string) error {
	return each(func(name string, content []byte) error {
		return os.WriteFile(filepath.Join(dir, name), content, 0o644)
	})
}

// each calls use with every file, in the order of their names.
func each(use func(name string, content []byte) error) error {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		content, err := files.ReadFile(e.Name())
		if err != nil {
			return err
		}
		if err := use(e.Name(), content); err != nil {
			return err
		}
	}
	return nil
}
