package spm

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// modelFile writes model files for tests, with its own protobuf messages.
type modelFile struct {
	raw []byte
}

// newModelFile returns a model file with the unknown piece and the control pieces of every model, and the merges of "▁", "a",
// "b" to "▁a", "ab" and "▁ab", best first.
func newModelFile() *modelFile {
	f := &modelFile{}
	f.piece("<unk>", 0, unknownPiece).piece("<s>", 0, controlPiece).piece("</s>", 0, controlPiece)
	for i, text := range []string{"▁a", "ab", "▁ab", "▁", "a", "b"} {
		f.piece(text, -float32(i), normalPiece)
	}
	return f.trainer(varint(3, bpeModel))
}

// unigramFile returns a unigram model with the same pieces and these scores.
func unigramFile() *modelFile { return newModelFile().trainer(varint(3, unigramModel)) }

// withBytes adds the 256 byte pieces as pieces of a kind, and enables byte fallback.
func withBytes(f *modelFile, kind uint64) *modelFile {
	for b := range 256 {
		f.piece(fmt.Sprintf(bytePieceForm, b), 0, kind)
	}
	return f.trainer(varint(35, 1))
}

func (f *modelFile) piece(text string, score float32, kind uint64) *modelFile {
	msg := message(1, []byte(text))
	msg = protowire.AppendTag(msg, 2, protowire.Fixed32Type)
	msg = protowire.AppendFixed32(msg, math.Float32bits(score))
	return f.add(1, append(msg, varint(3, kind)...))
}

func (f *modelFile) trainer(fields []byte) *modelFile    { return f.add(2, fields) }
func (f *modelFile) normalizer(fields []byte) *modelFile { return f.add(3, fields) }
func (f *modelFile) charsmap(raw []byte) *modelFile      { return f.normalizer(message(2, raw)) }

func (f *modelFile) add(number protowire.Number, msg []byte) *modelFile {
	f.raw = append(f.raw, message(number, msg)...)
	return f
}

func varint(number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
}

func message(number protowire.Number, msg []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), msg)
}

// rawCharsmap returns a precompiled character map of trie units and replacements.
func rawCharsmap(replacements string, units ...unit) []byte {
	raw := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(u))
	}
	return append(raw, replacements...)
}

// oneRule returns a trie of 256 units with one rule: the byte from is replaced by the text at the offset value.
func oneRule(from byte, value uint32) []unit {
	units := make([]unit, 256)
	for i := range units {
		units[i] = 0xff // an impossible label, so these places match no child
	}
	units[0] = 0                                       // base 0
	units[from] = unit(from) | 1<<8 | unit(from^1)<<10 // base from^from^1 = 1
	units[1] = 1<<31 | unit(value)
	return units
}
