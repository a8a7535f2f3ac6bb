package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"dragoman/model/mapping"
)

// Names of the files in an exported folder.
const (
	ManifestFile   = "dragoman.json"
	EncoderFile    = "encoder.onnx"
	DecoderFile    = "decoder.onnx"
	WeightsFile    = "weights.bin" // external data of all graphs
	PieceModelFile = "sentencepiece.bpe.model"
	VocabFile      = "vocab.json"
	// Files of models whose sources and translations have different pieces; the vocabulary of translations exists only if it
	// differs.
	SourcePiecesFile = "source.spm"
	TargetPiecesFile = "target.spm"
	TargetVocabFile  = "target_vocab.json"
	TokenizerFile    = "tokenizer.json" // the whole tokenizer, in the format of Hugging Face's library
	// The graphs for package model/cuda. An int8 export has none.
	CUDAEncoderFile = "encoder.device.onnx"
	CUDADecoderFile = "decoder.device.onnx"
	// The settings of a checkpoint. An export has these files if its tokenizer needs them.
	ConfigFile           = "config.json"
	GenerationConfigFile = "generation_config.json"
	// TokenizerConfigFile exists only if the checkpoint has one.
	TokenizerConfigFile = "tokenizer_config.json"
)

// Files of the weights of a checkpoint in Hugging Face's form, or their indices.
const (
	SafetensorsFile      = "model.safetensors"
	SafetensorsIndexFile = "model.safetensors.index.json"
	TorchFile            = "pytorch_model.bin"
	TorchIndexFile       = "pytorch_model.bin.index.json"
	HalfFile             = "model.fp16.safetensors" // the variant in 16 bits
)

// WeightFiles are the files of weights, or their indices. The first existing one counts: safetensors before torch, because a
// safetensors file has no code.
var WeightFiles = []string{SafetensorsFile, SafetensorsIndexFile, TorchFile, TorchIndexFile, HalfFile}

// ManifestFormat is the version of the exported folder's layout and graphs. The version changes whenever folders exported by an
// older build must be exported again.
const ManifestFormat = 4

// Precision is the format of an exported model's weights and computation.
type Precision string

const (
	FP32 Precision = "fp32" // as in the checkpoint; the reference
	FP16 Precision = "fp16" // for CUDA
	INT8 Precision = "int8" // 8-bit matrices, one scale per activation row; for CPUs
)

// ParsePrecision parses a precision's name.
func ParsePrecision(s string) (Precision, error) {
	p := Precision(s)
	if !slices.Contains([]Precision{FP32, FP16, INT8}, p) {
		return "", fmt.Errorf("unknown precision %q: use fp32, fp16 or int8", s)
	}
	return p, nil
}

// Manifest is the dragoman.json of an exported folder. It is written last, so a folder that has one is complete.
type Manifest struct {
	Format    int       `json:"format"`
	Source    string    `json:"source"`             // repository, URL or folder of the checkpoint
	Revision  string    `json:"revision,omitempty"` // commit of the source, if it has commits
	Precision Precision `json:"precision"`
	// Family is the name of the model's family; "" in exports of builds with a single family. See package model/family.
	Family string `json:"family,omitempty"`
	Spec   Spec   `json:"spec"`
	// Languages are the codes of the model's languages, sorted.
	Languages []string `json:"languages"`
	// Sources and Targets are the source and target languages, sorted; none: all.
	Sources []string `json:"sources,omitempty"`
	Targets []string `json:"targets,omitempty"`
	// License is the license in the checkpoint's model card, or "".
	License string          `json:"license,omitempty"`
	Scripts *Scripts        `json:"scripts,omitempty"` // nil: the outputs of the LM head are in the order of their ids
	Files   map[string]File `json:"files"`             // by name, without the manifest itself
}

// Scripts describes the order of the LM head's outputs in an 8-bit export, and the tokens of the languages of translations.
type Scripts struct {
	Tokens    int64            `json:"tokens"`              // offset in [WeightsFile] of the tokens of the outputs, int32 [vocab_size]
	Runs      []Script         `json:"runs"`                // consecutive runs of outputs, together the whole vocabulary
	Languages map[string]int64 `json:"languages"`           // the token of each target language
	Rules     int              `json:"rules,omitempty"`     // [ScriptRules] of the build that made the export
	InSource  bool             `json:"in_source,omitempty"` // whether the language's token is in the source, not in the translation's prefix
}

// ScriptRules is the number of the rules that sort tokens into scripts. By those of earlier builds, 0, some texts lack tokens.
const ScriptRules = 1

// Script is a run of outputs whose tokens have letters of one writing system.
type Script struct {
	Name    string `json:"name"` // of [unicode.Scripts]; "": texts in any script may have the tokens
	Outputs int    `json:"outputs"`
}

