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

// kinds are the kinds of a model's files, which have its languages in their names, may have the extension .gz or .zst,
// and may stand beside each other. The names of the vocabularies are srcvocab and trgvocab where there are two.
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

// MetadataFile is the file that may tell a model's languages.
const MetadataFile = "metadata.json"

// IsModel says whether a file of this name is a model.
func IsModel(name string) bool { return kinds[0].name.MatchString(name) }

// Find finds the files of a model among names, by their kinds: of the model of this name, or where that is "" of the only
// one. Of files that differ in how they are packed, one is taken.
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

// Beside are the names that the files beside a model may have.
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

// Models are the names that a model of these languages may have.
func Models(source, target string) []string {
	return slices.Concat(packings("model."+source+target+".intgemm.alphas.bin"), packings("model."+source+"-"+target+".intgemm.alphas.bin"))
}

func packings(name string) []string { return []string{name, name + ".gz", name + ".zst"} }

// pairIn is what the name of a model's file has of its languages; "": nothing.
func pairIn(modelFile string) string {
	if match := kinds[0].name.FindStringSubmatch(modelFile); match != nil {
		return match[1]
	}
	return ""
}

// MaxFile bounds a file, which has 17 to 60 MB, packed or unpacked.
const MaxFile = 256 << 20

// Languages are the languages that metadata.json or the name of the model's file tells; "": neither does.
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

// Pair are the languages that the name of a model's file tells; "": it does not.
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
