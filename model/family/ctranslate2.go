package family

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/ctranslate2"
	"dragoman/tokenizer"
	"dragoman/tokenizer/moses"
)

// converted are models in CTranslate2's form without the tokenizer's files of another family: Argos packages, models of OpenNMT and
// Opus-MT with SentencePiece models or codes of words, and M2M100, NLLB-200, mBART-50 and MADLAD-400 with a SentencePiece model. Pieces
// have the ids of CTranslate2's vocabularies.
var converted = &Family{
	Name:       "ctranslate2",
	choose:     chooseConverted,
	directions: convertedDirections,
	config:     convertedConfig,
	inside:     convertedInside,
}

// ConvertedModels are the models with networks that are supported in this form.
const ConvertedModels = "OpenNMT, Opus-MT, M2M100, NLLB-200, mBART-50 and MADLAD-400"

// FirstToken returns the first token of translations, by the ids of the targets. null in config.json means that it is the
// target's language, or that the converter did not recognize an mBART-50.
func FirstToken(config ctranslate2.Config, targets map[string]int64) (string, error) {
	switch {
	case config.DecoderStart != nil:
		return *config.DecoderStart, nil
	case isMBART50(targets):
		return config.EOS, nil
	}
	return "", fmt.Errorf("%s: \"decoder_start_token\" is null: models that are told the target language by it, as mBART's of 25 languages, are not supported", ctranslate2.ConfigFile)
}

// convertedPieces are the sets of files that split text into pieces, by priority: the SentencePiece model of both sides, or of each,
// codes, or a SentencePiece model with other names.
var convertedPieces = [][]string{{ctranslate2.PackagePieces}, {model.SourcePiecesFile, model.TargetPiecesFile}, {ctranslate2.PackageCodes},
	{model.PieceModelFile}, {t5PiecesFile}, {"spm.model"}}

// chooseConverted returns the tokenizer's files, those of pieces first.
func chooseConverted(files model.Files) ([]string, error) {
	has := func(name string) bool { ok, err := files.Has(name); return ok && err == nil }
	hasNot := func(name string) bool { return !has(name) }
	i := slices.IndexFunc(convertedPieces, func(set []string) bool { return !slices.ContainsFunc(set, hasNot) })
	if i < 0 {
		return nil, fmt.Errorf("%w: %s is one of CTranslate2, which has no tokenizer: add its %s, its %s and %s, or its %s, beside it; "+
			"for a model that was converted from Hugging Face's form add the tokenizer's files from there, with %s", ErrIncomplete,
			ctranslate2.ModelFile, ctranslate2.PackagePieces, model.SourcePiecesFile, model.TargetPiecesFile, ctranslate2.PackageCodes, model.TokenizerConfigFile)
	}
	beside, err := ctranslate2.Beside(files)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return slices.Concat(convertedPieces[i], beside), nil
}

// convertedInside returns the config.json that is inside model.bin in older models.
func convertedInside(dir string) (map[string][]byte, error) {
	config, inside, err := ctranslate2.OpenConfig(dir)
	if err != nil || !inside {
		return nil, err
	}
	raw, err := json.Marshal(config)
	return map[string][]byte{ctranslate2.ConfigFile: raw}, err
}

// convertedConfig reads a tokenizer.
func convertedConfig(dir string, _ settings, files, languages []string) (c tokenizer.Config, err error) {
	config, _, err := ctranslate2.OpenConfig(dir)
	if err != nil {
		return c, err
	}
	vocabularies, err := ctranslate2.ReadVocabularies(model.Folder(dir), config.Unknown)
	if err != nil {
		return c, err
	}
	if config.Unknown != "<unk>" || config.EOS != "</s>" || config.AddBOS && config.BOS != "<s>" {
		return c, fmt.Errorf("%s: the special tokens are %.20q, %.20q and %.20q: only <unk>, <s> and </s> are supported",
			ctranslate2.ConfigFile, config.Unknown, config.BOS, config.EOS)
	}
	metadata, isPackage, err := ctranslate2.ReadMetadata(model.Folder(dir))
	if err != nil {
		return c, err
	}
	if err := splitConverted(&c, dir, files[0], metadata); err != nil {
		return c, err
	}
	c.Vocabulary, c.Sparse = ctranslate2.IDs(vocabularies.Source), true // sparse, because the further ids of a repeated token have no meaning
	if !vocabularies.Shared() {
		c.TargetVocabulary = ctranslate2.IDs(vocabularies.Target)
		if c.TargetPieces == nil {
			c.TargetPieces = c.Pieces
		}
	}
	if tokens, like := languageTokens(c.Vocabulary, vocabularies, isPackage); like != nil {
		if config.AddBOS {
			return c, fmt.Errorf("%s: \"add_source_bos\" is true: models of many languages are supported whose sources begin with a language", ctranslate2.ConfigFile)
		}
		frameMany(&c, tokens, like, languages)
		return c, nil
	}
	if c.Prefixes, err = t5Prefixes(model.Folder(dir)); err != nil || c.Prefixes != nil {
		frameMany(&c, nil, nil, languages)
		return c, err
	}
	return c, frameConverted(&c, config, metadata, files[0] == model.SourcePiecesFile, languages)
}

