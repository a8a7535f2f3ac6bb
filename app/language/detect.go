package language

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/text/unicode/norm"

	"dragoman/app/language/internal/ngrams"
)

// Detector tells the language of texts. It is safe for concurrent use.
type Detector interface {
	// Detect returns the code of the language that most of the text is in, and how
	// sure that is, from 0 to 1. It fails where nothing tells: on texts without
	// letters, and in scripts that none of the detector's languages is written in.
	//
	// The answer is always one of the detector's languages. So a text in another
	// language of the same script gets a wrong answer, often with a low confidence.
	Detect(text string) (code string, confidence float64, ok bool)
}

// DetectorConfig is what a [Detector] works with.
type DetectorConfig struct {
	// Languages are the codes to choose from, those of the loaded model.
	Languages []string
}

// NewDetector makes a detector. It fails without languages and on codes of no family.
//
// The script of a text comes first: it leaves one language (Greek, Korean) or a
// few. Kana tells Japanese from Chinese, letters that no other language has tell
// some others, and the models of package ngrams the rest. Languages that have neither
// are found only where they are the only language of their script. Of M2M100's these
// are
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
	byScript := map[script][]string{}
	for _, code := range cfg.Languages {
		scripts := entries[code].scripts
		if scripts == 0 {
			return nil, fmt.Errorf("detect language %q: it is not one of the %d that are known", code, len(entries))
		}
		for i := range scriptTables {
			s := script(1) << i
			if f := scriptGroup(s); scripts&s != 0 && !slices.Contains(byScript[f], code) {
				byScript[f] = append(byScript[f], code)
			}
		}
	}
	d := detector{}
	for s, codes := range byScript {
		d[s] = newGroup(codes, models)
	}
	return d, nil
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

// words returns the words of a group of scripts.
func (f findings) words(of script) []word {
	var list []word
	for _, w := range f.all {
		if scriptGroup(w.script) == of {
			list = append(list, w)
		}
	}
	return list
}
