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

// Directions are the source and target languages of a model, sorted. None means all languages of its tokenizer.
type Directions struct{ Sources, Targets []string }

// ParseDirections parses MODEL_LANGUAGES: codes before and after a colon, en:fr or fr,es:en. One side may be empty.
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

// Directions returns the languages of a checkpoint. name is the name of its repository or folder; set has the user's languages, which
// have priority. None for a family whose tokenizer has a token for each language means all.
func (f *Family) Directions(files model.Files, name string, set Directions) (Directions, error) {
	if f.directions == nil && len(set.All()) == 0 {
		return Directions{}, nil
	}
	s, err := readSettings(files)
	if err != nil {
		return Directions{}, err
	}
	if f.directions != nil {
		return f.directions(files, s, name, set)
	}
	a, err := readAdded(files, s, nil)
	if err != nil {
		return Directions{}, err
	}
	all := codesOf(withAdded(inOrder(f.tokens(), 0), f.tokens(), a.languages()))
	return set.or(Directions{all, all}), checkTokens(set.All(), all, "the tokenizer")
}

// All returns the languages of both sides, sorted.
func (d Directions) All() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(d.Sources, d.Targets))))
}

// or sets each unknown side to that of the first of told that knows it.
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

// completed sets unknown sides, in this order, by tokenizer_config.json, the model card or the model's name.
func (d Directions) completed(s settings, card Directions, name string) (Directions, error) {
	return d.or(Directions{languagesOf(s.SourceLanguage), languagesOf(s.TargetLanguage)}, card, pairOf(name)).known()
}

// known fails if the languages of a side are unknown.
func (d Directions) known() (Directions, error) {
	if len(d.Sources) == 0 || len(d.Targets) == 0 {
		return d, errors.New("the model's files and name do not tell which languages it translates between: " +
			"set MODEL_LANGUAGES, such as en:fr, or fr,es,it:en where there are several")
	}
	return d, nil
}

// forms are the ends of the names of converted models: opus-mt-en-fr-ct2-float16.
var forms = setOf(`ct2 ctranslate2 ct2fast float32 float16 bfloat16 int16 int8 int8_float32 int8_float16 int8_bfloat16 fp32 fp16 bf16 8bit 16bit
	quantized converted lora`)

// pairOf returns the languages at the end of the name of a repository, also with a revision, of a folder or of an Argos package:
// opus-mt-en-fr.
func pairOf(name string) Directions {
	base, _, _ := strings.Cut(path.Base(filepath.ToSlash(name)), "@")
	parts := strings.Split(strings.TrimSuffix(base, ctranslate2.PackageExt), "-")
	for len(parts) > 0 && forms[strings.ToLower(parts[len(parts)-1])] {
		parts = parts[:len(parts)-1]
	}
	if len(parts) < 2 {
		return Directions{}
	}
	return Directions{languagesOf(parts[len(parts)-2]), languagesOf(parts[len(parts)-1])}
}
