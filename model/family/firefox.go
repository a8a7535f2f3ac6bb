package family

import (
	"dragoman/model"
	"dragoman/model/object"
	"dragoman/tokenizer"
)

// firefox are Firefox's and Bergamot's models, as package model/checkpoint converts them: for one pair of languages, with one
// SentencePiece model for both sides, or one for each. The ids of its pieces are the model's ids.
var firefox = &Family{
	Name:     "firefox",
	networks: []*Network{{modelType: Bergamot, fixed: marianSettings, parts: bergamotParts}},
	files:    [][]string{{model.SourcePiecesFile, model.TargetPiecesFile}, {model.SourcePiecesFile}},
	directions: func(_ model.Files, s settings, name string, set Directions) (Directions, error) {
		return set.completed(s, Directions{}, name)
	},
	framing: onlyEnd,
	config:  firefoxConfig,
}

// firefoxConfig reads a tokenizer of a Firefox model.
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
	c.Languages = withTokens(languages, nil)
	return c, nil
}

// Bergamot is the model_type of Firefox's models.
const Bergamot = "bergamot"

// bergamotParts reads the parts of Marian's students: other positions and norms than MarianMTModel's, and recurrent units in the decoder.
func bergamotParts(o *object.Fields, spec *model.Spec) {
	marianParts(o, spec)
	spec.Positions, spec.Epsilon, spec.Recurrent = model.PlainPositions, 1e-6, true
	if targets := o.Integer("shortlist_targets", 0, model.LimitShortlist, 0); targets > 0 {
		spec.Shortlist = model.Shortlist{First: o.Integer("shortlist_first", 0, spec.VocabSize, 0),
			Words: o.Integer("shortlist_words", 0, model.LimitVocab, 0), Targets: targets}
	}
}
