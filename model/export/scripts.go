package export

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/family"
	"dragoman/model/onnx"
	"dragoman/tokenizer"
)

// orderScripts decides on the order of the outputs of an 8-bit LM head: those of a writing system lie next to each other, so
// that a step can leave out those that the language of a translation is not written in. Heads that have a bias, lists of their
// own, or that are a table of embeddings too, keep the order of the ids, as do those of models whose translations no token tells
// the language of.
func orderScripts(ckpt *checkpoint.Checkpoint, dir string, m *model.Manifest) (order []int32, err error) {
	if m.Precision != model.INT8 || m.Spec.LogitsBias || m.Spec.Shortlist.Targets > 0 {
		return nil, nil
	}
	if head, err := ckpt.Tensor("lm_head.weight"); err != nil || head.DType == checkpoint.I8 {
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
	m.Scripts = &model.Scripts{Runs: runs, Languages: tokens, InSource: inSource}
	return order, nil
}

// shortLatin is how many letters a piece of Latin letters has at most that belongs to no script: names and abbreviations in
// texts of other scripts can be spelled with these.
const shortLatin = 2

// scriptOrder are the ids of a vocabulary, sorted by the scripts of their pieces, and how many each script has. Pieces without
// letters come first, with what is not of the tokenizer's pieces, then the scripts by their names, each with its names at the end.
func scriptOrder(t *tokenizer.Tokenizer, vocab int) (order []int32, runs []model.Script) {
	scripts, known := make([]model.Script, vocab), map[rune]string{}
	order = make([]int32, vocab)
	for id := range vocab {
		order[id] = int32(id)
		if piece, ok := t.Piece(int64(id)); ok {
			scripts[id].Name = scriptOf(piece, known)
			scripts[id].Names = scripts[id].Name != "" && strings.ContainsFunc(piece, unicode.IsUpper)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(scripts[a].Name, scripts[b].Name), names(scripts[a])-names(scripts[b]))
	})
	for i, id := range order {
		if i == 0 || scripts[id] != scripts[order[i-1]] {
			runs = append(runs, scripts[id])
		}
		runs[len(runs)-1].Outputs++
	}
	return order, runs
}

func names(s model.Script) int {
	if s.Names {
		return 1
	}
	return 0
}

// scriptOf is the name of a piece's script, as [unicode.Scripts] has it; "" where it has no letters but those of all scripts. Of
// several it is the one that the fewest languages have: Latin letters and ideographs stand beside those of others.
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
	if script == "Latin" && utf8.RuneCountInString(strings.TrimPrefix(piece, "▁")) <= shortLatin {
		return ""
	}
	return script
}

func rarity(script string) int {
	if i := slices.Index([]string{"", "Latin", "Han"}, script); i >= 0 {
		return i
	}
	return 3
}

// scriptOfRune is the name of a rune's script, "" for what several have.
func scriptOfRune(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return name
		}
	}
	return ""
}

// tokens are the tokens of the outputs of the LM head, int32 [V].
func (w *weights) tokens() (onnx.Weight, error) {
	return w.add(scriptTokens, onnx.Int32, []int{len(w.order)}, func(out io.Writer) error {
		return binary.Write(out, binary.LittleEndian, w.order)
	})
}

const scriptTokens = "lm_head.tokens"
