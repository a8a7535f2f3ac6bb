// Package firefox finds the files of Firefox's and Bergamot's models by their names. Package model/checkpoint reads them.
package firefox

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dragoman/model"
)

// kinds are the kinds of a model's files. The names of the files have the model's languages, and may have the extension .gz or
// .zst; a folder may have a file in both. If a model has two vocabularies, they are called srcvocab and trgvocab.
var kinds = []struct {
	kind string
	name *regexp.Regexp
}{
	{"model", pattern(`model\.%sintgemm[a-z0-9.]*\.bin`)},
	{"vocab", pattern(`vocab\.%sspm`)},
	{"source", pattern(`srcvocab\.%sspm`)},
	{"target", pattern(`trgvocab\.%sspm`)},
	{"lex", pattern(`lex\.(?:[0-9.]+\.)?%ss2t\.bin`)},
}

func pattern(name string) *regexp.Regexp {
	return regexp.MustCompile("^" + fmt.Sprintf(name, `(?:([A-Za-z_-]{4,16})\.)?`) + `(\.gz|\.zst)?$`)
}

// MetadataFile may have a model's languages.
const MetadataFile = "metadata.json"

// IsModel reports whether a file of this name is a model.
func IsModel(name string) bool { return kinds[0].name.MatchString(name) }

// Find returns the files of a model among names, by kind: of the model called modelFile, or, if modelFile is "", of the only
// model. Find chooses one of several compressions of a file.
func Find(names []string, modelFile string) (map[string]string, error) {
	found, pair := map[string]string{}, pairIn(modelFile)
	for _, file := range kinds {
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

// Beside returns the possible names of the files beside a model.
func Beside(modelFile string) []string {
	pair, names := pairIn(modelFile), []string{MetadataFile}
	if pair != "" {
		pair += "."
	}
	for _, name := range []string{"vocab.%sspm", "srcvocab.%sspm", "trgvocab.%sspm", "lex.50.50.%ss2t.bin", "lex.%ss2t.bin"} {
		names = append(names, packings(fmt.Sprintf(name, pair))...)
	}
	return names
}

// Models returns the possible names of a model of these languages.
func Models(source, target string) []string {
	return slices.Concat(packings("model."+source+target+".intgemm.alphas.bin"), packings("model."+source+"-"+target+".intgemm.alphas.bin"))
}

func packings(name string) []string { return []string{name, name + ".gz", name + ".zst"} }

// pairIn returns the languages in the name of a model's file, or "".
func pairIn(modelFile string) string {
	if match := kinds[0].name.FindStringSubmatch(modelFile); match != nil {
		return match[1]
	}
	return ""
}

// MaxFile is the maximum size of a file, packed or unpacked. Models have 17 to 60 MB.
const MaxFile = 256 << 20

// Languages returns the languages in metadata.json or in the name of the model's file, or "".
func Languages(files model.Files, modelFile string) (source, target string, err error) {
	var metadata struct {
		Source string `json:"sourceLanguage"`
		Target string `json:"targetLanguage"`
	}
	if _, err := model.ReadJSON(files, MetadataFile, &metadata); err != nil {
		return "", "", err
	}
	if metadata.Source != "" && metadata.Target != "" {
		return metadata.Source, metadata.Target, nil
	}
	source, target = Pair(modelFile)
	return source, target, nil
}

// Pair returns the languages in the name of a model's file, or "".
func Pair(modelFile string) (source, target string) {
	pair := pairIn(modelFile)
	if a, b, ok := strings.Cut(pair, "-"); ok {
		return a, b
	}
	if len(pair) == 4 {
		return pair[:2], pair[2:]
	}
	return "", ""
}
