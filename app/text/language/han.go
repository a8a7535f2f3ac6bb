package language

import (
	"slices"
	"strings"
)

// japaneseOnly are characters in Japan's own simplification: they are common in Japanese and absent from simplified and
// traditional Chinese.
const japaneseOnly = "円気図広駅対実経済発売読変様単帰検験険転軽続択沢辺払価仏働込峠畑桜楽薬鉄県覚観権帯伝団圧囲応黒悪栄営塩仮壊拡歓戯拠挙" +
	"駆恵継鶏撃剣圏厳効鉱砕雑従渋獣縦処焼乗浄剰畳縄嬢譲摂戦繊捜挿巣総蔵臓騒増滞滝遅聴闘悩脳廃拝髪抜豊満黙訳揺頼覧猟緑涙塁霊齢歴暦録労"

// traditionalOnly are common characters of traditional Chinese that do not occur in simplified Chinese.
const traditionalOnly = "們這個來說時對過還後會為國學長問題開關東車電話語請謝讓認識從現點間頭發樣經種應該當實體業務產與專萬區號賣買錢飯館鐵機場飛" +
	"員師書畫圖風雲氣熱邊遠進運動聽覺總結網絡檔碼級類選單據設備親愛嗎麼兒歲將無須較優義權變難離龍馬鳥魚門見貝頁韋紅綠藍銀門樂歡觀導"

// kanjiOnly is the maximum number of letters of a Japanese text without kana if Chinese is none of a detector's languages: a
// name, a heading.
const kanjiOnly = 16

// chooseHan distinguishes Japanese from Chinese, which share Han. Almost every Japanese sentence has kana, Chinese has none; one
// kana in 20 letters is required, since Chinese texts sometimes quote a Japanese word. A text without kana is a short Japanese
// one or a Chinese one of any length, so the certainty grows with the length.
func (g group) chooseHan(words []word) (code string, certainty float64, ok bool) {
	kana, all, japanese, traditional := 0, 0, 0, false
	for _, w := range words {
		all += w.letters
		if w.script&(hiragana|katakana) != 0 {
			kana += w.letters
		}
		for _, r := range w.text {
			if strings.ContainsRune(japaneseOnly, r) {
				japanese++
			}
		}
		traditional = traditional || strings.ContainsAny(w.text, traditionalOnly)
	}
	own := g.codes[:g.own]
	chinese := slices.DeleteFunc(slices.Clone(own), func(code string) bool { return code == "ja" })
	ours := len(chinese) < len(own) // Japanese is one of the detector's
	switch {
	case kana*20 >= all:
		return "ja", 1, true
	case japanese > 0 && ours || japanese*20 >= all:
		return "ja", 0.9, true
	case len(chinese) == 0 && ours && all < kanjiOnly:
		return "ja", 1, true
	case len(own) == 1 && !ours:
		return own[0], 1, true
	}
	code = "zh"
	if slices.Contains(chinese, "zh-Hant") && (traditional || !slices.Contains(chinese, code)) {
		code = "zh-Hant"
	}
	if len(chinese) > 0 && !slices.Contains(chinese, code) {
		code = chinese[0]
	}
	return code, float64(all) / float64(all+2), true
}
