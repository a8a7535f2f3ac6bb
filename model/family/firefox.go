package family

import (
	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/tokenizer"
)

// firefox are Firefox's and Bergamot's models, as package model/convert writes them: each for one pair of languages, with
// one SentencePiece model, or one for either side, whose ids are the model's.
var firefox = &Family{
	Name:  "firefox",
	types: []string{checkpoint.Bergamot},
	files: [][]string{{model.SourcePiecesFile, model.TargetPiecesFile}, {model.SourcePiecesFile}},
	directions: func(_ model.Files, s settings, name string, set Directions) (Directions, error) {
		return set.completed(s, Directions{}, name)
	},
	config: firefoxConfig,
}

// firefoxConfig reads a tokenizer of Firefox.
func firefoxConfig(dir string, _ settings, files, languages []string) (c tokenizer.Config, err error) {
	if c.Pieces, c.Vocabulary, err = ownIDs(model.Folder(dir), model.SourcePiecesFile); err != nil {
		return c, err
	}
	if len(files) > 1 {
		if c.TargetPieces, c.TargetVocabulary, err = ownIDs(model.Folder(dir), model.TargetPiecesFile); err != nil {
			return c, err
		}
	}
	c.Special = []string{"</s>", "<unk>"}
	c.Framing = onlyEnd
	c.Languages = withTokens(languages, nil)
	return c, nil
}
