package family

import (
	_ "embed"
	"strings"

	"dragoman/model"
	"dragoman/tokenizer"
)

// nllb is NLLB-200, such as facebook/nllb-200-distilled-600M. The ids of pieces are SentencePiece's plus one; the languages and
// <mask> follow the pieces.
var nllb = &Family{
	Name: "nllb",
	// The last two classes load the tokenizer.json of any family. Only NLLB-200 has checkpoints with such a class.
	classes:  []string{"NllbTokenizer", "NllbTokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend"},
	networks: m2m100Networks,
	files:    [][]string{{model.PieceModelFile}, {model.TokenizerFile}},
	tokens:   nllbTokens,
	framing:  sourceFirst,
	config:   nllbConfig,
}

// sourceLast is the framing of the first NLLB-200 tokenizers of transformers, and of some fine-tunes.
var sourceLast = tokenizer.Framing{
	After: []tokenizer.Part{tokenizer.End, tokenizer.Source}, Forced: []tokenizer.Part{tokenizer.Target},
}

// nllbLanguages are the 202 languages of NLLB-200 in the order of their tokens: the code for users, and the token, FLORES-200's
// code. A code is a tag of BCP 47: the shortest code of ISO 639, with the script unless it is the language's main one.
//
//go:embed nllb.txt
var nllbLanguages string

func nllbTokens() (tokens []languageToken) {
	for pair := range strings.FieldsSeq(nllbLanguages) {
		code, token, _ := strings.Cut(pair, "=")
		tokens = append(tokens, languageToken{code, token})
	}
	return tokens
}

// nllbConfig reads a tokenizer of NLLB-200.
func nllbConfig(dir string, s settings, _, _ []string) (tokenizer.Config, error) {
	config, err := fairseqConfig(model.Folder(dir), nllbTokens())
	if s.LegacySuffixes {
		config.Framing = sourceLast
	}
	return config, err
}
