package cpu

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"dragoman/model"
	"dragoman/model/batch"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// allowed has the tokens that the translations of sentences may have, by the sentence's row in the cross-attention memory: [rows,
// bytes], a bit for each output of the LM head. No rows: all tokens are allowed. nil: the model's decoder has no such input.
type allowed struct {
	memory      buffer
	rows, bytes int
	listed      bool     // the encoder writes the bits, by the model's shortlist
	scripts     *scripts // otherwise scripts determine the bits
}

// newAllowed returns the allowed tokens of a model's batch with rows rows.
func newAllowed(m *Model, rows int) (*allowed, error) {
	spec := m.manifest.Spec
	listed := spec.Shortlisted(m.manifest.Precision)
	if !listed && m.manifest.Scripts == nil {
		return nil, nil
	}
	if listed && m.noShortlist || !listed && m.scripts == nil {
		rows = 0
	}
	a := &allowed{rows: rows, bytes: (spec.VocabSize + 7) / 8, listed: listed, scripts: m.scripts}
	var err error
	a.memory, err = newBuffer(max(rows, 1) * a.bytes)
	return a, err
}

// bind binds the memory of the bits to a decoder, or to an encoder that writes shortlists.
func (a *allowed) bind(b *onnxruntime.Binding, encoder bool) {
	if a != nil && (!encoder || a.listed) {
		b.Input("allowed", unsafe.Pointer(unsafe.SliceData(a.memory)), onnx.Uint8, a.rows, a.bytes)
	}
}

func (a *allowed) close() {
	if a != nil {
		a.memory.free()
		a.memory = nil
	}
}

// row returns the bits of a sentence.
func (a *allowed) row(slot int32) []byte { return a.memory[int(slot)*a.bytes:][:a.bytes] }

// source allows a translation to have the tokens within its source, and the scripts of the languages that the source's tokens name.
// A source in Latin letters has the Latin words of its translation, such as names, in its text. For another source all Latin tokens
// are allowed.
func (a *allowed) source(slot int32, source []int64) {
	if a == nil || a.scripts == nil {
		return
	}
	bits, s := a.row(slot), a.scripts
	clear(bits)
	s.within(source, func(id int64) {
		if out, ok := s.outputs.of(id); ok {
			setBits(bits, out, out+1)
		}
	})
	named, others := false, false
	for _, id := range source {
		others = others || s.isOther(id)
		if s.inSource {
			named = s.allow(bits, id) || named
		}
	}
	switch {
	case s.inSource && !named:
		setBits(bits, 0, 8*a.bytes)
	case others:
		s.set(bits, s.latin)
	}
}

// prefixes allows translations that begin with this step to have the tokens of the languages in their forced prefix, or all
// tokens if the prefix names no language.
func (a *allowed) prefixes(rows []batch.Row) {
	if a == nil || a.scripts == nil || a.scripts.inSource {
		return
	}
	begins, named := false, false
	for i, row := range rows {
		if row.Position == 0 {
			begins, named = true, false
		}
		if !begins {
			continue
		}
		named = a.scripts.allow(a.row(row.Slot), int64(row.Token)) || named
		if endsSentence(rows, i) {
			if !named {
				setBits(a.row(row.Slot), 0, 8*a.bytes)
			}
			begins = false
		}
	}
}

// setBits sets the bits from first to end-1.
func setBits(bits []byte, first, end int) {
	for ; first < end && first%8 != 0; first++ {
		bits[first/8] |= 1 << (first % 8)
	}
	for ; first+8 <= end; first += 8 {
		bits[first/8] = 0xff
	}
	for ; first < end; first++ {
		bits[first/8] |= 1 << (first % 8)
	}
}

// scripts are the outputs of the LM head that translations into a language may have, by the language's token.
type scripts struct {
	languages map[int64][]span
	inSource  bool
	outputs   outputs
	latin     []span // and the outputs of no particular script
	within    func(source []int64, add func(id int64))
}

// span is the outputs from first to end-1.
type span struct{ first, end int }

// outputs are the LM head's outputs of tokens, by id; negative: none.
type outputs []int32

func (o outputs) of(id int64) (output int, ok bool) {
	if id < 0 || id >= int64(len(o)) || o[id] < 0 {
		return 0, false
	}
	return int(o[id]), true
}

// allow sets the bits of the language that a token names, and reports whether it names one.
func (s *scripts) allow(bits []byte, token int64) bool {
	spans, ok := s.languages[token]
	s.set(bits, spans)
	return ok
}

func (s *scripts) set(bits []byte, spans []span) {
	for _, span := range spans {
		setBits(bits, span.first, span.end)
	}
}

// isOther reports whether a token has letters that are not Latin.
func (s *scripts) isOther(id int64) bool {
	out, ok := s.outputs.of(id)
	return ok && !slices.ContainsFunc(s.latin, func(l span) bool { return l.first <= out && out < l.end })
}

// readScripts reads the scripts of the exported folder dir. A language of unknown scripts may have all tokens.
func readScripts(dir string, m *model.Manifest, opts Options) (*scripts, error) {
	left := m.Spec.VocabSize
	for _, run := range m.Scripts.Runs {
		if run.Outputs < 0 || run.Outputs > left {
			return nil, fmt.Errorf("%w: scripts have more outputs than there are: export again", model.ErrDamaged)
		}
		left -= run.Outputs
	}
	if left > 0 {
		return nil, fmt.Errorf("%w: %d outputs have no script: export again", model.ErrDamaged, left)
	}
	outputs, err := readOutputs(filepath.Join(dir, model.WeightsFile), m)
	s := &scripts{languages: map[int64][]span{}, inSource: m.Scripts.InSource, outputs: outputs, within: opts.Within,
		latin: spans(m.Scripts.Runs, []string{"Latin"})}
	if s.within == nil {
		s.within = func(source []int64, add func(id int64)) {
			for _, id := range source {
				add(id)
			}
		}
	}
	for code, token := range m.Scripts.Languages {
		s.languages[token] = spans(m.Scripts.Runs, opts.Scripts(code))
	}
	return s, err
}

// spans returns the outputs of some scripts and of no script, or all outputs if the scripts are unknown.
func spans(runs []model.Script, scripts []string) (of []span) {
	at := 0
	for _, run := range runs {
		if len(scripts) == 0 || run.Name == "" || slices.Contains(scripts, run.Name) {
			of = append(of, span{at, at + run.Outputs})
		}
		at += run.Outputs
	}
	return of
}

// readOutputs reads the tokens of the outputs, and returns the outputs by token.
func readOutputs(path string, m *model.Manifest) (outputs, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tokens, of := make([]int32, m.Spec.VocabSize), slices.Repeat(outputs{-1}, m.Spec.VocabSize)
	if err := binary.Read(io.NewSectionReader(f, m.Scripts.Tokens, int64(4*len(tokens))), binary.LittleEndian, tokens); err != nil {
		return nil, fmt.Errorf("%w: the tokens of the outputs: %w", model.ErrDamaged, err)
	}
	for out, token := range tokens {
		if token < 0 || int(token) >= len(of) {
			return nil, fmt.Errorf("%w: output %d is of token %d: export again", model.ErrDamaged, out, token)
		}
		of[token] = int32(out)
	}
	return of, nil
}
