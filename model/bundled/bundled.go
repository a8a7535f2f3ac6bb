// Package bundled has the checkpoint that dragoman serves by default: a small M2M100 model, embedded in the binary. Its model card is
// README.md beside this file.
package bundled

import (
	"embed"
	"os"
)

// Source is the source in the manifest of an export.
const Source = "bundled"

// Note describes the bundled model to users.
const Note = "This is a small demonstration model for everyday sentences. " +
	"Set MODEL_WEIGHTS to serve a real model, such as facebook/m2m100_418M."

//go:embed README.md config.json generation_config.json model.safetensors sentencepiece.bpe.model tokenizer_config.json vocab.json
var files embed.FS

// Languages returns the codes of the checkpoint's languages.
func Languages() []string { return []string{"de", "en", "fr", "ja", "zh"} }

// Version identifies the bundled checkpoint: the first digits of a sha256 of the names and contents of its files. It is a
// constant, because a computation at each start would read the whole checkpoint into memory.
const Version = "92de8b1ff373"

// WriteTo writes the checkpoint's files into the existing folder dir, which must not have any of these files.
func WriteTo(dir string) error { return os.CopyFS(dir, files) }
