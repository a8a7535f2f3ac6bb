// Package family describes the families of models, one in each file: how a checkpoint is recognized, the parts of its networks and the
// names of their tensors, the files of its tokenizer, the tokens and codes of its languages, the framing of a source, and the settings
// that are not supported.
//
// No code outside this package depends on the family of a model.
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
	// Name is the family's name in manifests and MODEL_FAMILY.
	Name string
	// classes are the values of tokenizer_class of the family's checkpoints, origins are parts of their name_or_path.
	classes, origins []string
	// networks are the networks of the family's checkpoints. A model_type that only one family has identifies the family.
	networks []*Network
	// files are sets of the tokenizer's files. The first complete set counts.
	files [][]string
	// choose chooses the files of the tokenizer; nil: see files.
	choose func(model.Files) ([]string, error)
	// tokens are the tokens of the languages, if the family determines them.
	tokens func() []languageToken
	// directions is [Family.Directions]; nil: all languages with tokens.
	directions func(files model.Files, s settings, name string, set Directions) (Directions, error)
	// framing has the tokens around a text, unless config sets others.
	framing tokenizer.Framing
	// config reads the tokenizer's configuration from a folder. files is the set of files with the pieces, languages are the
	// model's.
	config func(dir string, settings settings, files, languages []string) (tokenizer.Config, error)
	// inside returns the tokenizer's files that are inside other files of a checkpoint, by name; nil: there are none.
	inside func(dir string) (map[string][]byte, error)
}

// families are all families. The first is the default.
var families = []*Family{m2m100, small100, nllb, marian, firefox, mbart, t5, converted}

// Names returns the names of the families.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.Name
	}
	return names
}

// Named returns the family of a name. "" is M2M100, the only family of older builds.
func Named(name string) (*Family, error) {
	for _, f := range families {
		if f.Name == name || name == "" {
			return f, nil
		}
	}
	return nil, fmt.Errorf("unknown family of models %q: use one of %s", name, strings.Join(Names(), ", "))
}

// settings are the fields of tokenizer_config.json.
type settings struct {
	Class          string `json:"tokenizer_class"`
	Origin         string `json:"name_or_path"` // the original of a fine-tune
	LanguageCodes  string `json:"language_codes"`
	LegacySuffixes bool   `json:"legacy_behaviour"`
	SourceLanguage string `json:"source_lang"`
	TargetLanguage string `json:"target_lang"`
	SeparateVocabs bool   `json:"separate_vocabs"`
	// mBART-50's.
	SrcLang string `json:"src_lang"`
	TgtLang string `json:"tgt_lang"`
	// See [readAdded] and [added.check].
	AddedTokens   map[string]addedToken `json:"added_tokens_decoder"` // by id
	End           tokenName             `json:"eos_token"`
	Unknown       tokenName             `json:"unk_token"`
	Special       []tokenName           `json:"additional_special_tokens"`
	PieceSettings map[string]any        `json:"sp_model_kwargs"`
}

// Recognize returns the family of a checkpoint by config.json and tokenizer_config.json, M2M100 by default, or the family called
// name if name is not "".
func Recognize(files model.Files, name string) (*Family, error) {
	if name != "" {
		return Named(name)
	}
	modelType, err := typeOf(files)
	if err != nil {
		return nil, err
	}
	isConverted, err := ctranslate2.IsConverted(files) // before config.json decides, which may have the fields of both forms
	if err != nil {
		return nil, err
	}
	if _, having := familiesOf(modelType); len(having) == 1 && !isConverted {
		return having[0], nil
	}
	s, err := readSettings(files)
	if err != nil {
		return nil, err
	}
	if isConverted && s.Class == "" {
		return converted, nil
	}
	f, err := byTokenizer(s)
	if err != nil || !isConverted {
		return f, err
	}
	_, lacks := f.pieceFiles(files)
	if _, err := converted.choose(files); err == nil && errors.Is(lacks, ErrIncomplete) && f != small100 { // otherwise read as M2M100
		return converted, nil
	}
	return f, nil
}

// byTokenizer returns the family by tokenizer_config.json.
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

// typeOf returns the model_type of config.json.
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