// Directions returns the source and target languages of the model.
func (m *Manifest) Directions() (from, to []string) {
	from, to = m.Sources, m.Targets
	if len(from) == 0 {
		from = m.Languages
	}
	if len(to) == 0 {
		to = m.Languages
	}
	return from, to
}

// nonCommercial matches names such as cc-by-nc-4.0.
var nonCommercial = regexp.MustCompile(`(?i)(^|[^a-z])nc([^a-z]|$)|non[ _-]?commercial`)

// IsNonCommercial reports whether a license forbids commercial use, by its name.
func IsNonCommercial(license string) bool { return nonCommercial.MatchString(license) }

// File is the size and checksum of one exported file.
type File struct {
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// ErrNoModel means that a folder has no exported model.
var ErrNoModel = errors.New("no exported model")

// ErrDamaged means that a file of an exported folder has changed since its export.
var ErrDamaged = errors.New("the exported model is damaged")

// maxManifest is the maximum size of a manifest in bytes; typical ones have some thousand.
const maxManifest = 1 << 20

// ReadManifest reads the manifest of the exported folder dir. It fails with ErrNoModel if there is no manifest, with ErrDamaged
// if the file is not a manifest, and otherwise with an error that names the field at fault.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s: run `dragoman pull` to fetch and export one", ErrNoModel, dir)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, err
	}
	var m Manifest
	stored := storedManifest{Manifest: &m}
	if err := json.Unmarshal(raw, &stored); err != nil {
		return nil, fmt.Errorf("%w: %s: %w: delete the folder and export again", ErrDamaged, path, err)
	}
	if m.Format != ManifestFormat {
		return nil, fmt.Errorf("%s has format %d, this build reads %d: delete the folder and export again",
			path, m.Format, ManifestFormat)
	}
	if sum := stored.Checksum; sum != "" && sum != checksum(bytes.Replace(raw, []byte(sum), []byte(noChecksum), 1)) {
		return nil, fmt.Errorf("%w: %s is not as it was written: delete the folder and export again", ErrDamaged, path)
	}
	if err := m.Spec.Check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w: delete the folder and export again", ErrDamaged, path, err)
	}
	return &m, nil
}

// TokenizerFiles returns the files of the model's tokenizer, by name: all files except the graphs and their weights.
func (m *Manifest) TokenizerFiles() map[string]File {
	files := maps.Clone(m.Files)
	for _, name := range []string{EncoderFile, DecoderFile, CUDAEncoderFile, CUDADecoderFile, WeightsFile} {
		delete(files, name)
	}
	return files
}

// Write writes the manifest into dir, replacing an older one atomically.
func (m *Manifest) Write(dir string) error {
	raw, err := json.MarshalIndent(storedManifest{noChecksum, m}, "", "  ")
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	return ReplaceFile(filepath.Join(dir, ManifestFile), bytes.Replace(raw, []byte(noChecksum), []byte(checksum(raw)), 1))
}

// storedManifest is a manifest in its file. The checksum comes first. It is the checksum of the file with noChecksum in the place
// of the checksum; "" in exports of builds without checksums.
type storedManifest struct {
	Checksum string `json:"checksum"`
	*Manifest
}

const noChecksum = "0000000000000000000000000000000000000000000000000000000000000000"

func checksum(raw []byte) string { return fmt.Sprintf("%x", sha256.Sum256(raw)) }

// Check compares files of the exported folder dir with the manifest, see [CheckFiles]: the named files, or all files if names is
// empty.
func (m *Manifest) Check(ctx context.Context, dir string, policy Verify, names ...string) error {
	files := m.Files
	if len(names) > 0 {
		files = map[string]File{}
	}
	for _, name := range names {
		want, ok := m.Files[name]
		if !ok {
			return fmt.Errorf("%s has no %s, an older build exported it: delete the folder and export again", dir, name)
		}
		files[name] = want
	}
	if err := CheckFiles(ctx, dir, files, policy); err != nil {
		return fmt.Errorf("%w: delete %s and export again", err, dir)
	}
	return nil
}

// hashChunk is the number of bytes read, and fetched, at once.
const hashChunk = 4 << 20

// HashFile returns a file's size and checksum. It stops when ctx ends. Pages that are not in memory are read in the form of later
// reads, see [mapping.File].
func HashFile(ctx context.Context, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	pages, err := mapping.Open(path)
	if err == nil {
		defer pages.Close()
	} // otherwise an empty file, or one that cannot be mapped
	h := sha256.New()
	for size := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return File{}, err
		}
		pages.Fetch(int(size), int(size)+hashChunk)
		n, err := io.CopyN(h, f, hashChunk)
		size += n
		if errors.Is(err, io.EOF) {
			return File{Size: size, SHA256: fmt.Sprintf("%x", h.Sum(nil))}, nil
		}
		if err != nil {
			return File{}, err
		}
	}
}
