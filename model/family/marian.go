package family

import (
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"dragoman/model"
	"dragoman/model/object"
	"dragoman/tokenizer"
	"dragoman/tokenizer/spm"
)

// marian is Opus-MT, such as Helsinki-NLP/opus-mt-en-fr. Sources and translations have their own SentencePiece models; the ids of pieces
// are in vocab.json, or in a vocabulary for each side. A model with several targets has a token such as >>fra<< for each, at the start of
// the source.
var marian = &Family{
	Name:     "marian",
	classes:  []string{"MarianTokenizer"},
	networks: marianNetworks,
	files: [][]string{
		{model.SourcePiecesFile, model.TargetPiecesFile, model.VocabFile, model.TargetVocabFile},
		{model.SourcePiecesFile, model.TargetPiecesFile, model.VocabFile},
	},
	directions: marianDirections,
	framing:    onlyEnd, // or targetFirst
	config:     marianConfig,
}

// marianConfig reads a tokenizer of Opus-MT.
func marianConfig(dir string, s settings, files, languages []string) (c tokenizer.Config, err error) {
	var g errgroup.Group
	for name, pieces := range map[string]**spm.Model{model.SourcePiecesFile: &c.Pieces, model.TargetPiecesFile: &c.TargetPieces} {
		g.Go(func() (err error) {
			*pieces, err = readPieces(model.Folder(dir), name)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return c, err
	}
	if c.Vocabulary, err = readVocabulary(model.Folder(dir), model.VocabFile); err != nil {
		return c, err
	}
	if s.SeparateVocabs {
		if !slices.Contains(files, model.TargetVocabFile) {
			return c, fmt.Errorf("%w: %s is not in %s, which has separate_vocabs", ErrIncomplete, model.TargetVocabFile, dir)
		}
		if c.TargetVocabulary, err = readVocabulary(model.Folder(dir), model.TargetVocabFile); err != nil {
			return c, err
		}
	}
	c.Sparse = true // converters lost pieces that are numbers in YAML, such as 1_000
	c.Special = []string{"</s>", "<unk>"}
	for token := range c.Vocabulary {
		if token == "<pad>" || marianTokens.has(token) {
			c.Special = append(c.Special, token)
		}
	}
	targets := marianTokens.languages(c.Vocabulary)
	if len(targets) > 0 {
		c.Framing = targetFirst
	}
	c.Languages = withTokens(languages, targets)
	return c, nil
}

var marianTokens = targetTokens{">>", "<<"}

// marianDirections determines the languages of an Opus-MT model: the targets by their tokens; unknown sides by the first of the
// user's setting, tokenizer_config.json, the model card and the model's name.
func marianDirections(files model.Files, s settings, name string, set Directions) (Directions, error) {
	vocabulary, err := readVocabulary(files, model.VocabFile)
	if err != nil {
		return Directions{}, err
	}
	card, err := readCard(files)
	if err != nil {
		return Directions{}, err
	}
	d, err := marianTokens.into(vocabulary, set, model.VocabFile)
	if err != nil {
		return d, err
	}
	return d.completed(s, cardDirections(card), name)
}

// marianNetworks are the networks of MarianMTModel.
var marianNetworks = []*Network{
	{modelType: "marian", models: "Opus-MT", classes: []string{"Marian"}, fixed: marianSettings, parts: marianParts, ReadsPositions: true},
}

var marianSettings = []setting{
	{"normalize_before", "false"},
	{"add_final_layer_norm", "false"},
	{"normalize_embedding", "false"},
	{"static_position_embeddings", "true"},
	{"add_bias_logits", "false"},
}

// marianParts reads the parts of MarianMTModel: post-norm layers, positions from 0 and a bias of the logits. vocab_size is the encoder's.
func marianParts(o *object.Fields, spec *model.Spec) {
	o.Nullable = true
	spec.PostNorm, spec.Positions, spec.LogitsBias = true, model.OriginalPositions, true
	spec.Activation = parseActivation(o)
	source := spec.VocabSize
	spec.VocabSize = o.Integer("decoder_vocab_size", 4, model.LimitVocab, source)
	if !o.Boolean("share_encoder_decoder_embeddings", true) {
		spec.SourceVocab = source
	} else if spec.VocabSize != source {
		o.Fail("decoder_vocab_size", "it must be \"vocab_size\", %d, where \"share_encoder_decoder_embeddings\" is true", source)
	}
	last := spec.VocabSize - 1
	spec.Pad = int64(o.Size("pad_token_id", 0, last))
	spec.EOS = parseEOS(o, last, 0)
	spec.BOS = int64(o.Integer("bos_token_id", 0, last, int(spec.EOS)))
	spec.DecoderStart = int64(o.Integer("decoder_start_token_id", 0, last, int(spec.Pad)))
}
