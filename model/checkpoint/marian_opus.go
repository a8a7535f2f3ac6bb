package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"dragoman/model"
	"dragoman/model/family"
	"dragoman/tokenizer/spm"
)

// opusDecoder names the files of a released model of Opus-MT.
const opusDecoder = "decoder.yml"

// Maximum sizes in bytes, and numbers of beams.
const (
	maxDecoder    = 1 << 20
	maxVocabulary = 8 << 20
	maxBeams      = 64
	usualBeams    = 6
)

// isOpus reports whether these files are a model of Opus-MT in Marian's own form.
func isOpus(names []string) bool {
	return !slices.Contains(names, model.ConfigFile) && slices.ContainsFunc(names, func(name string) bool { return filepath.Ext(name) == ".npz" })
}

// convertOpus converts a model of Opus-MT, which has numpy's arrays, SentencePiece models and vocabularies in YAML.
func convertOpus(dir, out string) error {
	var decoder struct {
		Models       []string `yaml:"models"`
		Vocabularies []string `yaml:"vocabs"`
		Beams        int      `yaml:"beam-size"`
	}
	raw, err := model.ReadSmall(filepath.Join(dir, opusDecoder), maxDecoder)
	if err == nil {
		err = yaml.Unmarshal(raw, &decoder)
	}
	if err != nil {
		return fmt.Errorf("a model of Marian's is there (.npz), whose %s says which files belong to it: %w", opusDecoder, err)
	}
	if len(decoder.Models) != 1 || len(decoder.Vocabularies) != 2 {
		return fmt.Errorf("%s has %d models and %d vocabularies: one and two are supported", opusDecoder, len(decoder.Models), len(decoder.Vocabularies))
	}
	beams := cmp.Or(decoder.Beams, usualBeams)
	if beams < 1 || beams > maxBeams {
		return fmt.Errorf("%s: \"beam-size\" is %d: 1 to %d are supported", opusDecoder, beams, maxBeams)
	}
	for _, name := range slices.Concat(decoder.Models, decoder.Vocabularies) {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%s names %.100q: only files beside it are read", opusDecoder, name)
		}
	}
	name := decoder.Models[0]
	if err := model.CopyFile(filepath.Join(dir, name), filepath.Join(out, arraysFile)); err != nil {
		return err
	}
	s, err := openNetwork(filepath.Join(out, arraysFile))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer s.Close()
	if err := s.opusVocabularies(dir, decoder.Vocabularies, out); err != nil {
		return err
	}
	config, generation := s.settingsOf(family.MarianNPZ, beams)
	return cmp.Or(
		writeJSON(out, model.ConfigFile, config), writeJSON(out, model.GenerationConfigFile, generation),
		writeJSON(out, model.TokenizerConfigFile, map[string]bool{"separate_vocabs": s.source != s.target}),
	)
}

// opusVocabularies writes the SentencePiece models and the ids of both sides. A vocabulary may be a SentencePiece model itself.
func (s *network) opusVocabularies(dir string, names []string, out string) error {
	shared := s.source == s.target
	if shared && names[0] != names[1] {
		return fmt.Errorf("%s has two vocabularies, %s and %s, but the model one table of embeddings", opusDecoder, names[0], names[1])
	}
	for i, side := range []struct {
		pieces, vocabulary string
		rows               int
	}{{model.SourcePiecesFile, model.VocabFile, s.sources}, {model.TargetPiecesFile, model.TargetVocabFile, s.targets}} {
		pieces := names[i]
		var ids map[string]int64
		var err error
		if filepath.Ext(names[i]) == ".spm" {
			ids, err = pieceIDs(filepath.Join(dir, names[i]))
		} else {
			pieces = side.pieces
			ids, err = readYAMLVocabulary(filepath.Join(dir, names[i]))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		if len(ids) != side.rows {
			return fmt.Errorf("%s has %d entries, the model %d: these files do not belong together", names[i], len(ids), side.rows)
		}
		eos, ok := ids["</s>"]
		if !ok {
			return fmt.Errorf("%s has no entry </s>", names[i])
		}
		s.eos = int(eos) // the target side comes last, and its id counts
		if i == 0 || !shared {
			if err := writeJSON(out, side.vocabulary, ids); err != nil {
				return err
			}
		}
		if err := model.CopyFile(filepath.Join(dir, pieces), filepath.Join(out, side.pieces)); err != nil {
			return err
		}
	}
	return nil
}

// pieceIDs returns the ids of a SentencePiece model.
func pieceIDs(path string) (map[string]int64, error) {
	raw, err := model.ReadSmall(path, maxVocabulary)
	if err != nil {
		return nil, err
	}
	pieces, err := spm.Parse(raw)
	if err != nil {
		return nil, err
	}
	return pieces.IDs(), nil
}

// readYAMLVocabulary reads the ids of tokens in their source form, because some look like numbers or dates to YAML.
func readYAMLVocabulary(path string) (map[string]int64, error) {
	raw, err := model.ReadSmall(path, maxVocabulary)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is no list of tokens and their numbers")
	}
	ids, entries := map[string]int64{}, document.Content[0].Content
	for i := 0; i+1 < len(entries); i += 2 {
		id, err := strconv.ParseInt(entries[i+1].Value, 10, 32)
		if _, twice := ids[entries[i].Value]; err != nil || twice || entries[i].Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a token that is not there yet and its number are wanted", entries[i].Line)
		}
		ids[entries[i].Value] = id
	}
	return ids, nil
}