// languageTokens returns the ids of the languages' tokens in a vocabulary, by code, and the family with such tokens: M2M100,
// NLLB-200 or mBART-50, for source and target, or MADLAD-400; nil for other models. Packages name their languages in the metadata
// instead.
func languageTokens(ids map[string]int64, v ctranslate2.Vocabularies, isPackage bool) (tokens map[string]int64, like *Family) {
	if isPackage || !v.Shared() {
		return nil, nil
	}
	if tokens = t5Tokens.languages(ids); len(tokens) > 0 {
		return tokens, t5
	}
	for _, like := range []*Family{m2m100, nllb, mbart} {
		if list := listedLanguages(ids, like.tokens()); len(list) > 1 {
			for _, l := range list {
				tokens[l.Code] = l.ID
			}
			return tokens, like
		}
	}
	return nil, nil
}

// CheckGuess fails if a recognized model may be of another family: SMaLL-100 has M2M100's tokens but another framing, and, unlike
// M2M100, a smaller decoder than encoder. CheckGuess also fails for a T5 without the words that name its languages.
func (f *Family) CheckGuess(files model.Files, spec model.Spec) error {
	fewer := spec.Decoder.Layers < spec.Encoder.Layers
	if f != converted || !fewer && !spec.RMSNorm {
		return nil
	}
	_, isPackage, err := ctranslate2.ReadMetadata(files)
	if err != nil {
		return err
	}
	vocabularies, err := ctranslate2.ReadVocabularies(files, "<unk>")
	if err != nil {
		return err
	}
	_, like := languageTokens(ctranslate2.IDs(vocabularies.Source), vocabularies, isPackage)
	if like == nil && spec.RMSNorm {
		prefixes, err := t5Prefixes(files)
		if err == nil && prefixes == nil {
			err = noWords(vocabularies.Files[0])
		}
		return err
	}
	if like == m2m100 && fewer {
		return fmt.Errorf("the tokens are M2M100's, but there are %d layers in the decoder and %d in the encoder, as in SMaLL-100: for that set MODEL_FAMILY "+
			"to small100, with its %s and %s beside %s; MODEL_FAMILY=ctranslate2 has the model read as M2M100", spec.Decoder.Layers, spec.Encoder.Layers,
			model.VocabFile, model.PieceModelFile, ctranslate2.ModelFile)
	}
	return nil
}

// frameMany frames the sources of a model of many languages, which has the tokens of this family, or words.
func frameMany(c *tokenizer.Config, tokens map[string]int64, like *Family, languages []string) {
	c.Languages = withTokens(languages, tokens)
	switch like {
	case nil:
		c.Framing = onlyEnd
	case t5:
		c.Framing = t5Framing(c.Pieces, c.Vocabulary)
	default:
		c.Framing = like.framing
	}
	isLanguage := map[int64]bool{}
	for _, id := range tokens {
		isLanguage[id] = true
	}
	for token, id := range c.Vocabulary {
		if t5Tokens.has(token) || strings.HasPrefix(token, "<extra_id_") || isLanguage[id] || slices.Contains([]string{"<unk>", "<s>", "</s>", "<pad>", "<mask>"}, token) {
			c.Special = append(c.Special, token)
		}
	}
}

