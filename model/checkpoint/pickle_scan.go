package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Limits of a state dict's pickle. A thousand tensors, more than the largest M2M100 has, need about 130 KB, 8,000 objects and four
// nested marks.
const (
	maxPickleSize    = 4 << 20 // bytes
	maxPickleString  = 256     // bytes of a name
	maxPickleObjects = 1 << 16 // lists, dicts, calls and uses of the memo
	maxPickleDepth   = 64      // open marks
)

// scanPickle checks the opcodes of a pickle before an unpickler runs it, and returns the pickle up to its end. An unpickler allocates
// by the pickle's lengths and opcodes. After the scan its memory is proportional to the pickle:
//   - the opcodes are those of torch.save (no INST, OBJ, BUILD of reduced classes, bytes or long integers),
//   - every length is within the pickle, and strings are short,
//   - the numbers of objects and marks, whose few bytes become hundreds, and of uses of the memo are limited: the unpickler's errors
//     print values, and a string used a million times would make them gigabytes long.
//
// One pass without a stack suffices, because the length of an opcode's argument does not depend on earlier opcodes.
func scanPickle(data []byte) ([]byte, error) {
	depth, objects := 0, 0
	for at := 0; at < len(data); {
		op := data[at]
		n, err := argumentLength(op, data[at+1:])
		if err != nil {
			return nil, fmt.Errorf("pickle opcode %#02x at byte %d: %w", op, at, err)
		}
		switch op {
		case '.': // STOP
			return data[:at+1], nil
		case '(': // MARK
			depth++
		case 't', 'u', 'e': // TUPLE, SETITEMS, APPENDS: back to the last mark
			depth--
		case '}', ']', 'R', 'h', 'j': // EMPTY_DICT, EMPTY_LIST, REDUCE, BINGET, LONG_BINGET
			objects++
		}
		if depth < 0 || depth > maxPickleDepth || objects > maxPickleObjects {
			return nil, fmt.Errorf("pickle has %d open marks and %d objects at byte %d: up to %d and %d are supported",
				depth, objects, at, maxPickleDepth, maxPickleObjects)
		}
		at += 1 + n
	}
	return nil, errors.New("pickle has no end: it is truncated")
}

var (
	errPickleOp  = errors.New("torch.save writes no such thing for a state dict: save model.state_dict()")
	errPickleEnd = errors.New("argument beyond the end: it is truncated")
)

// argumentLength returns the length of an opcode's argument at the start of rest.
func argumentLength(op byte, rest []byte) (int, error) {
	switch op {
	case '.', '(', '}', ']', ')', 't', 'u', 'e', 'R', 's', 'a', 'b', 'N', 'Q', // STOP MARK … BINPERSID
		0x85, 0x86, 0x87, 0x88, 0x89, 0x93, 0x94: // TUPLE1 2 3 TRUE FALSE STACK_GLOBAL MEMOIZE
		return 0, nil
	case 0x80, 'K', 'q', 'h': // PROTO BININT1 BINPUT BINGET
		return within(1, rest)
	case 'M': // BININT2
		return within(2, rest)
	case 'J', 'r', 'j': // BININT LONG_BINPUT LONG_BINGET
		return within(4, rest)
	case 'G': // BINFLOAT
		return within(8, rest)
	case 'c': // GLOBAL
		return lines(2, rest)
	case 'X': // BINUNICODE
		n, err := counted(4, rest)
		if err == nil && n > 4+maxPickleString {
			err = fmt.Errorf("string of %d bytes: at most %d are supported", n-4, maxPickleString)
		}
		return n, err
	case 0x8c: // SHORT_BINUNICODE
		return counted(1, rest)
	case 0x8a: // LONG1
		n, err := counted(1, rest)
		if err == nil && (n < 2 || n > 9) {
			err = fmt.Errorf("integer of %d bytes: 1 to 8 are supported", n-1)
		}
		return n, err
	case 0x95: // FRAME: its argument is a length, but what it holds are opcodes
		_, err := counted(8, rest)
		return 8, err
	}
	return 0, errPickleOp
}

// within returns n, or an error if rest is shorter.
func within(n int, rest []byte) (int, error) {
	if n > len(rest) {
		return 0, errPickleEnd
	}
	return n, nil
}

// counted returns the length of a string with the width bytes of its length.
func counted(width int, rest []byte) (int, error) {
	if _, err := within(width, rest); err != nil {
		return 0, err
	}
	var count [8]byte
	copy(count[:], rest[:width])
	n := binary.LittleEndian.Uint64(count[:])
	if n > uint64(len(rest)-width) {
		return 0, errPickleEnd
	}
	return width + int(n), nil
}

// lines returns the length of n lines, with their ends.
func lines(n int, rest []byte) (int, error) {
	end := 0
	for range n {
		i := bytes.IndexByte(rest[end:], '\n')
		if i < 0 {
			return 0, errPickleEnd
		}
		end += i + 1
	}
	return end, nil
}
