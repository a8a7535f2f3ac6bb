package export

import (
	"cmp"
	"encoding/binary"
	"io"
	"regexp"
	"slices"
	"unicode"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/family"
	"dragoman/model/onnx"
	"dragoman/tokenizer"
)

// orderScripts returns the order of the outputs of an 8-bit LM head: the outputs of a writing system are adjacent, so that a step
// can skip the scripts in which the language of a translation is not written. Heads with a bias or with shortlists, and heads
// that are also a table of embeddings, keep the order of the ids, and so do heads of models whose translations have no language
// token.
func orderScripts(ckpt *checkpoint.Checkpoint, dir string, m *model.Manifest) (order []int32, err error) {
	if m.Precision != model.INT8 || m.Spec.LogitsBias || m.Spec.Shortlist.Targets > 0 {
		return nil, nil
	}
	if head, err := ckpt.Tensor("lm_head.weight"); err != nil || head.DType == checkpoint.I8 && head.Alpha > 0 {
		return nil, err
	}
	t, err := family.OpenTokenizer(dir, m.Family, m.Languages)
	if err != nil {
		return nil, err
	}
	tokens, inSource := t.TargetTokens()
	if len(tokens) == 0 {
		return nil, nil
	}
	order, runs := scriptOrder(t, m.Spec.VocabSize)
	m.Scripts = &model.Scripts{Runs: runs, Languages: tokens, InSource: inSource, Rules: model.ScriptRules}
	return order, nil
}

// scriptOrder returns the ids of a vocabulary, sorted by the scripts of their pieces, and the number of outputs of each script.
// Pieces of no particular script come first, together with ids that are not pieces of the tokenizer, then the scripts by name.
func scriptOrder(t *tokenizer.Tokenizer, vocab int) (order []int32, runs []model.Script) {
	scripts, known := make([]string, vocab), map[rune]string{}
	order = make([]int32, vocab)
	for id := range vocab {
		order[id] = int32(id)
		if piece, ok := t.Piece(int64(id)); ok {
			scripts[id] = scriptOf(piece, known)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(scripts[a], scripts[b]) })
	for i, id := range order {
		if i == 0 || scripts[id] != scripts[order[i-1]] {
			runs = append(runs, model.Script{Name: scripts[id]})
		}
		runs[len(runs)-1].Outputs++
	}
	return order, runs
}

// scriptOf returns the name of a piece's script, as in [unicode.Scripts]; "" for a piece that texts in any script may have. Of
// several scripts it returns the one with the fewest languages, because Latin letters and ideographs are mixed with other scripts.
func scriptOf(piece string, known map[rune]string) (script string) {
	for _, r := range piece {
		s, ok := known[r]
		if !ok {
			s = scriptOfRune(r)
			known[r] = s
		}
		if rarity(s) >= rarity(script) {
			script = s
		}
	}
	if everywhere.MatchString(piece) {
		return ""
	}
	return script
}

// everywhere matches pieces with letters that texts in any script may have: bytes, single letters of Latin and Greek, which are
// symbols and units, two letters, with which names are spelled, and acronyms.
var everywhere = regexp.MustCompile(`^(?:<0x[0-9A-F]{2}>|▁?(?:[\p{Latin}\p{Greek}]|[A-Za-z]{2}|[A-Z0-9]+))$`)

func rarity(script string) int {
	if i := slices.Index([]string{"", "Latin", "Han"}, script); i >= 0 {
		return i
	}
	return 3
}

// scriptOfRune returns the name of a rune's script, or "" for a rune of several scripts.
func scriptOfRune(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return name
		}
	}
	return ""
}

// tokens adds the tokens of the outputs of the LM head, int32 [V].
func (w *weights) tokens() (onnx.Weight, error) {
	return w.add(scriptTokens, onnx.Int32, []int{len(w.order)}, func(out io.Writer) error {
		return binary.Write(out, binary.LittleEndian, w.order)
	})
}

const scriptTokens = "lm_head.tokens"

// places adds the outputs of the LM head of the tokens, int32 [V].
func (w *weights) places() (onnx.Weight, error) {
	return w.add("lm_head.places", onnx.Int32, []int{len(w.order)}, func(out io.Writer) error {
		places := make([]int32, len(w.order))
		for place, token := range w.order {
			places[token] = int32(place)
		}
		return binary.Write(out, binary.LittleEndian, places)
	})
}
