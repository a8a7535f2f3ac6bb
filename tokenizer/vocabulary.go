package tokenizer

import (
	"fmt"

	"dragoman/tokenizer/spm"
)

// vocabulary maps pieces to the model's token ids, which differ from the ids in the SentencePiece model.
type vocabulary struct {
	size    int64
	ids     map[string]int64
	tokens  []string   // by id
	pieces  *spm.Model // replaces the two fields above if it has the same ids and pieces
	special map[int64]bool
	begin   int64 // id of <s>, if a framing has it
	eos     int64
	unknown int64
}

// maxSparse is the maximum number of ids of a vocabulary with gaps.
const maxSparse = 1 << 20

// newVocabulary checks that the ids are 0 to len(ids)-1, each once, and that the special tokens exist. A sparse vocabulary may
// lack ids.
func newVocabulary(ids map[string]int64, special []string, sparse bool) (*vocabulary, error) {
	size := int64(len(ids))
	for _, id := range ids {
		if sparse && id < maxSparse {
			size = max(size, id+1)
		}
	}
	v := &vocabulary{size: size, ids: ids, tokens: make([]string, size), special: map[int64]bool{}}
	taken := make([]bool, size)
	for token, id := range ids {
		if id < 0 || id >= size {
			return nil, fmt.Errorf("token %q has id %d, expected 0 to %d for %d entries", token, id, size-1, len(ids))
		}
		if taken[id] {
			return nil, fmt.Errorf("tokens %q and %q both have id %d", v.tokens[id], token, id)
		}
		taken[id], v.tokens[id] = true, token
	}
	for _, token := range special {
		id, ok := ids[token]
		if !ok {
			return nil, fmt.Errorf("%d entries, but no token %q", len(ids), token)
		}
		v.special[id] = true
	}
	v.begin, v.eos, v.unknown = ids["<s>"], ids["</s>"], ids["<unk>"]
	return v, nil
}

// idOf returns the id of a piece of text. A piece outside the vocabulary is unknown, and so is a piece spelled like a special
// token.
func (v *vocabulary) idOf(piece []byte) int64 {
	id, ok := v.ids[string(piece)]
	if v.pieces != nil {
		var own int32
		own, ok = v.pieces.ID(string(piece))
		id = int64(own)
	}
	if !ok || v.special[id] {
		return v.unknown
	}
	return id
}

// piece returns the text of an id; ok is false for special tokens and for ids outside the vocabulary.
func (v *vocabulary) piece(id int64) (text string, ok bool) {
	if id < 0 || id >= v.size || v.special[id] {
		return "", false
	}
	if v.pieces != nil {
		text = v.pieces.Piece(int32(id))
	} else {
		text = v.tokens[id]
	}
	return text, text != ""
}

// share drops data that the SentencePiece model has as well, some two megabytes, if the model's ids are the vocabulary's.
func (v *vocabulary) share(pieces *spm.Model) {
	if v.size != int64(pieces.Size()) {
		return
	}
	for id, token := range v.tokens {
		if own, ok := pieces.ID(token); !ok || int(own) != id {
			return
		}
	}
	v.ids, v.tokens, v.pieces = nil, nil, pieces
}
