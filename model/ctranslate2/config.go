package ctranslate2

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dragoman/model"
)

// Names of the files beside model.bin.
const (
	ConfigFile = "config.json" // older models have none
	MapFile    = "vmap.txt"    // the possible translations of each piece
)

// maxConfig and maxVocabulary are the maximum sizes of the files beside model.bin in bytes.
const (
	maxConfig     = 4 << 20
	maxVocabulary = 64 << 20
)

// IsConverted reports whether files have a model in CTranslate2's form, and no weights in Hugging Face's. An index without its shards,
// which some have copied with the tokenizer, is no weights.
func IsConverted(files model.Files) (bool, error) {
	if ok, err := files.Has(ModelFile); err != nil || !ok {
		return false, err
	}
	for _, name := range model.WeightFiles {
		ok, err := files.Has(name)
		if ok && strings.HasSuffix(name, ".index.json") {
			ok, err = hasShard(files, name)
		}
		if ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// hasShard reports whether a shard of an index exists.
func hasShard(files model.Files, index string) (bool, error) {
	var list struct {
		Shards map[string]string `json:"weight_map"`
	}
	if _, err := model.ReadJSON(files, index, &list); err != nil {
		return false, err
	}
	shards := slices.Sorted(maps.Values(list.Shards))
	for _, shard := range slices.Compact(shards) {
		if ok, err := files.Has(path.Base(shard)); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// Config is a config.json.
type Config struct {
	Unknown      string   `json:"unk_token"`
	BOS          string   `json:"bos_token"`
	EOS          string   `json:"eos_token"`
	DecoderStart *string  `json:"decoder_start_token"` // nil: the caller's choice
	AddBOS       bool     `json:"add_source_bos"`
	AddEOS       bool     `json:"add_source_eos"`
	NormEpsilon  *float64 `json:"layer_norm_epsilon"` // nil: the default
	Quantization int      `json:"quantization_type"`
}

// ReadConfig reads config.json, or returns the defaults if there is none.
func ReadConfig(files model.Files) (Config, error) {
	bos := "<s>"
	c := Config{Unknown: "<unk>", BOS: bos, EOS: "</s>", DecoderStart: &bos}
	raw, err := model.ReadPresent(files, ConfigFile)
	if err != nil || raw == nil {
		return c, err
	}
	if len(raw) > maxConfig {
		return c, fmt.Errorf("%s has %d bytes, at most %d are supported", ConfigFile, len(raw), maxConfig)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	return c, nil
}

// OpenConfig reads the settings of the model in a folder; inside reports that the settings are inside model.bin, which an
// exported folder lacks.
func OpenConfig(dir string) (c Config, inside bool, err error) {
	if c, err = ReadConfig(model.Folder(dir)); err != nil {
		return c, false, err
	}
	data, err := os.Open(filepath.Join(dir, ModelFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	defer func() { _ = data.Close() }()
	info, err := data.Stat()
	if err != nil {
		return c, false, err
	}
	f, err := Parse(data, info.Size())
	if err == nil {
		inside, err = f.Settings(data, &c)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", ModelFile, err)
	}
	return c, inside, err
}

// maxToken is the maximum size of a special token in bytes.
const maxToken = 1 << 10

// Settings reads the settings inside model.bin of models before version 6, which have no config.json; inside is false for newer models.
func (f *File) Settings(data io.ReaderAt, c *Config) (inside bool, err error) {
	if f.Version >= 6 {
		return false, nil
	}
	read := func(name, unsaid string) string {
		_, v, ok := f.Find(name)
		if !ok || err != nil {
			return unsaid
		}
		if v.DType != Int8 || v.Len() > maxToken {
			err = fmt.Errorf("variable %s is no setting", name)
			return unsaid
		}
		raw := make([]byte, v.Len())
		_, err = data.ReadAt(raw, v.Offset)
		return string(raw)
	}
	is := func(name, unsaid string) bool { return read(name, unsaid) != "\x00" }
	c.Unknown, c.BOS, c.EOS = read("unk_token", "<unk>"), read("bos_token", "<s>"), read("eos_token", "</s>")
	c.AddBOS, c.AddEOS = is("with_source_bos", "\x00"), is("with_source_eos", "\x00")
	switch c.DecoderStart = &c.BOS; {
	case is("user_decoder_start_tokens", "\x00"):
		c.DecoderStart = nil
	case !is("with_target_bos", "\x01"):
		c.DecoderStart = &c.EOS
	}
	return true, err
}

// Vocabularies are the tokens of sources and translations by id.
type Vocabularies struct {
	Source, Target []string // the same slice for a shared vocabulary
	Files          []string // names of the vocabularies' files
}

// Shared reports whether sources and translations have one vocabulary.
func (v Vocabularies) Shared() bool { return len(v.Files) == 1 }

// Names of vocabularies, without the extension .json, or .txt in older models.
const (
	sharedVocabulary = "shared_vocabulary"
	sourceVocabulary = "source_vocabulary"
	targetVocabulary = "target_vocabulary"
)

// VocabularyFiles returns the files of the vocabularies: one file for both sides, or one for sources and one for translations.
func VocabularyFiles(files model.Files) (names []string, err error) {
	if name, err := vocabularyFile(files, sharedVocabulary); err != nil || name != "" {
		return []string{name}, err
	}
	if name, err := vocabularyFile(files, "source_1_vocabulary"); err != nil || name != "" {
		return nil, cmp.Or(err, fmt.Errorf("sources have features beside their words (%s): only those without are supported", name))
	}
	for _, stem := range []string{sourceVocabulary, targetVocabulary} {
		name, err := vocabularyFile(files, stem)
		if err != nil {
			return nil, err
		}
		if name == "" {
			return nil, fmt.Errorf("there is neither a %s.json nor a %s.json: add the vocabularies that the converter wrote beside %s",
				sharedVocabulary, stem, ModelFile)
		}
		names = append(names, name)
	}
	return names, nil
}

// Beside returns the files beside model.bin that describe the model: the vocabularies, and config.json and metadata.json if they exist.
func Beside(files model.Files) (names []string, err error) {
	if names, err = VocabularyFiles(files); err != nil {
		return nil, err
	}
	others, err := model.Present(files, ConfigFile, MetadataFile)
	return append(names, others...), err
}

// vocabularyFile returns the file of a vocabulary, or "".
func vocabularyFile(files model.Files, stem string) (string, error) {
	return model.First(files, stem+".json", stem+".txt")
}

// ReadVocabularies reads the vocabularies: lists in JSON, or lines of text in older models. It appends the unknown token if it is missing.
func ReadVocabularies(files model.Files, unknown string) (v Vocabularies, err error) {
	if v.Files, err = VocabularyFiles(files); err != nil {
		return v, err
	}
	if v.Source, err = readVocabulary(files, v.Files[0], unknown); err != nil || v.Shared() {
		v.Target = v.Source
		return v, err
	}
	v.Target, err = readVocabulary(files, v.Files[1], unknown)
	return v, err
}

func readVocabulary(files model.Files, name, unknown string) (tokens []string, err error) {
	raw, err := files.Read(name)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".txt") {
		tokens = lines(string(raw))
	} else if err := json.Unmarshal(raw, &tokens); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !slices.Contains(tokens, unknown) {
		tokens = append(tokens, unknown)
	}
	return tokens, nil
}

// lines returns the lines of a text. A carriage return is part of a token, unless all lines have one.
func lines(text string) []string {
	list := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	hasNone := func(line string) bool { return !strings.HasSuffix(line, "\r") }
	if slices.ContainsFunc(list, hasNone) {
		return list
	}
	for i := range list {
		list[i] = strings.TrimSuffix(list[i], "\r")
	}
	return list
}

// IDs returns the ids of tokens. A repeated token has the id of its first place.
func IDs(tokens []string) map[string]int64 {
	ids := make(map[string]int64, len(tokens))
	for id, token := range tokens {
		if _, taken := ids[token]; !taken {
			ids[token] = int64(id)
		}
	}
	return ids
}
