// Package family says what one family of models has of its own: how its checkpoints
// are recognized, of which parts their networks are and how their files name the tensors, which
// tokenizer files they need, which tokens languages have and which codes they answer to, how a source
// is framed, and which settings are refused. Each family has a file.
//
// Nothing outside of this package asks which family a model is of.
package family

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/ctranslate2"
	"dragoman/tokenizer"
)

// Family is a family of models.
type Family struct {
	// Name is what manifests and MODEL_FAMILY call it.
	Name string
	// classes are the tokenizer_class of its checkpoints, origins what may stand in
	// their name_or_path.
	classes, origins []string
	// networks are those that its checkpoints have. A model_type that no other family has tells the family.
	networks []*Network
	// files are the tokenizer's files. The first set that a checkpoint has all of is
	// used.
	files [][]string
	// choose finds the files where files does not say them all.
	choose func(model.Files) ([]string, error)
	// tokens are those of the languages, where they are known beforehand.
	tokens func() []languageToken
	// directions is [Family.Directions]; nil: the languages are all of the tokenizer's.
	directions func(files model.Files, s settings, name string, set Directions) (Directions, error)
	// framing has the tokens around a text, where config does not say others.
	framing tokenizer.Framing
	// config reads what the tokenizer is made of from a folder, where its pieces are
	// in this set of files, and the model has these languages.
	config func(dir string, settings settings, files, languages []string) (tokenizer.Config, error)
	// inside are the tokenizer's files that a checkpoint has inside of others, by their names; nil: there are none.
	inside func(dir string) (map[string][]byte, error)
}

// families are all there are. The first is that of checkpoints that do not say.
var families = []*Family{m2m100, small100, nllb, marian, firefox, mbart, t5, converted}

// Names are the names of the families.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.Name
	}
	return names
}

// Named returns the family of that name. "" is M2M100, whose exports had no name
// before there were others.
func Named(name string) (*Family, error) {
	for _, f := range families {
		if f.Name == name || name == "" {
			return f, nil
		}
	}
	return nil, fmt.Errorf("unknown family of models %q: use one of %s", name, strings.Join(Names(), ", "))
}

// settings are what tokenizer_config.json says.
type settings struct {
	Class          string `json:"tokenizer_class"`
	Origin         string `json:"name_or_path"` // what a fine-tune was made of
	LanguageCodes  string `json:"language_codes"`
	MadeUpWords    *int   `json:"num_madeup_words"`
	LegacySuffixes bool   `json:"legacy_behaviour"`
	SourceLanguage string `json:"source_lang"`
	TargetLanguage string `json:"target_lang"`
	SeparateVocabs bool   `json:"separate_vocabs"`
	// mBART-50's.
	SrcLang string `json:"src_lang"`
	TgtLang string `json:"tgt_lang"`
	// See [Family.checkAdded].
	AddedTokens   map[string]addedToken `json:"added_tokens_decoder"` // by id
	End           tokenName             `json:"eos_token"`
	Unknown       tokenName             `json:"unk_token"`
	Special       []tokenName           `json:"additional_special_tokens"`
	PieceSettings map[string]any        `json:"sp_model_kwargs"`
}

// Recognize returns the family of a checkpoint by what config.json and tokenizer_config.json say,
// M2M100 where it says nothing. A name that is not "" overrules that.
func Recognize(files model.Files, name string) (*Family, error) {
	if name != "" {
		return Named(name)
	}
	modelType, err := typeOf(files)
	if err != nil {
		return nil, err
	}
	if _, having := familiesOf(modelType); len(having) == 1 {
		return having[0], nil
	}
	s, err := readSettings(files)
	if err != nil {
		return nil, err
	}
	isConverted := false
	if modelType == "" { // CTranslate2's config.json has none
		if isConverted, err = files.Has(ctranslate2.ModelFile); err != nil {
			return nil, err
		}
	}
	if isConverted && s.Class == "" {
		return converted, nil
	}
	f, err := byTokenizer(s)
	if err != nil || !isConverted {
		return f, err
	}
	_, lacks := f.pieceFiles(files)
	if _, err := converted.choose(files); err == nil && errors.Is(lacks, ErrIncomplete) && f != small100 { // read as M2M100 otherwise
		return converted, nil
	}
	return f, nil
}

// byTokenizer returns the family of a tokenizer_config.json.
func byTokenizer(s settings) (*Family, error) {
	origin := strings.ToLower(s.Origin)
	for _, f := range families {
		if slices.ContainsFunc(f.origins, func(name string) bool { return strings.Contains(origin, name) }) {
			return f, nil
		}
	}
	for _, f := range families {
		if slices.Contains(f.classes, s.Class) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s: \"tokenizer_class\" is %q: MODEL_FAMILY says which family such a model is of, of %s",
		model.TokenizerConfigFile, s.Class, strings.Join(Names(), ", "))
}

