package family

import (
	"encoding/json"
	"fmt"

	"dragoman/model"
	"dragoman/tokenizer"
	"dragoman/tokenizer/spm"
)

// readPieces reads a SentencePiece model.
func readPieces(files model.Files, name string) (*spm.Model, error) {
	raw, err := files.Read(name)
	if err != nil {
		return nil, err
	}
	pieces, err := spm.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return pieces, nil
}

// ownIDs reads a SentencePiece model and the ids of its pieces, for translation models with the same ids.
func ownIDs(files model.Files, name string) (*spm.Model, map[string]int64, error) {
	pieces, err := readPieces(files, name)
	if err != nil {
		return nil, nil, err
	}
	return pieces, pieces.IDs(), nil
}

// readVocabulary reads the ids of pieces.
func readVocabulary(files model.Files, name string) (map[string]int64, error) {
	raw, err := files.Read(name)
	if err != nil {
		return nil, err
	}
	const entryBytes = 30 // average in the file; the map does not grow
	ids := make(map[string]int64, len(raw)/entryBytes)
	if err := json.Unmarshal(raw, &ids); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return ids, nil
}

// fairseq has the special tokens before the pieces.
var fairseq = []string{"<s>", "<pad>", "</s>", "<unk>"}

// fairseqConfig reads a tokenizer with all of its languages' tokens: a SentencePiece model, whose pieces have fairseq's ids, or a
// tokenizer.json.
func fairseqConfig(files model.Files, tokens []languageToken) (config tokenizer.Config, err error) {
	if ok, err := files.Has(model.PieceModelFile); err != nil {
		return config, err
	} else if !ok {
		return listedConfig(files, tokens)
	}
	pieces, err := readPieces(files, model.PieceModelFile)
	if err != nil {
		return config, err
	}
	config = tokenizer.Config{Pieces: pieces, Vocabulary: map[string]int64{}}
	for id, token := range fairseq {
		config.Vocabulary[token] = int64(id)
	}
	first := []string{"<unk>", "<s>", "</s>"}
	for id := range int32(pieces.Size()) {
		piece := pieces.Piece(id)
		switch {
		case int(id) >= len(first):
			config.Vocabulary[piece] = int64(id) + 1
		case piece != first[id]:
			return config, fmt.Errorf("%s: piece %d is %q, not %q: the ids of such a model are not known", model.PieceModelFile, id, piece, first[id])
		}
	}
	config.Languages = inOrder(tokens, len(config.Vocabulary))
	return config, nil
}
