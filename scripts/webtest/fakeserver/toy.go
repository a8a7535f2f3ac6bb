package main

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"
)

var (
	sentencePattern = regexp.MustCompile(`(?s).+?(?:[.!?؟]+(?:\s+|$)|[。！？]+|$)`)
	flagPattern     = regexp.MustCompile(`flag:(\w+)`)
)

// phrases are translations that make screenshots worth looking at. Every other
// sentence becomes "[fr] sentence".
var phrases = map[string]map[string]string{
	"fr": {
		"Where is the station?":            "Où est la gare ?",
		"Good morning.":                    "Bonjour.",
		"The old harbour wakes up slowly.": "Le vieux port s’éveille lentement.",
		"Fishermen mend their nets while the first ferry leaves for the islands.": "Les pêcheurs réparent leurs filets pendant que le premier ferry part pour les îles.",
		"By noon the cafés are full, and nobody is in a hurry.":                   "À midi, les cafés sont pleins et personne n’est pressé.",
		"Stay a while.": "Restez un peu.",
	},
	"ja": {
		"Where is the station?":            "駅はどこですか。",
		"Good morning.":                    "おはようございます。",
		"The old harbour wakes up slowly.": "古い港がゆっくりと目を覚ます。",
		"Fishermen mend their nets while the first ferry leaves for the islands.": "最初のフェリーが島へ向かうころ、漁師たちは網を繕っている。",
		"By noon the cafés are full, and nobody is in a hurry.":                   "昼にはカフェが満席になり、急ぐ人は誰もいない。",
		"Stay a while.": "ゆっくりしていってください。",
	},
	"ar": {"Where is the station?": "أين المحطة؟", "Good morning.": "صباح الخير."},
	"en": {"Où est la gare ?": "Where is the station?", "駅はどこですか。": "Where is the station?", "أين المحطة؟": "Where is the station?"},
}

// answer translates a record.
func answer(p payload, r record) gin.H {
	from, detected := p.FromLang, p.FromLang == "auto"
	if detected {
		from = detect(r.Text)
	}
	var text strings.Builder
	segments := []gin.H{}
	for _, part := range sentencePattern.FindAllString(r.Text, -1) {
		sentence := strings.TrimSpace(part)
		if sentence == "" {
			text.WriteString(part)
			continue
		}
		translated := cmp.Or(phrases[p.ToLang][sentence], "["+p.ToLang+"] "+sentence)
		text.WriteString(strings.Replace(part, sentence, translated, 1))
		segments = append(segments, gin.H{"source": sentence, "text": translated})
	}
	result := gin.H{"id": r.ID, "text": text.String()}
	if p.Detail {
		result["detail"] = gin.H{"fromLang": from, "detected": detected, "segments": segments, "flags": flags(r.Text)}
	}
	return result
}

// flags are those that a text asks for, as in "flag:truncated".
func flags(text string) []string {
	found := []string{}
	for _, match := range flagPattern.FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	return found
}

// detect guesses a language by its script.
func detect(text string) string {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han):
			return "ja"
		case unicode.Is(unicode.Arabic, r):
			return "ar"
		case strings.ContainsRune("éèàçùœ", r):
			return "fr"
		}
	}
	return "en"
}

// offered is the answer of GET /languages.
func offered() []gin.H {
	list := []gin.H{}
	for _, language := range [][3]string{
		{"ar", "العربية", "Arabic"}, {"cs", "čeština", "Czech"}, {"da", "dansk", "Danish"}, {"de", "Deutsch", "German"},
		{"el", "Ελληνικά", "Greek"}, {"en", "English", "English"}, {"es", "español", "Spanish"}, {"fa", "فارسی", "Persian"},
		{"fi", "suomi", "Finnish"}, {"fr", "français", "French"}, {"he", "עברית", "Hebrew"}, {"hi", "हिन्दी", "Hindi"},
		{"hu", "magyar", "Hungarian"}, {"id", "Bahasa Indonesia", "Indonesian"}, {"it", "italiano", "Italian"},
		{"ja", "日本語", "Japanese"}, {"ko", "한국어", "Korean"}, {"nl", "Nederlands", "Dutch"}, {"pl", "polski", "Polish"},
		{"pt", "português", "Portuguese"}, {"ru", "русский", "Russian"}, {"sv", "svenska", "Swedish"}, {"th", "ไทย", "Thai"},
		{"tr", "Türkçe", "Turkish"}, {"uk", "українська", "Ukrainian"}, {"vi", "Tiếng Việt", "Vietnamese"}, {"zh", "中文", "Chinese"},
	} {
		list = append(list, gin.H{"code": language[0], "nativeName": language[1], "name": language[2]})
	}
	return list
}
