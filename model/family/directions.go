package family

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/ctranslate2"
)

// Directions are the languages that a model translates from and into, sorted. None are all of
// its tokenizer's.
type Directions struct{ Sources, Targets []string }

// ParseDirections reads MODEL_LANGUAGES: codes before and behind a colon, en:fr or fr,es:en, either
// of which may be missing.
func ParseDirections(text string) (d Directions, err error) {
	if text == "" {
		return d, nil
	}
	from, to, ok := strings.Cut(text, ":")
	read := func(side string) (codes []string) {
		for name := range strings.SplitSeq(side, ",") {
			code, known := codeOf(strings.TrimSpace(name))
			if known {
				codes = append(codes, code)
			}
			ok = ok && (known || side == "")
		}
		slices.Sort(codes)
		return slices.Compact(codes)
	}
	if d = (Directions{read(from), read(to)}); !ok {
		return d, fmt.Errorf("MODEL_LANGUAGES is %q: use codes of languages such as en:fr, or fr,es,it:en", text)
	}
	return d, nil
}

// Directions finds the languages that a checkpoint translates between. name is that of its
// repository or folder; set is what the user has said, which goes first.
func (f *Family) Directions(files model.Files, name string, set Directions) (Directions, error) {
	if f.directions == nil {
		if len(set.All()) > 0 {
			return Directions{}, fmt.Errorf("MODEL_LANGUAGES is set, but a model of the family %s says itself which languages it has: leave it out", f.Name)
		}
		return Directions{}, nil
	}
	s, err := readSettings(files)
	if err != nil {
		return Directions{}, err
	}
	return f.directions(files, s, name, set)
}

// All are the languages of both sides, sorted.
func (d Directions) All() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(d.Sources, d.Targets))))
}

// or takes each side that is not known from the first that knows it.
func (d Directions) or(told ...Directions) Directions {
	for _, other := range told {
		if len(d.Sources) == 0 {
			d.Sources = other.Sources
		}
		if len(d.Targets) == 0 {
			d.Targets = other.Targets
		}
	}
	return d
}

// completed are the directions where those that are not known are, in this order, in tokenizer_config.json, on the model card
// or in the model's name.
func (d Directions) completed(s settings, card Directions, name string) (Directions, error) {
	return d.or(Directions{languagesOf(s.SourceLanguage), languagesOf(s.TargetLanguage)}, card, pairOf(name)).known()
}

// known fails where one side's languages are not known.
func (d Directions) known() (Directions, error) {
	if len(d.Sources) == 0 || len(d.Targets) == 0 {
		return d, errors.New("the model's files and name do not tell which languages it translates between: " +
			"set MODEL_LANGUAGES, such as en:fr, or fr,es,it:en where there are several")
	}
	return d, nil
}

// pairOf are the languages at the end of the name of a repository, with its revision or without, of a folder or of an Argos
// package: opus-mt-en-fr.
func pairOf(name string) Directions {
	base, _, _ := strings.Cut(path.Base(filepath.ToSlash(name)), "@")
	parts := strings.Split(strings.TrimSuffix(base, ctranslate2.PackageExt), "-")
	if len(parts) < 2 {
		return Directions{}
	}
	return Directions{languagesOf(parts[len(parts)-2]), languagesOf(parts[len(parts)-1])}
}
