package language

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/text/unicode/norm"

	"dragoman/app/text/language/internal/ngrams"
)

// Detector detects the language of texts. It is safe for concurrent use.
type Detector interface {
	// Detect returns the code of the language of most of the text, and its confidence, from 0 to 1. ok is false if nothing
	// indicates a language: for texts without letters, and in scripts of no language of a family.
	//
	// The language may be none of the detector's: detection does not depend on the languages that can be translated. One of the
	// detector's languages is preferred unless the text clearly indicates another.
	Detect(text string) (code string, confidence float64, ok bool)
}

// DetectorConfig configures a [Detector].
type DetectorConfig struct {
	// Languages are the codes of the preferred languages, those of the loaded model.
	Languages []string
}

// NewDetector returns a detector. It fails without languages and for codes of no family.
//
// Detection begins with the script of a text, which leaves one language (Greek, Korean) or a few. Kana distinguish Japanese from
// Chinese, letters unique to a language some others, and the models of package ngrams the rest. A language with neither unique
// letters nor a model is detected only if it is the only language of its script; if it is one of the detector's, no other
// language of its script is detected. Of M2M100's languages these are
//
//	ast br ceb ff fy gd gl ht ig ilo jv lb ln mg ne ns oc ss su uz wo
//
// Nothing is loaded, at start or later: the models are part of the binary and read in place. The first detection is as fast as
// others, and no goroutine starts.
func NewDetector(cfg DetectorConfig) (Detector, error) {
	if len(cfg.Languages) == 0 {
		return nil, errors.New("no languages to detect: give at least one")
	}
	models, err := ngrams.Load()
	if err != nil {
		return nil, err
	}
	for _, code := range cfg.Languages {
		if entries[code].scripts == 0 {
			return nil, fmt.Errorf("detect language %q: it is not one of the %d that are known", code, len(entries))
		}
	}
	own, others := byScript(cfg.Languages), byScript(foreign(cfg.Languages))
	d := detector{}
	for i := range scriptTables {
		s := scriptGroup(1 << i)
		d[s] = newGroup(own[s], others[s], models)
	}
	return d, nil
}

// byScript groups languages by the scripts in which they are written.
func byScript(codes []string) map[script][]string {
	sorted := map[script][]string{}
	for _, code := range codes {
		for i := range scriptTables {
			s := script(1) << i
			if f := scriptGroup(s); entries[code].scripts&s != 0 && !slices.Contains(sorted[f], code) {
				sorted[f] = append(sorted[f], code)
			}
		}
	}
	return sorted
}

// same maps languages to languages that their texts do not distinguish reliably.
var same = map[string]string{"bs": "sr", "hr": "sr", "ms": "id", "yue": "zh"}

// foreign returns the languages, in order of their codes, that are not among a model's under any name.
func foreign(codes []string) []string {
	ours := map[string]bool{}
	whole := func(code string) string {
		base := widest(Base(code))
		return cmp.Or(same[base], base)
	}
	for _, code := range codes {
		ours[whole(code)] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(entries)), func(code string) bool { return ours[whole(code)] })
}

// detector maps groups of scripts to their languages. It is immutable.
type detector map[script]group

// Detect implements [Detector].
func (d detector) Detect(text string) (code string, confidence float64, ok bool) {
	// The models have accented letters as one rune.
	text = norm.NFC.String(sample(text))
	found := survey(prose(text))
	if found.total == 0 {
		found = survey(text) // the text has nothing but noise
	}
	main, share := found.main()
	code, certainty, ok := d[main].choose(main, found.words(main))
	if !ok {
		return "", 0, false
	}
	return code, certainty * share, true
}

// scriptGroup returns the script that represents scripts mixed within a sentence: Han, kana and Bopomofo count as Han.
func scriptGroup(s script) script {
	if s&(han|hiragana|katakana|bopomofo) != 0 {
		return han
	}
	return s
}

// findings are the words of a text and their weights.
type findings struct {
	all    []word
	weight map[script]int // by group
	total  int
}

// survey weighs the words of a text.
func survey(text string) findings {
	f := findings{weight: map[script]int{}}
	for w := range words(text) {
		f.all = append(f.all, w)
		f.weight[scriptGroup(w.script)] += w.weight()
		f.total += w.weight()
	}
	return f
}

// main returns the script, or group of scripts, of most of the text, and its share of the text. It returns 0 for texts without
// letters.
func (f findings) main() (main script, share float64) {
	for s, weight := range f.weight {
		if weight > f.weight[main] || weight == f.weight[main] && s < main {
			main = s
		}
	}
	return main, float64(f.weight[main]) / float64(max(f.total, 1))
}

func (f findings) words(of script) []word {
	var list []word
	for _, w := range f.all {
		if scriptGroup(w.script) == of {
			list = append(list, w)
		}
	}
	return list
}
