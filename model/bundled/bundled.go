// Package bundled holds the checkpoint that dragoman serves when it is told of no
// other: a small M2M100 model, embedded in the binary. Its model card is
// README.md beside this file.
package bundled

import (
	"embed"
	"os"
)

// Source is the source of the bundled model in the manifest of its export.
const Source = "bundled"

// Note tells users of the bundled model what to expect of it.
const Note = "This is a small demonstration model for everyday sentences. " +
	"Set MODEL_WEIGHTS to serve a real model, such as facebook/m2m100_418M."

//go:embed README.md config.json generation_config.json model.safetensors sentencepiece.bpe.model tokenizer_config.json vocab.json
var files embed.FS

// Languages are the codes of the languages that the checkpoint was trained on.
func Languages() []string { return []string{"de", "en", "fr", "ja", "zh"} }

// Version tells one bundled checkpoint from another: the leading digits of a sha256 over the
// names and contents of its files. It is written down here because reading all of the
// checkpoint at each start would bring it into memory.
const Version = "92de8b1ff373"

// WriteTo writes the checkpoint's files into dir, which must exist and have none of them.
func WriteTo(dir string) error { return os.CopyFS(dir, files) }