// typeOf is the model_type of config.json.
func typeOf(files model.Files) (string, error) {
	var config struct {
		Type string `json:"model_type"`
	}
	_, err := model.ReadJSON(files, model.ConfigFile, &config)
	return config.Type, err
}

func readSettings(files model.Files) (s settings, err error) {
	_, err = model.ReadJSON(files, model.TokenizerConfigFile, &s)
	return s, err
}

// ErrIncomplete means that a checkpoint lacks a file that its tokenizer needs.
var ErrIncomplete = errors.New("checkpoint is incomplete")

// TokenizerFiles returns the files that the tokenizer of a checkpoint needs, and
// tokenizer_config.json where it is there. It fails with ErrIncomplete.
func (f *Family) TokenizerFiles(files model.Files) ([]string, error) {
	names, err := f.pieceFiles(files)
	if err != nil {
		return nil, err
	}
	ok, err := files.Has(model.TokenizerConfigFile)
	if ok {
		names = append(names[:len(names):len(names)], model.TokenizerConfigFile)
	}
	return names, err
}

// CopyTokenizer copies the files that the tokenizer needs from the folder of a checkpoint, and returns their names.
func (f *Family) CopyTokenizer(from, to string) ([]string, error) {
	names, err := f.TokenizerFiles(model.Folder(from))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := model.CopyFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return nil, err
		}
	}
	if f.inside == nil {
		return names, nil
	}
	files, err := f.inside(from)
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(to, name), raw, 0o644); err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, err
}

// PullFiles are TokenizerFiles, the tokens that were added and the model card, where they are there.
func (f *Family) PullFiles(files model.Files) ([]string, error) {
	names, err := f.TokenizerFiles(files)
	if err != nil {
		return nil, err
	}
	more, err := model.Present(files, AddedTokensFile, SpecialTokensFile, CardFile)
	return append(names[:len(names):len(names)], more...), err
}

// maxPieces bounds the files of pieces, in bytes.
const maxPieces = 64 << 20

// FileLimit is the maximum size, in bytes, of a checkpoint's file of settings, of pieces or beside them: what its reader accepts.
// 0: a checkpoint has no such file.
func FileLimit(name string) int64 {
	for _, f := range families {
		if slices.ContainsFunc(f.files, func(set []string) bool { return slices.Contains(set, name) }) {
			return maxPieces
		}
	}
	if slices.Contains([]string{model.ConfigFile, model.GenerationConfigFile, model.TokenizerConfigFile, AddedTokensFile, SpecialTokensFile, CardFile}, name) {
		return maxConfigSize
	}
	return ctranslate2.FileLimit(name)
}

// pieceFiles returns the set of the family's files that is there.
func (f *Family) pieceFiles(files model.Files) ([]string, error) {
	if f.choose != nil {
		return f.choose(files)
	}
	return firstSet(files, f.files, f.Name)
}

// firstSet returns the first of these sets of a family's files that is there.
func firstSet(files model.Files, sets [][]string, family string) ([]string, error) {
	var missing string // of the first set
	for _, set := range sets {
		lacks := ""
		for _, name := range set {
			ok, err := files.Has(name)
			if err != nil {
				return nil, err
			}
			if !ok {
				lacks = name
				break
			}
		}
		if lacks == "" {
			return set, nil
		}
		if missing == "" {
			missing = lacks
		}
	}
	return nil, fmt.Errorf("%w: %s is not there, which a model of the family %s needs", ErrIncomplete, missing, family)
}

// Tokenizer makes the tokenizer of a checkpoint, or of an exported model, in a folder. The languages are
// those of its [Directions].
func (f *Family) Tokenizer(dir string, languages []string) (*tokenizer.Tokenizer, error) {
	folder := model.Folder(dir)
	names, err := f.pieceFiles(folder)
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %s: %w", dir, err)
	}
	s, err := readSettings(folder)
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %s: %w", dir, err)
	}
	config, err := f.readConfig(dir, s, names, languages)
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %s: %w", dir, err)
	}
	if f.classes != nil { // the files are Hugging Face's
		if err := f.checkAdded(folder, s, config); err != nil {
			return nil, fmt.Errorf("open tokenizer: %s: %w", dir, err)
		}
	}
	t, err := tokenizer.New(config)
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %s: %w", filepath.Join(dir, names[0]), err)
	}
	return t, nil
}

// readConfig is config with the family's framing.
func (f *Family) readConfig(dir string, s settings, files, languages []string) (tokenizer.Config, error) {
	c, err := f.config(dir, s, files, languages)
	if framing := c.Framing; len(framing.Before)+len(framing.After)+len(framing.Forced) == 0 {
		c.Framing = f.framing
	}
	return c, err
}

// OpenTokenizer makes the tokenizer of an exported model, whose manifest has this name
// of its family and these languages.
func OpenTokenizer(dir, name string, languages []string) (*tokenizer.Tokenizer, error) {
	f, err := Named(name)
	if err != nil {
		return nil, err
	}
	return f.Tokenizer(dir, languages)
}
