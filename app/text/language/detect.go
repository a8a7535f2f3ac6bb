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

// Detector tells the language of texts. It is safe for concurrent use.
type Detector interface {
	// Detect returns the code of the language that most of the text is in, and how
	// sure that is, from 0 to 1. It fails where nothing tells: on texts without
	// letters, and in scripts that no language of a family is written in.
	//
	// It may be a language that is not one of the detector's: what a text is in does not
	// hang on what can be translated. One of its own wins unless the text clearly says otherwise.
	Detect(text string) (code string, confidence float64, ok bool)
}

// DetectorConfig is what a [Detector] works with.
type DetectorConfig struct {
	// Languages are the codes that are likelier than others, those of the loaded model.
	Languages []string
}

// NewDetector makes a detector. It fails without languages and on codes of no family.
//
// The script of a text comes first: it leaves one language (Greek, Korean) or a
// few. Kana tells Japanese from Chinese, letters that no other language has tell
// some others, and the models of package ngrams the rest. Languages that have neither
// are found only where they are the only language of their script, and where they are among the
// detector's, no others of their script are. Of M2M100's these are
//
//	ast br ceb ff fy gd gl ht ig ilo jv lb ln mg ne ns oc ss su uz wo
//
// There is nothing to load, early or late: the models are part of the binary and
// read in place. The first detection is as fast as others, and no goroutine starts.
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

// byScript sorts languages by the group of scripts that they are written in.
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

// same has the languages that texts do not tell apart as surely as their names do.
var same = map[string]string{"bs": "sr", "hr": "sr", "ms": "id", "yue": "zh"}

// foreign are the languages, in the order of their codes, that are none of those of a model, be it
// under another name.
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

// detector has the languages of each group of scripts. It is not
// changed once it is made.
type detector map[script]group

// Detect implements [Detector].
func (d detector) Detect(text string) (code string, confidence float64, ok bool) {
	// The models have letters with their accents as one rune.
	text = norm.NFC.String(sample(text))
	found := survey(prose(text))
	if found.total == 0 {
		found = survey(text) // noise is all there is
	}
	main, share := found.main()
	code, certainty, ok := d[main].choose(main, found.words(main))
	if !ok {
		return "", 0, false
	}
	return code, certainty * share, true
}

// scriptGroup is the script under which those count together that are mixed within a
// sentence: Han, kana and Bopomofo.
func scriptGroup(s script) script {
	if s&(han|hiragana|katakana|bopomofo) != 0 {
		return han
	}
	return s
}

// findings are the words of a text and what they weigh.
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

// main returns the script, or group of scripts, that most of the text is in, and
// its part of the text. It is 0 for texts without letters.
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
