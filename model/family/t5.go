package family

import (
	"fmt"
	"maps"
	"slices"

	"dragoman/model"
	"dragoman/tokenizer"
	"dragoman/tokenizer/spm"
)

// t5 are T5s that translate between many languages: google/madlad400-3b-mt and its sisters. Ids are those of
// their SentencePiece model, among whose pieces is a token such as <2fr> for each target, which begins the source.
var t5 = &Family{
	Name:       "t5",
	classes:    []string{"T5Tokenizer", "T5TokenizerFast"},
	types:      []string{"t5"},
	files:      [][]string{{model.T5PiecesFile}, {model.TokenizerFile}},
	directions: t5Directions,
	config:     t5Config,
}

var t5Tokens = targetTokens{"<2", ">"}

// t5Config reads a tokenizer of T5.
func t5Config(dir string, _ settings, _, languages []string) (tokenizer.Config, error) {
	pieces, vocabulary, _, err := t5Pieces(model.Folder(dir))
	if err != nil {
		return tokenizer.Config{}, err
	}
	c := tokenizer.Config{Pieces: pieces, Vocabulary: vocabulary, Framing: t5Framing(pieces, vocabulary), Special: []string{"</s>", "<unk>"}}
	c.Sparse = len(vocabulary) > pieces.Size() // targets of a fine-tune come behind ids that stand for nothing
	for token := range vocabulary {
		if token == "<s>" || token == "<pad>" || t5Tokens.has(token) {
			c.Special = append(c.Special, token)
		}
	}
	c.Languages = withTokens(languages, t5Tokens.languages(vocabulary))
	return c, nil
}

// t5Framing has a source begin with its target's token. Where tokens are pieces of text, the space comes before it that texts begin with.
func t5Framing(pieces *spm.Model, vocabulary map[string]int64) tokenizer.Framing {
	framing := targetFirst
	for token := range vocabulary {
		if t5Tokens.has(token) && slices.Equal(pieces.Encode(token), []string{"▁", token}) {
			framing.Before = []tokenizer.Part{tokenizer.Space, tokenizer.Target}
			break
		}
	}
	return framing
}

// t5Pieces reads a SentencePiece model, or without one a tokenizer.json, and the ids of its pieces, which are the model's.
func t5Pieces(files model.Files) (pieces *spm.Model, ids map[string]int64, file string, err error) {
	ok, err := files.Has(model.T5PiecesFile)
	switch {
	case err != nil:
	case ok:
		file = model.T5PiecesFile
		pieces, ids, err = ownIDs(files, file)
	default:
		file = model.TokenizerFile
		if pieces, ids, err = readTokenizer(files); err == nil {
			// transformers adds what the model has no rows for: a padding token, and marks of gaps.
			maps.DeleteFunc(ids, func(token string, id int64) bool { return id >= int64(pieces.Size()) && !t5Tokens.has(token) })
		}
	}
	return pieces, ids, file, err
}

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

// ownIDs reads a SentencePiece model and the ids of its pieces, which are the model's.
func ownIDs(files model.Files, name string) (*spm.Model, map[string]int64, error) {
	pieces, err := readPieces(files, name)
	if err != nil {
		return nil, nil, err
	}
	ids := make(map[string]int64, pieces.Size())
	for id := range int32(pieces.Size()) {
		ids[pieces.Piece(id)] = int64(id)
	}
	return pieces, ids, nil
}

// t5Directions finds the languages of a T5: those that it has tokens for are its targets, and its sources too, where
// nothing else is set.
func t5Directions(files model.Files, _ settings, _ string, set Directions) (Directions, error) {
	_, vocabulary, file, err := t5Pieces(files)
	if err != nil {
		return Directions{}, err
	}
	all, err := t5Tokens.into(vocabulary, Directions{}, file)
	if err == nil && len(all.Targets) == 0 {
		return Directions{}, fmt.Errorf("%s has no tokens of languages such as <2fr>: of T5 only models that have them are supported, as "+
			"MADLAD-400, not those that are told languages in words", file)
	}
	d, err := t5Tokens.into(vocabulary, set, file)
	return d.or(Directions{Sources: all.Targets}), err
}
