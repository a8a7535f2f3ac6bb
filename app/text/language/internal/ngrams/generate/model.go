package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"unicode"

	"google.golang.org/protobuf/encoding/protowire"

	"dragoman/app/text/language/internal/ngrams"
)

// model has the probability of the last letter of a sequence after the others, by
// the number of letters and the sequence.
type model [ngrams.Order + 1]map[string]float64

// size is the number of sequences.
func (m *model) size() int {
	n := 0
	for _, sequences := range m {
		n += len(sequences)
	}
	return n
}

// readModel reads the models of a language and leaves out sequences with letters of
// another script, which are foreign words.
func readModel(dir string, script *unicode.RangeTable) (*model, error) {
	var m model
	for i, name := range []string{"unigrams", "bigrams", "trigrams", "quadrigrams", "fivegrams"} {
		path := filepath.Join(dir, name+".pb.bin.zip")
		data, err := readZip(path)
		if err != nil {
			return nil, err
		}
		m[i+1] = map[string]float64{}
		if err := readSets(data, script, m[i+1]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return &m, nil
}

// readZip returns the only file of an archive.
func readZip(path string) ([]byte, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if n := len(archive.File); n != 1 {
		return nil, fmt.Errorf("%s has %d files, want 1", path, n)
	}
	file, err := archive.File[0].Open()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// readSets reads lingua's SerializableLanguageModel: field 4 is a set of sequences
// that have a probability in common.
func readSets(data []byte, script *unicode.RangeTable, into map[string]float64) error {
	return fields(data, func(number protowire.Number, value []byte, _ uint64) error {
		if number != 4 {
			return nil
		}
		var probability float64
		var sequences []string
		err := fields(value, func(number protowire.Number, value []byte, bits uint64) error {
			switch number {
			case 1:
				probability = math.Float64frombits(bits)
			case 2:
				sequences = append(sequences, string(value))
			}
			return nil
		})
		for _, sequence := range sequences {
			if in(sequence, script) {
				into[sequence] = probability
			}
		}
		return err
	})
}

// fields calls yield with the fields of a message: bytes as value, numbers of 8
// bytes as bits, others as neither.
func fields(message []byte, yield func(number protowire.Number, value []byte, bits uint64) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		_, _, head := protowire.ConsumeTag(message)
		var value []byte
		var bits uint64
		switch kind {
		case protowire.BytesType:
			value, _ = protowire.ConsumeBytes(message[head:])
		case protowire.Fixed64Type:
			bits, _ = protowire.ConsumeFixed64(message[head:])
		}
		message = message[n:]
		if err := yield(number, value, bits); err != nil {
			return err
		}
	}
	return nil
}

// in says whether all letters of a sequence are of a script.
func in(sequence string, script *unicode.RangeTable) bool {
	for _, r := range sequence {
		if !unicode.Is(script, r) {
			return false
		}
	}
	return true
}
