package language

import (
	"slices"
	"strings"
)

// japaneseOnly are characters that Japan simplified in its own way: they are common
// there, and neither simplified nor traditional Chinese has them.
const japaneseOnly = "円気図広駅対実経済発売読変様単帰検験険転軽続択沢辺払価仏働込峠畑桜楽薬鉄県覚観権帯伝団圧囲応黒悪栄営塩仮壊拡歓戯拠挙" +
	"駆恵継鶏撃剣圏厳効鉱砕雑従渋獣縦処焼乗浄剰畳縄嬢譲摂戦繊捜挿巣総蔵臓騒増滞滝遅聴闘悩脳廃拝髪抜豊満黙訳揺頼覧猟緑涙塁霊齢歴暦録労"

// chooseHan tells Japanese and Chinese apart, which have Han in common. Almost every
// Japanese sentence has kana, Chinese has none; one letter in 20 is enough, since
// Chinese texts quote a Japanese word now and then. Without kana it is a short
// Japanese text or a Chinese one of any length, so certainty grows with the length.
func (g group) chooseHan(words []word) (code string, certainty float64, ok bool) {
	kana, all, japanese := 0, 0, false
	for _, w := range words {
		all += w.letters
		if w.script&(hiragana|katakana) != 0 {
			kana += w.letters
		}
		japanese = japanese || strings.ContainsAny(w.text, japaneseOnly)
	}
	switch {
	case kana*20 >= all:
		if !slices.Contains(g.codes, "ja") {
			return "", 0, false
		}
		return "ja", 1, true
	case len(g.codes) == 1:
		return g.codes[0], 1, true
	case japanese:
		return "ja", 0.9, true
	}
	return "zh", float64(all) / float64(all+2), true
}
