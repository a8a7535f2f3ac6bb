package checkpoint

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dragoman/model"
	"dragoman/model/firefox"
	"dragoman/tokenizer/spm"
)

// convertFirefox converts a model of Firefox or Bergamot, a student trained by Marian, in its binary format. The reference is
// fxtranslate 0.5.0.
func convertFirefox(dir string, names []string, out string) error {
	files, err := firefox.Find(names, "")
	if err != nil {
		return err
	}
	name, lists := files["model"], files["lex"]
	if err := unpackFile(filepath.Join(dir, name), filepath.Join(out, binaryFile), firefox.MaxFile); err != nil {
		return err
	}
	s, err := openNetwork(filepath.Join(out, binaryFile))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer s.Close()
	if err := s.vocabularies(dir, files, out); err != nil {
		return err
	}
	if lists != "" {
		to := filepath.Join(out, shortlistFile)
		if err := unpackFile(filepath.Join(dir, lists), to, firefox.MaxFile); err != nil {
			return err
		}
		if err := s.openShortlist(to); err != nil {
			return fmt.Errorf("%s: %w", lists, err)
		}
	}
	config, generation := s.settings()
	if s.list.Targets > 0 {
		config["shortlist_first"], config["shortlist_words"], config["shortlist_targets"] = s.list.First, s.list.Words, s.list.Targets
	}
	source, target, err := firefox.Languages(model.Folder(dir), name)
	if err != nil {
		return err
	}
	return cmp.Or(
		writeJSON(out, model.ConfigFile, config), writeJSON(out, model.GenerationConfigFile, generation),
		writeJSON(out, model.TokenizerConfigFile, map[string]string{"source_lang": source, "target_lang": target}),
	)
}

// vocabularies writes the SentencePiece models.
func (s *network) vocabularies(dir string, files map[string]string, out string) error {
	for _, side := range []struct {
		kind, file string
		pieces     int
	}{{"source", model.SourcePiecesFile, s.sources}, {"target", model.TargetPiecesFile, s.targets}} {
		name := files[side.kind]
		if name == "" {
			name = files["vocab"]
			if side.kind == "target" && s.source == s.target {
				continue // the source's vocabulary serves both
			}
		}
		to := filepath.Join(out, side.file)
		if err := unpackFile(filepath.Join(dir, name), to, maxPieces); err != nil {
			return err
		}
		raw, err := os.ReadFile(to)
		if err != nil {
			return err
		}
		pieces, err := spm.Parse(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if pieces.Size() != side.pieces {
			return fmt.Errorf("%s has %d pieces, the model %d: these files do not belong together", name, pieces.Size(), side.pieces)
		}
		eos, ok := pieces.ID("</s>")
		if !ok {
			return fmt.Errorf("%s has no piece </s>", name)
		}
		s.eos = int(eos)
	}
	return nil
}

// A lexical shortlist has 64-bit numbers: magic, checksum, the number of tokens that are in every list, the maximum number of tokens in
// a list, the number of offsets, the total length of the lists; then the offsets of the tokens' lists and of their end; then the lists,
// in 32-bit numbers.
const (
	shortlistMagic  = 0xF11A48D5013417F5
	shortlistHeader = 6 * 8
)

// openShortlist adds the lists in a file, if it exists.
func (s *network) openShortlist(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.closers = append(s.closers, f)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return s.shortlist(f, info.Size())
}

// shortlist adds the lists in a file of size bytes.
func (s *network) shortlist(file io.ReaderAt, size int64) error {
	var head struct{ Magic, Checksum, First, Most, Offsets, Targets uint64 }
	if err := binary.Read(io.NewSectionReader(file, 0, size), binary.LittleEndian, &head); err != nil || head.Magic != shortlistMagic {
		return errors.New("this is not a lexical shortlist in Marian's binary format")
	}
	first, offsets, targets := head.First, head.Offsets, head.Targets
	if offsets < 2 || offsets > uint64(s.sources)+1 || first > uint64(s.targets) || targets < 1 || targets > model.LimitShortlist ||
		uint64(size) != shortlistHeader+8*offsets+4*targets {
		return fmt.Errorf("it has %d offsets, %d first tokens and %d in lists in %d bytes, the model %d and %d tokens: these files do not belong together, or it is damaged",
			offsets, first, targets, size, s.sources, s.targets)
	}
	starts := Tensor{Name: ShortlistStarts, DType: "I64", Shape: []int{int(offsets)}, data: file, offset: shortlistHeader}
	lists := Tensor{Name: ShortlistTargets, DType: "I32", Shape: []int{int(targets)}, data: file, offset: shortlistHeader + int64(8*offsets)}
	before := uint64(0)
	if err := each(starts.Raw(), 8, func(raw []byte) error {
		start := binary.LittleEndian.Uint64(raw)
		if start < before || start > targets {
			return errors.New("its lists do not follow each other: it is damaged")
		}
		before = start
		return nil
	}); err != nil {
		return err
	}
	if err := each(lists.Raw(), 4, func(raw []byte) error {
		if id := binary.LittleEndian.Uint32(raw); id >= uint32(s.targets) {
			return fmt.Errorf("it lists token %d of %d: these files do not belong together", id, s.targets)
		}
		return nil
	}); err != nil {
		return err
	}
	s.list = model.Shortlist{First: int(first), Words: int(offsets) - 1, Targets: int(targets)}
	s.tensors[starts.Name], s.tensors[lists.Name] = starts, lists
	return nil
}

// each reads items of size bytes until r ends.
func each(r io.Reader, size int, read func(raw []byte) error) error {
	in, raw := bufio.NewReaderSize(r, 64<<10), make([]byte, size)
	for {
		if _, err := io.ReadFull(in, raw); err == io.EOF {
			return nil
		} else if err != nil {
			return cut(err)
		}
		if err := read(raw); err != nil {
			return err
		}
	}
}
