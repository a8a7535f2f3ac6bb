package family

import (
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"dragoman/model"
	"dragoman/model/object"
	"dragoman/tokenizer"
)

// m2m100 is M2M100: facebook/m2m100_418M, facebook/m2m100_1.2B. vocab.json has the ids of pieces, which the languages and unused rows
// follow.
var m2m100 = &Family{
	Name:     "m2m100",
	classes:  []string{"M2M100Tokenizer", ""},
	networks: m2m100Networks,
	files:    m2m100Files,
	tokens:   m2m100Tokens,
	framing:  sourceFirst,
	config:   m2m100Config,
}

var m2m100Files = [][]string{{model.VocabFile, model.PieceModelFile}}

// m2m100Languages are the 100 languages of M2M100 in the order of their tokens, which is alphabetical. The token of "en" is "__en__".
//
//go:embed m2m100.txt
var m2m100Languages string

// m2m100Tokens returns the tokens of the languages in their order, like nllbTokens and mbartTokens.
func m2m100Tokens() (tokens []languageToken) {
	for code := range strings.FieldsSeq(m2m100Languages) {
		tokens = append(tokens, languageToken{code, "__" + code + "__"})
	}
	return tokens
}

// m2m100Config reads a tokenizer in M2M100's form.
func m2m100Config(dir string, s settings, _, _ []string) (tokenizer.Config, error) {
	if s.LanguageCodes != "" && s.LanguageCodes != "m2m100" {
		return tokenizer.Config{}, fmt.Errorf("%s: language_codes is %q, only \"m2m100\" is supported",
			model.TokenizerConfigFile, s.LanguageCodes)
	}
	var config tokenizer.Config
	var g errgroup.Group // concurrently, because each takes 0.1 s of a large model's first request
	g.Go(func() (err error) {
		config.Pieces, err = readPieces(model.Folder(dir), model.PieceModelFile)
		return err
	})
	g.Go(func() (err error) {
		config.Vocabulary, err = readVocabulary(model.Folder(dir), model.VocabFile)
		return err
	})
	if err := g.Wait(); err != nil {
		return tokenizer.Config{}, err
	}
	config.Languages = inOrder(m2m100Tokens(), len(config.Vocabulary))
	return config, nil
}

// m2m100Networks are the networks of M2M100, SMaLL-100 and NLLB-200.
var m2m100Networks = []*Network{{
	modelType: "m2m_100", models: "M2M100, NLLB-200, SMaLL-100", classes: []string{"M2M100"},
	scaled: true, forcesTarget: true, parts: m2m100Parts,
	// Most of these settings belong to other models of the BART family.
	fixed: []setting{
		{"activation_function", `"relu"`},
		{"normalize_before", "true"},
		{"encoder_normalize_before", "true"},
		{"decoder_normalize_before", "true"},
		{"add_final_layer_norm", "true"},
		{"normalize_embedding", "false"},
		{"layernorm_embedding", "false"},
		{"static_position_embeddings", "true"},
		{"encoder_learned_pos", "false"},
		{"decoder_learned_pos", "false"},
		{"add_bias_logits", "false"},
	},
}}

// m2m100Parts reads the special ids. The parts are those of the zero [model.Spec].
func m2m100Parts(o *object.Fields, spec *model.Spec) {
	last := spec.VocabSize - 1
	spec.BOS = int64(o.Integer("bos_token_id", 0, last, 0))
	spec.Pad = int64(o.Integer("pad_token_id", 0, last, 1))
	spec.EOS = parseEOS(o, last, 2)
	spec.DecoderStart = int64(o.Integer("decoder_start_token_id", 0, last, 2))
}
