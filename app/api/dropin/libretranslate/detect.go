package libretranslate

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"dragoman/app/api/dialect"
	"dragoman/app/translate"
)

// detection is a language and its confidence in percent.
type detection struct {
	Confidence float64 `json:"confidence"`
	Language   string  `json:"language"`
}

// unknown is LibreTranslate's result for texts without a language.
var unknown = detection{Confidence: 0, Language: "en"}

// detect serves POST /detect: the languages of the texts, the most likely first.
func detect(call *dialect.Call) (any, error) {
	call.NeedsDetector("Language detection is disabled on this server.")
	list, _ := texts(call.Fields)
	found, err := call.Detect(list, translate.Text)
	return weigh(list, found), err
}

// weigh weighs the languages of the texts by confidence and length, as LibreTranslate does for several texts.
func weigh(texts []string, found []dialect.Detection) []detection {
	type sum struct {
		code         string
		confidence   float64
		texts, runes int
	}
	var all []sum
	for i, f := range found {
		if f.Code == "" {
			continue
		}
		at := slices.IndexFunc(all, func(s sum) bool { return s.code == f.Code })
		if at < 0 {
			at, all = len(all), append(all, sum{code: f.Code})
		}
		all[at].confidence += f.Confidence
		all[at].texts++
		all[at].runes += utf8.RuneCountInString(texts[i])
	}
	if len(all) == 0 {
		return []detection{unknown}
	}
	mean := func(s sum) float64 { return s.confidence / float64(s.texts) }
	weight := func(s sum) float64 { return mean(s) * float64(s.runes) }
	slices.SortStableFunc(all, func(f, g sum) int { return cmp.Compare(weight(g), weight(f)) })
	return dialect.Each(all, func(s sum) detection { return detection{percent(mean(s)), s.code} })
}

// percent converts a fraction to a percentage with one decimal.
func percent(share float64) float64 { return math.Round(share*1000) / 10 }
