package ctranslate2

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"dragoman/model"
)

// PackageExt is the extension of an Argos package.
const PackageExt = ".argosmodel"

// MetadataFile describes an Argos package.
const MetadataFile = "metadata.json"

// Files of an Argos package's tokenizer.
const (
	PackagePieces = "sentencepiece.model"
	PackageCodes  = "bpe.model" // in place of pieces: subword-nmt's codes of the words of Moses' tokenizer
)

// Metadata is a package's metadata.json.
type Metadata struct {
	Type    string `json:"type"`
	From    string `json:"from_code"`
	To      string `json:"to_code"`
	License any    `json:"license"` // a string, if it is one license
	// TargetPrefix is the first token of all translations; "": none.
	TargetPrefix string `json:"target_prefix"`
}

// ReadMetadata reads metadata.json; ok is false if there is none.
func ReadMetadata(files model.Files) (m Metadata, ok bool, err error) {
	ok, err = model.ReadJSON(files, MetadataFile, &m)
	return m, ok, err
}

// Limits of a package.
const (
	maxEntries = 10_000
	maxWeights = 1 << 36 // bytes of model.bin, 64 GiB
	// maxRatio is the maximum ratio of compression. The ratio of weights is near one, that of vocabularies below ten.
	maxRatio = 200
)

// entries are the maximum sizes in bytes of the files of a package that a model needs, by path.
var entries = map[string]int64{
	MetadataFile: 1 << 20, "README.md": maxConfig, "LICENSE": maxConfig,
	PackagePieces: maxVocabulary, PackageCodes: maxVocabulary,
	"model/" + ModelFile: maxWeights, "model/" + ConfigFile: maxConfig, "model/" + MapFile: maxVocabulary,
	"model/shared_vocabulary.json": maxVocabulary, "model/shared_vocabulary.txt": maxVocabulary,
	"model/source_vocabulary.json": maxVocabulary, "model/source_vocabulary.txt": maxVocabulary,
	"model/target_vocabulary.json": maxVocabulary, "model/target_vocabulary.txt": maxVocabulary,
}

// FileLimit returns the maximum size in bytes of a file in a package or beside model.bin, or 0 for other names.
func FileLimit(name string) int64 { return max(entries[name], entries["model/"+name]) }

// Unpack writes the files of an Argos package that its model needs into the folder dir. It leaves out other files, such as
// stanza's models for sentences.
func Unpack(file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := model.OpenZip(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w: an Argos package is a zip file", file, err)
	}
	wanted, err := choose(z.File)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for name, entry := range wanted {
		if err := unpackEntry(entry, filepath.Join(dir, path.Base(name)), entries[name]); err != nil {
			return fmt.Errorf("%s: %.100q: %w", file, entry.Name, err)
		}
	}
	return nil
}

// IsInstalled reports whether a folder is an Argos package that is installed: unpacked, with model.bin in a folder inside.
func IsInstalled(dir string) bool {
	isFile := func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	}
	return isFile(MetadataFile) && isFile(filepath.Join("model", ModelFile))
}

// CopyInstalled copies the files that Unpack writes from an installed package.
func CopyInstalled(from, to string) error {
	for name := range entries {
		err := model.CopyFile(filepath.Join(from, filepath.FromSlash(name)), filepath.Join(to, path.Base(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// choose returns the entries that a model needs, which are all in one folder, or in none.
func choose(files []*zip.File) (map[string]*zip.File, error) {
	if len(files) > maxEntries {
		return nil, fmt.Errorf("%d files, at most %d are supported", len(files), maxEntries)
	}
	wanted, root := map[string]*zip.File{}, ""
	for _, f := range files {
		if strings.HasPrefix(f.Name, "/") || strings.ContainsAny(f.Name, "\\\x00") || strings.Contains("/"+f.Name+"/", "/../") {
			return nil, fmt.Errorf("the entry %.100q climbs out of the package", f.Name)
		}
		if top, name, ok := strings.Cut(f.Name, "/"); ok && name == MetadataFile || f.Name == MetadataFile {
			if wanted[MetadataFile] != nil {
				return nil, fmt.Errorf("%s is there twice", MetadataFile)
			}
			if wanted[MetadataFile] = f; ok {
				root = top + "/"
			}
		}
	}
	if wanted[MetadataFile] == nil {
		return nil, fmt.Errorf("there is no %s: this is not an Argos package", MetadataFile)
	}
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Name, root)
		if limit := entries[name]; !ok || limit == 0 || name == MetadataFile {
			continue
		}
		if wanted[name] != nil {
			return nil, fmt.Errorf("%.100q is there twice", f.Name)
		}
		wanted[name] = f
	}
	if wanted["model/"+ModelFile] == nil {
		return nil, fmt.Errorf("there is no model/%s: only packages that translate are supported", ModelFile)
	}
	return wanted, nil
}

// unpackEntry writes an entry of at most limit bytes as a file.
func unpackEntry(f *zip.File, to string, limit int64) error {
	const encrypted = 1
	size, packed := f.UncompressedSize64, f.CompressedSize64
	switch {
	case f.Flags&encrypted != 0:
		return fmt.Errorf("it is encrypted")
	case !f.Mode().IsRegular():
		return fmt.Errorf("it is not a file")
	case size > uint64(limit):
		return fmt.Errorf("it has %d bytes, at most %d are supported", size, limit)
	case size > 1<<20 && size/maxRatio > packed:
		return fmt.Errorf("%d bytes are packed into %d, which no model's are", size, packed)
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := model.CreateFile(to, io.LimitReader(r, int64(size)+1)) // one byte more: the reader checks the checksum at the end
	if err == nil && uint64(n) != size {
		err = fmt.Errorf("it has %d bytes, not %d", n, size)
	}
	return err
}
