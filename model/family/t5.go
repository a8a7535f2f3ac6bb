package family

import (
	"fmt"
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
	files:      [][]string{{model.T5PiecesFile}},
	directions: t5Directions,
	config:     t5Config,
}

var t5Tokens = targetTokens{"<2", ">"}

// t5Config reads a tokenizer of T5.
func t5Config(dir string, _ settings, _, languages []string) (tokenizer.Config, error) {
	pieces, vocabulary, err := ownIDs(Folder(dir), model.T5PiecesFile)
	if err != nil {
		return tokenizer.Config{}, err
	}
	c := tokenizer.Config{Pieces: pieces, Vocabulary: vocabulary, Framing: targetFirst, Special: []string{"</s>", "<unk>"}}
	for id := range int32(pieces.Size()) {
		token := pieces.Piece(id)
		if token == "<s>" || token == "<pad>" || t5Tokens.has(token) {
			c.Special = append(c.Special, token)
		}
		if t5Tokens.has(token) && isText(pieces, token) {
			c.Framing.Before = spaceFirst
		}
	}
	c.Languages = withTokens(languages, t5Tokens.languages(vocabulary))
	return c, nil
}

// isText says whether a target's token is a piece of text, which has the space before it that texts begin with: spaceFirst.
func isText(pieces *spm.Model, token string) bool {
	return slices.Equal(pieces.Encode(token), []string{"▁", token})
}

var spaceFirst = []tokenizer.Part{tokenizer.Space, tokenizer.Target}

// ownIDs reads a SentencePiece model and the ids of its pieces, which are the model's.
func ownIDs(files Files, name string) (*spm.Model, map[string]int64, error) {
	raw, err := files.Read(name)
	if err != nil {
		return nil, nil, err
	}
	pieces, err := spm.Parse(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	ids := make(map[string]int64, pieces.Size())
	for id := range int32(pieces.Size()) {
		ids[pieces.Piece(id)] = int64(id)
	}
	return pieces, ids, nil
}

// t5Directions finds the languages of a T5: those that it has tokens for are its targets, and its sources too, where
// nothing else is set.
func t5Directions(files Files, _ settings, _ string, set Directions) (Directions, error) {
	_, vocabulary, err := ownIDs(files, model.T5PiecesFile)
	if err != nil {
		return Directions{}, err
	}
	all, err := t5Tokens.into(vocabulary, Directions{}, model.T5PiecesFile)
	if err == nil && len(all.Targets) == 0 {
		return Directions{}, fmt.Errorf("%s has no tokens of languages such as <2fr>: of T5 only models that have them are supported, as "+
			"MADLAD-400, not those that are told languages in words", model.T5PiecesFile)
	}
	d, err := t5Tokens.into(vocabulary, set, model.T5PiecesFile)
	return d.or(Directions{Sources: all.Targets}), err
}
