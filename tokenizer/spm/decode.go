package spm

import (
	"strconv"
	"strings"
)

// Decode joins pieces to text, as spm_decode does: "▁" becomes a space, control
// pieces nothing, the unknown piece the model's sign for it (" ⁇ "), and bytes the
// characters that they make, U+FFFD where they make none. Text that is no piece, such as a
// run of unknown characters, stays as it is. Spaces at the head that encoding would have
// put there go.
func (m *Model) Decode(pieces []string) string {
	size := 0
	for _, piece := range pieces {
		size += len(piece)
	}
	var out strings.Builder
	out.Grow(size)
	trim := m.trim
	var pending []byte // of byte pieces in a row
	for _, piece := range pieces {
		id, ok := m.ID(piece)
		if ok && m.kinds[id] == bytePiece {
			b, _ := strconv.ParseUint(piece[len("<0x"):len("<0xFF")], 16, 8)
			pending = append(pending, byte(b))
			continue
		}
		pending = writeBytes(&out, pending)
		switch {
		case !ok:
			out.WriteString(piece)
		case id == m.unknown:
			out.WriteString(m.unknownSurface)
		case m.kinds[id] == controlPiece:
		default:
			// Until there is text, each piece loses a space, or just the first
			// such piece where the model keeps extra spaces.
			if rest, found := strings.CutPrefix(piece, space); found && trim != trimNone && out.Len() == 0 {
				piece = rest
				if trim == trimOne {
					trim = trimNone
				}
			}
			out.WriteString(strings.ReplaceAll(piece, space, " "))
		}
	}
	writeBytes(&out, pending)
	return out.String()
}

// writeBytes writes the characters that bytes make, and empties them.
func writeBytes(out *strings.Builder, bytes []byte) []byte {
	for _, r := range string(bytes) { // U+FFFD for each byte that makes none
		out.WriteRune(r)
	}
	return bytes[:0]
}
