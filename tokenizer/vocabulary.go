package tokenizer

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// maxVocabBytes bounds the size of vocab.json. M2M100's has 3.7 MB.
const maxVocabBytes = 64 << 20

// vocabulary is what vocab.json says: the model's token ids, which differ from
// the ids in the SentencePiece model.
type vocabulary struct {
	ids     map[string]int64
	tokens  []string // by id
	special map[int64]bool
	eos     int64
	unknown int64
}

// newVocabulary checks that the ids are 0 to len(ids)-1, each of them once, and
// that the special tokens are there.
func newVocabulary(ids map[string]int64) (*vocabulary, error) {
	v := &vocabulary{ids: ids, tokens: make([]string, len(ids)), special: map[int64]bool{}}
	taken := make([]bool, len(ids))
	for token, id := range ids {
		if id < 0 || id >= int64(len(ids)) {
			return nil, fmt.Errorf("token %q has id %d, expected 0 to %d for %d entries", token, id, len(ids)-1, len(ids))
		}
		if taken[id] {
			return nil, fmt.Errorf("tokens %q and %q both have id %d", v.tokens[id], token, id)
		}
		taken[id], v.tokens[id] = true, token
	}
	for _, token := range []string{"<s>", "<pad>", "</s>", "<unk>"} {
		id, ok := ids[token]
		if !ok {
			return nil, fmt.Errorf("%d entries, but no token %q", len(ids), token)
		}
		v.special[id] = true
	}
	v.eos, v.unknown = ids["</s>"], ids["<unk>"]
	return v, nil
}

// idOf is the id of a piece of text. A piece that is not in vocab.json is
// unknown, and so is one that is spelled like a special token.
func (v *vocabulary) idOf(piece []byte) int64 {
	id, ok := v.ids[string(piece)]
	if !ok || v.special[id] {
		return v.unknown
	}
	return id
}

// piece is the text of an id that stands for text; ok is false for special
// tokens and for ids outside vocab.json.
func (v *vocabulary) piece(id int64) (text string, ok bool) {
	if id < 0 || id >= int64(len(v.tokens)) || v.special[id] {
		return "", false
	}
	return v.tokens[id], true
}

// readJSON reads a JSON file of at most maxVocabBytes into v.
func readJSON(path string, v any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxVocabBytes+1))
	if err != nil {
		return err
	}
	if len(raw) > maxVocabBytes {
		return fmt.Errorf("%s has more than %d MB", path, maxVocabBytes>>20)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
