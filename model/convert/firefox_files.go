package convert

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"dragoman/model"
)

// firefoxFiles are the kinds of a model's files, which have its languages in their names, may have the extension .gz or .zst,
// and may stand beside each other. The names of the vocabularies are srcvocab and trgvocab where there are two.
var firefoxFiles = []struct {
	kind string
	name *regexp.Regexp
}{
	{"model", firefoxName(`model\.%sintgemm[a-z0-9.]*\.bin`)},
	{"vocab", firefoxName(`vocab\.%sspm`)},
	{"source", firefoxName(`srcvocab\.%sspm`)},
	{"target", firefoxName(`trgvocab\.%sspm`)},
	{"lex", firefoxName(`lex\.(?:[0-9.]+\.)?%ss2t\.bin`)},
}

func firefoxName(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + fmt.Sprintf(pattern, `(?:([A-Za-z_-]{4,16})\.)?`) + `(\.gz|\.zst)?$`)
}

// FirefoxMetadata is the file that may tell a model's languages.
const FirefoxMetadata = "metadata.json"

// IsFirefox says whether a file of this name is a model of Firefox's.
func IsFirefox(name string) bool { return firefoxFiles[0].name.MatchString(name) }

// FirefoxFiles finds the files of a model among names, by their kinds: of the model of this name, or where that is "" of the only
// one. Of files that differ in how they are packed, one is taken.
func FirefoxFiles(names []string, modelFile string) (map[string]string, error) {
	found, pair := map[string]string{}, pairIn(modelFile)
	for _, file := range firefoxFiles {
		for _, name := range slices.Sorted(slices.Values(names)) {
			match := file.name.FindStringSubmatch(name)
			if match == nil || modelFile != "" && (match[1] != pair || file.kind == "model" && name != modelFile) {
				continue
			}
			other := found[file.kind]
			if other != "" && strings.TrimSuffix(name, match[2]) != strings.TrimSuffix(other, file.name.FindStringSubmatch(other)[2]) {
				return nil, fmt.Errorf("%s and %s are both there: put each model into a folder of its own, or, in a repository, name the file of one of them",
					other, name)
			}
			found[file.kind] = name
		}
	}
	if found["vocab"] == "" && (found["source"] == "" || found["target"] == "") {
		return nil, errors.New("there is no vocab.*.spm, or srcvocab.*.spm and trgvocab.*.spm, beside the model: get these files, too")
	}
	return found, nil
}

// FirefoxBeside are the names that the files beside a model may have.
func FirefoxBeside(modelFile string) []string {
	pair, names := pairIn(modelFile), []string{FirefoxMetadata}
	if pair != "" {
		pair += "."
	}
	for _, name := range []string{"vocab.%sspm", "srcvocab.%sspm", "trgvocab.%sspm", "lex.50.50.%ss2t.bin", "lex.%ss2t.bin"} {
		names = append(names, packings(fmt.Sprintf(name, pair))...)
	}
	return names
}

// FirefoxModels are the names that a model of these languages may have.
func FirefoxModels(source, target string) []string {
	return slices.Concat(packings("model."+source+target+".intgemm.alphas.bin"), packings("model."+source+"-"+target+".intgemm.alphas.bin"))
}

func packings(name string) []string { return []string{name, name + ".gz", name + ".zst"} }

// pairIn is what the name of a model's file has of its languages; "": nothing.
func pairIn(modelFile string) string {
	if match := firefoxFiles[0].name.FindStringSubmatch(modelFile); match != nil {
		return match[1]
	}
	return ""
}

// MaxFirefoxFile bounds a file, which has 17 to 60 MB, packed or unpacked.
const MaxFirefoxFile = 256 << 20

// open opens a file of a model, unpacked.
func open(dir, name string) (raw []byte, err error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := io.Reader(f)
	switch filepath.Ext(name) {
	case ".gz":
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	case ".zst":
		unpacked, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer unpacked.Close()
		r = unpacked
	}
	raw, err = io.ReadAll(io.LimitReader(r, MaxFirefoxFile+1))
	if err == nil && len(raw) > MaxFirefoxFile {
		err = fmt.Errorf("it has more than %d MB", MaxFirefoxFile>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return raw, nil
}

// FirefoxLanguages are the languages that metadata.json or the name of the model's file tells; "": neither does.
func FirefoxLanguages(files model.Files, modelFile string) (source, target string, err error) {
	var metadata struct {
		Source string `json:"sourceLanguage"`
		Target string `json:"targetLanguage"`
	}
	if _, err := model.ReadJSON(files, FirefoxMetadata, &metadata); err != nil {
		return "", "", err
	}
	if metadata.Source != "" && metadata.Target != "" {
		return metadata.Source, metadata.Target, nil
	}
	source, target = FirefoxPair(modelFile)
	return source, target, nil
}

// FirefoxPair are the languages that the name of a model's file tells; "": it does not.
func FirefoxPair(modelFile string) (source, target string) {
	pair := pairIn(modelFile)
	if a, b, ok := strings.Cut(pair, "-"); ok {
		return a, b
	}
	if len(pair) == 4 {
		return pair[:2], pair[2:]
	}
	return "", ""
}