// TokenizerFiles returns the files that the tokenizer of a checkpoint needs, and tokenizer_config.json if it exists. It fails with
// ErrIncomplete.
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

// CopyTokenizer copies the files of the tokenizer from the folder of a checkpoint, and returns their names.
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
	inside := f.inside
	if f.tokens != nil {
		inside = f.addedInside
	}
	if inside == nil {
		return names, nil
	}
	files, err := inside(from)
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

// PullFiles returns TokenizerFiles, and the files of added tokens and the model card if they exist.
func (f *Family) PullFiles(files model.Files) ([]string, error) {
	names, err := f.TokenizerFiles(files)
	if err != nil {
		return nil, err
	}
	more, err := model.Present(files, AddedTokensFile, SpecialTokensFile, CardFile)
	return append(names[:len(names):len(names)], more...), err
}

// Files returns the names of all files of tokenizers and settings beside config.json, and of the model card.
func Files() (names []string) {
	for _, f := range families {
		for _, set := range f.files {
			names = append(names, set...)
		}
	}
	names = append(names, model.GenerationConfigFile, model.TokenizerConfigFile, AddedTokensFile, SpecialTokensFile, CardFile)
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// maxPieces is the maximum size of a file of pieces in bytes.
const maxPieces = 64 << 20

// FileLimit returns the maximum size in bytes that the reader of a checkpoint's file accepts, or 0 for weights and other names.
func FileLimit(name string) int64 {
	for _, f := range families {
		if slices.ContainsFunc(f.files, func(set []string) bool { return slices.Contains(set, name) }) {
			return maxPieces
		}
	}
	if name == model.ConfigFile || slices.Contains(Files(), name) {
		return maxConfigSize
	}
	return ctranslate2.FileLimit(name)
}

// pieceFiles returns the first complete set of the family's files.
func (f *Family) pieceFiles(files model.Files) ([]string, error) {
	if f.choose != nil {
		return f.choose(files)
	}
	return firstSet(files, f.files, f.Name)
}

// firstSet returns the first complete set of a family's files.
func firstSet(files model.Files, sets [][]string, family string) ([]string, error) {
	var missing string // file that the first set lacks
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
	return nil, fmt.Errorf("%w: %s is not there, which a model of the family %s needs: add it, or say with MODEL_FAMILY if it is of another", ErrIncomplete, missing, family)
}

// Tokenizer makes the tokenizer of a checkpoint, or of an exported model, in a folder. languages are those of the checkpoint's
// [Directions].
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
	if err == nil && f.classes != nil { // Hugging Face's files
		err = f.add(folder, s, names, &config)
	}
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %s: %w", dir, err)
	}
	if f.tokens != nil && languages != nil {
		config.Languages = slices.DeleteFunc(config.Languages, func(l tokenizer.Language) bool { return !slices.Contains(languages, l.Code) })
	}
	t, err := tokenizer.New(config)
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %s: %w", filepath.Join(dir, names[0]), err)
	}
	return t, nil
}

// add adds the languages that a fine-tune has added, and checks the other added tokens. names are the tokenizer's files.
func (f *Family) add(files model.Files, s settings, names []string, c *tokenizer.Config) error {
	if err := readSpecial(files, &s); err != nil {
		return err
	}
	a, err := readAdded(files, s, names)
	if err == nil {
		err = a.check(f, s, *c)
	}
	if f.tokens != nil {
		c.Languages = withAdded(c.Languages, f.tokens(), a.languages())
	}
	return err
}

// readConfig returns the family's config and framing.
func (f *Family) readConfig(dir string, s settings, files, languages []string) (tokenizer.Config, error) {
	c, err := f.config(dir, s, files, languages)
	if framing := c.Framing; len(framing.Before)+len(framing.After)+len(framing.Forced) == 0 {
		c.Framing = f.framing
	}
	return c, err
}

// OpenTokenizer makes the tokenizer of an exported model, with the family and the languages of its manifest.
func OpenTokenizer(dir, name string, languages []string) (*tokenizer.Tokenizer, error) {
	f, err := Named(name)
	if err != nil {
		return nil, err
	}
	return f.Tokenizer(dir, languages)
}
