package family

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
	"dragoman/tokenizer"
)

// mbart is mBART-50, such as facebook/mbart-large-50-many-to-many-mmt. Ids are like NLLB-200's, except for the languages.
var mbart = &Family{
	Name:       "mbart",
	classes:    []string{"MBart50Tokenizer", "MBart50TokenizerFast"},
	networks:   []*Network{mbartNetwork},
	files:      [][]string{{model.PieceModelFile}, {model.TokenizerFile}},
	tokens:     mbartTokens,
	framing:    sourceFirst,
	directions: mbartDirections,
	config:     mbartConfig,
}

// mbartLanguages are the tokens of the 52 languages of mBART-50, in their order. The code for users is the part of a token before
// the underscore.
const mbartLanguages = `ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM
	ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN
	pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI`

func mbartTokens() (tokens []languageToken) {
	for token := range strings.FieldsSeq(mbartLanguages) {
		tokens = append(tokens, languageToken{token[:2], token})
	}
	return tokens
}

// mbartConfig reads a tokenizer of mBART-50.
func mbartConfig(dir string, _ settings, _, _ []string) (tokenizer.Config, error) {
	return fairseqConfig(model.Folder(dir), mbartTokens())
}

// mbartDirections determines the languages of each side by the first of: the user's setting, the forced first token, the name of the
// model or of its original, and tokenizer_config.json.
func mbartDirections(files model.Files, s settings, name string, set Directions) (Directions, error) {
	list, err := mbartList(files, s)
	if err != nil {
		return set, err
	}
	all := codesOf(list)
	forced, err := mbartForced(files, s, list)
	if err == nil {
		err = checkTokens(set.All(), all, "the tokenizer")
	}
	if err != nil {
		return set, err
	}
	d := set.or(Directions{nil, forced}, mbartSides(path.Base(name), all), mbartSides(s.Origin, all), Directions{mbartCode(s.SrcLang), mbartCode(s.TgtLang)})
	if len(d.Sources) == 0 || len(d.Targets) == 0 {
		return d, errors.New("the model's files and name do not tell which languages it translates between: set MODEL_LANGUAGES, such " +
			"as en:fr, or give it a name with many-to-many, one-to-many or many-to-one, as the published ones have")
	}
	return d, nil
}

// mbartSides returns the languages of published models by name. One side is English or all languages.
func mbartSides(name string, all []string) Directions {
	english := []string{"en"}
	others := slices.DeleteFunc(slices.Clone(all), func(code string) bool { return code == "en" })
	switch {
	case strings.Contains(name, "many-to-many"):
		return Directions{all, all}
	case strings.Contains(name, "one-to-many"):
		return Directions{english, others}
	case strings.Contains(name, "many-to-one"):
		return Directions{others, english}
	}
	return Directions{}
}

// mbartCode returns the code of a language's token, none for others.
func mbartCode(token string) []string {
	if !slices.Contains(strings.Fields(mbartLanguages), token) {
		return nil
	}
	return []string{token[:2]}
}

// mbartForced returns the language whose token is forced at the start of translations, or none. It fails for models of 25 languages,
// which have another framing.
func mbartForced(files model.Files, s settings, list []tokenizer.Language) ([]string, error) {
	var said struct {
		Class  string `json:"tokenizer_class"`
		Start  *int64 `json:"decoder_start_token_id"`
		Forced *int64 `json:"forced_bos_token_id"`
	}
	for _, file := range []string{model.ConfigFile, model.GenerationConfigFile} { // the second file has priority
		if _, err := model.ReadJSON(files, file, &said); err != nil {
			return nil, err
		}
	}
	for _, class := range []string{s.Class, said.Class} {
		if class == "MBartTokenizer" || class == "MBartTokenizerFast" {
			return nil, fmt.Errorf("\"tokenizer_class\" is %q: of mBART only the models of 50 languages are supported, with MBart50Tokenizer", class)
		}
	}
	if end := int64(slices.Index(fairseq, "</s>")); said.Start != nil && *said.Start != end {
		return nil, fmt.Errorf("\"decoder_start_token_id\" is %d: of mBART only the models of 50 languages are supported, which begin with </s>, %d",
			*said.Start, end)
	}
	if said.Forced == nil {
		return nil, nil
	}
	for _, l := range list {
		if l.ID == *said.Forced {
			return []string{l.Code}, nil
		}
	}
	return nil, fmt.Errorf("\"forced_bos_token_id\" is %d, which is no language's token: these are %d to %d",
		*said.Forced, list[0].ID, list[len(list)-1].ID)
}

// mbartList returns the languages with their tokens, those that a fine-tune has added at the end.
func mbartList(files model.Files, s settings) ([]tokenizer.Language, error) {
	config, err := fairseqConfig(files, mbartTokens())
	if err != nil {
		return nil, err
	}
	a, err := readAdded(files, s, nil)
	return withAdded(config.Languages, mbartTokens(), a.languages()), err
}

var mbartNetwork = &Network{
	modelType: "mbart", models: "mBART-50", classes: []string{"MBart"},
	forcesTarget: true, parts: mbartParts,
	fixed: []setting{
		{"normalize_before", "true"},
		{"add_final_layer_norm", "true"},
		{"normalize_embedding", "true"},
		{"static_position_embeddings", "false"},
		{"add_bias_logits", "false"},
	},
}

// mbartParts reads the parts of MBartForConditionalGeneration: learned positions, a norm after the embeddings and a bias of the logits.
func mbartParts(o *object.Fields, spec *model.Spec) {
	o.Nullable = true
	m2m100Parts(o, spec)
	spec.EmbeddingNorm, spec.Positions, spec.LogitsBias = true, model.LearnedPositions, true
	spec.Activation = parseActivation(o)
}

// isMBART50 reports whether a vocabulary is mBART-50's: 27 languages follow the 25 of mBART's other models, the last of which is zh_CN.
// Without tokenizer_class in config.json CTranslate2's converter does not recognize mBART-50.
func isMBART50(ids map[string]int64) bool {
	last, ok := ids["zh_CN"]
	return ok && ids["af_ZA"] == last+1
}
