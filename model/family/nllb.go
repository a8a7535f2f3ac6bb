package family

import (
	_ "embed"
	"strings"

	"dragoman/model"
	"dragoman/tokenizer"
)

// nllb is NLLB-200: facebook/nllb-200-distilled-600M and its sisters. The ids of
// pieces are SentencePiece's, moved by one; after them come the languages and <mask>.
var nllb = &Family{
	Name: "nllb",
	// The last two are what a tokenizer.json is loaded with whatever its family is. Of
	// the families only this one has such files.
	classes:  []string{"NllbTokenizer", "NllbTokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend"},
	networks: m2m100Networks,
	files:    [][]string{{model.PieceModelFile}, {model.TokenizerFile}},
	tokens:   nllbTokens,
	framing:  sourceFirst,
	config:   nllbConfig,
}

// sourceLast is how the first NLLB-200 tokenizers of transformers framed a source,
// and some fine-tunes were trained.
var sourceLast = tokenizer.Framing{
	After: []tokenizer.Part{tokenizer.End, tokenizer.Source}, Forced: []tokenizer.Part{tokenizer.Target},
}

// nllbLanguages are the 202 languages of NLLB-200, in the order of their tokens: the
// code that users have for one, and its token, the code of FLORES-200. A code is a tag
// of BCP 47: ISO 639's shortest code of the language, and a script where that is not
// the first one of the language.
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
