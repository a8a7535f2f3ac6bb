package spm

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of a model file. Real files are far smaller: the largest M2M100 and NLLB models are 5 MB, 256,000 pieces of at most 16
// characters.
const (
	maxPieces     = 1 << 19
	maxPieceBytes = 256
)

// Types of a piece in a model file (ModelProto.SentencePiece.Type).
const (
	normalPiece  = 1
	unknownPiece = 2
	controlPiece = 3
	userPiece    = 4
	unusedPiece  = 5
	bytePiece    = 6
)

// bytePieceForm is the format of the piece of a byte.
const bytePieceForm = "<0x%02X>"

// The values of TrainerSpec.ModelType that this package implements.
const (
	unigramModel = 1
	bpeModel     = 2
)

// modelProto is the part of SentencePiece's ModelProto that encoding and decoding depend on. All data are copied out of the file.
type modelProto struct {
	pieces       []pieceProto
	trainer      trainerProto
	normalizer   normalizerProto
	denormalizer normalizerProto
}

type pieceProto struct {
	text  string
	score float32
	kind  int32
}

type trainerProto struct {
	modelType          int32
	whitespaceAsSuffix bool
	byteFallback       bool
	unknownSurface     string
}

type normalizerProto struct {
	charsmap          []byte
	addDummyPrefix    bool
	removeExtraSpaces bool
	escapeSpaces      bool
}

// parseProto reads a serialized ModelProto. Absent fields have the defaults of sentencepiece_model.proto; unknown fields are
// skipped.
func parseProto(file []byte) (*modelProto, error) {
	m := &modelProto{
		trainer: trainerProto{modelType: unigramModel, unknownSurface: " \u2047 "},
		normalizer: normalizerProto{
			addDummyPrefix: true, removeExtraSpaces: true, escapeSpaces: true,
		},
	}
	err := eachField(file, func(f field) error {
		switch f.tag {
		case tag{1, protowire.BytesType}:
			return m.addPiece(f.bytes)
		case tag{2, protowire.BytesType}:
			return wrap("trainer spec", m.trainer.parse(f.bytes))
		case tag{3, protowire.BytesType}:
			return wrap("normalizer spec", m.normalizer.parse(f.bytes))
		case tag{5, protowire.BytesType}:
			return wrap("denormalizer spec", m.denormalizer.parse(f.bytes))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// addPiece reads a SentencePiece message. Empty and oversized pieces are refused
// here, before a hostile file can make millions of them.
func (m *modelProto) addPiece(msg []byte) error {
	id := len(m.pieces)
	if id == maxPieces {
		return fmt.Errorf("more than %d pieces", maxPieces)
	}
	p := pieceProto{kind: normalPiece}
	err := eachField(msg, func(f field) error {
		switch f.tag {
		case tag{1, protowire.BytesType}:
			if len(f.bytes) > maxPieceBytes {
				return fmt.Errorf("text has %d bytes, at most %d are supported", len(f.bytes), maxPieceBytes)
			}
			p.text = string(f.bytes)
		case tag{2, protowire.Fixed32Type}:
			p.score = math.Float32frombits(uint32(f.value))
		case tag{3, protowire.VarintType}:
			p.kind = int32(f.value)
		}
		return nil
	})
	switch {
	case err != nil:
	case p.text == "":
		err = errors.New("text is empty")
	case !utf8.ValidString(p.text):
		err = fmt.Errorf("text %q is not UTF-8", p.text)
	case math.IsNaN(float64(p.score)):
		err = errors.New("score is not a number")
	}
	m.pieces = append(m.pieces, p)
	if err != nil {
		return fmt.Errorf("piece %d: %w", id, err)
	}
	return nil
}

func (t *trainerProto) parse(msg []byte) error {
	return eachField(msg, func(f field) error {
		switch f.tag {
		case tag{3, protowire.VarintType}:
			t.modelType = int32(f.value)
		case tag{24, protowire.VarintType}:
			t.whitespaceAsSuffix = f.value != 0
		case tag{35, protowire.VarintType}:
			t.byteFallback = f.value != 0
		case tag{44, protowire.BytesType}:
			t.unknownSurface = string(f.bytes)
		}
		return nil
	})
}

func (n *normalizerProto) parse(msg []byte) error {
	return eachField(msg, func(f field) error {
		switch f.tag {
		case tag{2, protowire.BytesType}:
			n.charsmap = append([]byte(nil), f.bytes...)
		case tag{3, protowire.VarintType}:
			n.addDummyPrefix = f.value != 0
		case tag{4, protowire.VarintType}:
			n.removeExtraSpaces = f.value != 0
		case tag{5, protowire.VarintType}:
			n.escapeSpaces = f.value != 0
		}
		return nil
	})
}

// tag is a field's number and wire type. A known field number of another wire type counts as an unknown field, as in every
// protobuf implementation.
type tag struct {
	number protowire.Number
	wire   protowire.Type
}

type field struct {
	tag   tag
	value uint64 // of a varint or a number of 32 bits
	bytes []byte // of a length-delimited field; part of the message
}

// eachField calls visit for each field of a protobuf message, in file order, and
// stops at the first error.
func eachField(msg []byte, visit func(field) error) error {
	for rest := msg; len(rest) > 0; {
		number, wire, n := protowire.ConsumeField(rest)
		if n < 0 {
			return fmt.Errorf("broken protobuf at byte %d of %d: %w", len(msg)-len(rest), len(msg), protowire.ParseError(n))
		}
		_, _, head := protowire.ConsumeTag(rest)
		f := field{tag: tag{number, wire}}
		switch body := rest[head:n]; wire {
		case protowire.VarintType:
			f.value, _ = protowire.ConsumeVarint(body)
		case protowire.Fixed32Type:
			bits, _ := protowire.ConsumeFixed32(body)
			f.value = uint64(bits)
		case protowire.BytesType:
			f.bytes, _ = protowire.ConsumeBytes(body)
		}
		rest = rest[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// wrap prefixes an error with the name of the part that was read. It returns nil for nil.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
