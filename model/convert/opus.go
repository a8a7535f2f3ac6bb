package convert

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/family"
	"dragoman/tokenizer/spm"
)

// opusDecoder is what says which files a model of Opus-MT is of, in the form in which it was trained and is released.
const opusDecoder = "decoder.yml"

// Bounds of what tells of a model, in bytes, and of its beams.
const (
	maxDecoder    = 1 << 20
	maxVocabulary = 8 << 20
	maxBeams      = 64
	usualBeams    = 6
)

// isOpus says whether these files are of a model of Opus-MT in Marian's own form.
func isOpus(names []string) bool {
	return !slices.Contains(names, model.ConfigFile) && slices.ContainsFunc(names, func(name string) bool { return filepath.Ext(name) == ".npz" })
}

// convertOpus converts a model of Opus-MT: its network in numpy's form, SentencePiece models of both sides, and vocabularies in YAML.
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
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	items, err := parseNPZ(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s, err := newNetwork(items, marianFloat)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, own := items["decoder_ff_logit_out_W"]; own {
		return fmt.Errorf("%s: the LM head is a matrix of its own: only those that are the embedding are supported", name)
	}
	if err := s.opusVocabularies(dir, decoder.Vocabularies, out); err != nil {
		return err
	}
	if err := s.tensors(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := writeSafetensors(filepath.Join(out, checkpoint.SafetensorsFile), s.written); err != nil {
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
		s.eos = int(eos) // the target's is the last
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

// pieceIDs are the ids of a SentencePiece model.
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

// readYAMLVocabulary reads the ids of tokens as they are written: to YAML some look like numbers or dates.
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

// transposed writes a matrix of 32 bits that lies [in, out], [out, in].
func (s *network) transposed(to, from string, in, out int) error {
	item, err := s.items.need(from, marianFloat, in, out)
	if err != nil {
		return err
	}
	s.written = append(s.written, tensor{to, checkpoint.F32, []int{out, in}, 4 * item.elements(), &transposing{item: item}})
	return nil
}

// transposing reads a matrix by its columns. It is in memory from the first Read on.
type transposing struct {
	item   marianItem
	matrix []byte
	at     int // numbers that were read
}

// Read implements [io.Reader].
func (t *transposing) Read(p []byte) (int, error) {
	if t.matrix == nil {
		t.matrix = make([]byte, 4*t.item.elements())
		if _, err := t.item.data.ReadAt(t.matrix, 0); err != nil {
			return 0, cut(err)
		}
	}
	in, out, n := t.item.shape[0], t.item.shape[1], 0
	for ; n+4 <= len(p) && t.at < in*out; n, t.at = n+4, t.at+1 {
		from := t.at%in*out + t.at/in
		binary.LittleEndian.PutUint32(p[n:], binary.LittleEndian.Uint32(t.matrix[4*from:]))
	}
	if t.at == in*out {
		t.matrix = []byte{}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
