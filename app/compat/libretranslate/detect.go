package libretranslate

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"dragoman/app/compat"
	"dragoman/app/failure"
	"dragoman/app/translate"
)

// detection is a language and how sure that is, in percent.
type detection struct {
	Confidence float64 `json:"confidence"`
	Language   string  `json:"language"`
}

// unknown is what LibreTranslate says of texts without a language.
var unknown = detection{Confidence: 0, Language: "en"}

// detect serves POST /detect: the languages of the texts, the likeliest first.
func (a api) detect(call compat.Call) (any, error) {
	detector := call.Models.Detector()
	if detector == nil {
		return nil, compat.RefuseAs(failure.NotOffered, "Language detection is disabled on this server.")
	}
	list, _, err := texts(call.Fields)
	if err != nil {
		return nil, err
	}
	if err := a.ChargeDetection(call.Context, list); err != nil {
		return nil, err
	}
	return detect(detector, list), nil
}

// detect weighs the languages of the texts by confidence and length, as
// LibreTranslate does with several texts.
func detect(detector translate.Detector, texts []string) []detection {
	type found struct {
		code         string
		sum          float64 // of confidences
		texts, runes int
	}
	var all []found
	for _, text := range texts {
		code, confidence, ok := detector.Detect(text)
		if !ok {
			continue
		}
		i := slices.IndexFunc(all, func(f found) bool { return f.code == code })
		if i < 0 {
			i, all = len(all), append(all, found{code: code})
		}
		all[i].sum += confidence
		all[i].texts++
		all[i].runes += utf8.RuneCountInString(text)
	}
	if len(all) == 0 {
		return []detection{unknown}
	}
	weight := func(f found) float64 { return f.sum / float64(f.texts) * float64(f.runes) }
	slices.SortStableFunc(all, func(f, g found) int { return cmp.Compare(weight(g), weight(f)) })
	detections := make([]detection, len(all))
	for i, f := range all {
		detections[i] = detection{percent(f.sum / float64(f.texts)), f.code}
	}
	return detections
}

// confirm says how sure the language is that a text was translated from.
func confirm(detector translate.Detector, text, language string) detection {
	return detection{percent(compat.Confidence(detector, text, language)), language}
}

// percent is a share of 1 as a percentage with one decimal.
func percent(share float64) float64 { return math.Round(share*1000) / 10 }
