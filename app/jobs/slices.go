package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"dragoman/app/translate"
)

// A slice has as many records as fit, and at least one. Its size limits the work that is repeated when a process dies, and the
// time that a job keeps others waiting.
const (
	sliceCharacters = 20_000
	sliceRecords    = 256
)

// slice is a part of a job's records, as stored.
type slice struct {
	First   int // number of its first record in the job
	Records []translate.Record
}

// slicesOf divides records into slices.
func slicesOf(records []translate.Record) (slices [][]byte, err error) {
	for first := 0; first < len(records); {
		last, characters := first, 0
		for last < len(records) && last-first < sliceRecords {
			characters += utf8.RuneCountInString(records[last].Text)
			if characters > sliceCharacters && last > first {
				break
			}
			last++
		}
		stored, err := marshal(slice{First: first, Records: records[first:last]})
		if err != nil {
			return nil, err
		}
		slices = append(slices, stored)
		first = last
	}
	return slices, nil
}

// marshal returns value as JSON, without spare capacity for HTML escapes.
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}

// parseSlice parses a stored slice.
func parseSlice(stored []byte) (s slice, err error) {
	if err := json.Unmarshal(stored, &s); err != nil {
		return s, fmt.Errorf("a slice of a job cannot be read: %w", err)
	}
	return s, nil
}

// marshalTexts returns the translations of a document's texts: records with commas between.
func marshalTexts(results []translate.Result) ([]byte, error) {
	texts := make([]translate.Record, len(results))
	for i, r := range results {
		texts[i] = r.Record
	}
	stored, err := marshal(texts)
	return bytes.Trim(stored, "[]\n"), err
}

// Texts returns a chunk of the translations of a document's texts, in their order.
func (s *Service) Texts(ctx context.Context, id string, chunk int) (texts []translate.Record, err error) {
	stored, err := s.store.result(ctx, id, chunk)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(slices.Concat([]byte{'['}, stored, []byte{']'}), &texts); err != nil {
		return nil, fmt.Errorf("the translations of a document cannot be read: %w", err)
	}
	return texts, nil
}

// parseTerms returns the terms of a target language, or the terms common to all languages.
func parseTerms(stored []byte, language int) ([]translate.Term, error) {
	var terms [][]translate.Term
	if err := json.Unmarshal(stored, &terms); err != nil {
		return nil, fmt.Errorf("the terms of a job cannot be read: %w", err)
	}
	if len(terms) == 1 {
		return terms[0], nil
	}
	if language >= len(terms) {
		return nil, fmt.Errorf("a job has terms for %d languages, and not for number %d", len(terms), language)
	}
	return terms[language], nil
}