// splitConverted opens the files of pieces, by the first of them.
func splitConverted(c *tokenizer.Config, dir, file string, metadata ctranslate2.Metadata) (err error) {
	if file != ctranslate2.PackageCodes {
		if c.Pieces, err = readPieces(model.Folder(dir), file); err == nil && file == model.SourcePiecesFile {
			c.TargetPieces, err = readPieces(model.Folder(dir), model.TargetPiecesFile)
		}
		return err
	}
	if metadata.From == "" || metadata.To == "" {
		return fmt.Errorf("%w: words depend on the languages: add a %s with \"from_code\" and \"to_code\" to %s", ErrIncomplete,
			ctranslate2.MetadataFile, file)
	}
	raw, err := model.Folder(dir).Read(file)
	if err != nil {
		return err
	}
	codes, err := moses.ParseCodes(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.Words = &moses.Words{Language: moses.NewLanguage(metadata.From), Codes: codes}
	c.TargetWords = &moses.Words{Language: moses.NewLanguage(metadata.To), Codes: codes}
	return nil
}

// frameConverted determines the special tokens and their places. CTranslate2 adds those of its config.json; its callers add the end for
// Opus-MT's models.
func frameConverted(c *tokenizer.Config, config ctranslate2.Config, metadata ctranslate2.Metadata, isOpus bool, languages []string) error {
	for token := range c.Vocabulary {
		if slices.Contains([]string{"<unk>", "<s>", "</s>", "<blank>", "<pad>", metadata.TargetPrefix}, token) || marianTokens.has(token) {
			c.Special = append(c.Special, token)
		}
	}
	if config.AddBOS {
		c.Framing.Before = append(c.Framing.Before, tokenizer.Begin)
	}
	tokens := marianTokens.languages(c.Vocabulary)
	if len(tokens) > 0 {
		c.Framing.Before = append(c.Framing.Before, tokenizer.Target)
	}
	if isOpus || config.AddEOS {
		c.Framing.After = []tokenizer.Part{tokenizer.End}
	}
	if prefix := metadata.TargetPrefix; prefix != "" {
		id, ok := c.Vocabulary[prefix]
		if !ok || c.TargetVocabulary != nil || len(tokens) > 0 || len(languages) == 0 {
			return fmt.Errorf("%s: \"target_prefix\" is %.40q, which is supported where it is a token of the only vocabulary", ctranslate2.MetadataFile, prefix)
		}
		to, _ := codeOf(argosCode(metadata.To))
		tokens[to], c.Framing.Forced = id, []tokenizer.Part{tokenizer.Target}
	}
	c.Languages = withTokens(languages, tokens)
	return nil
}

// convertedDirections determines the languages by an Argos package's metadata, or by the tokens of targets and the model's name.
func convertedDirections(files model.Files, _ settings, name string, set Directions) (Directions, error) {
	metadata, isPackage, err := ctranslate2.ReadMetadata(files)
	if err != nil {
		return Directions{}, err
	}
	if isPackage && metadata.Type != "" && metadata.Type != "translate" {
		return Directions{}, fmt.Errorf("%s: a package of type %.40q: only those that translate are supported", ctranslate2.MetadataFile, metadata.Type)
	}
	vocabularies, err := ctranslate2.ReadVocabularies(files, "<unk>")
	if err != nil {
		return Directions{}, err
	}
	ids := ctranslate2.IDs(vocabularies.Source)
	if tokens, like := languageTokens(ids, vocabularies, isPackage); like != nil {
		all := slices.Sorted(maps.Keys(tokens))
		d := set.or(Directions{all, all})
		need := d.Targets
		if like != t5 {
			need = d.All()
		}
		return d, checkTokens(need, all, vocabularies.Files[0])
	}
	prefixes, err := t5Prefixes(files)
	if err != nil {
		return Directions{}, err
	}
	if prefixes != nil {
		return wordDirections(prefixes, set, vocabularies.Files[0])
	}
	d, err := marianTokens.into(ids, set, vocabularies.Files[0])
	if err != nil {
		return d, err
	}
	if metadata.From == "" && metadata.To == "" {
		return d.or(pairOf(name)).known()
	}
	if d, err = d.or(Directions{languagesOf(argosCode(metadata.From)), languagesOf(argosCode(metadata.To))}).known(); err != nil {
		err = fmt.Errorf("%s: \"from_code\" is %.40q and \"to_code\" %.40q: %w", ctranslate2.MetadataFile, metadata.From, metadata.To, err)
	}
	return d, err
}

// argosCode returns the tag for a language's code in an Argos package. Two codes are Argos's own.
func argosCode(code string) string {
	switch code {
	case "pb":
		return "pt-BR"
	case "zt":
		return "zh-Hant"
	}
	return code
}
