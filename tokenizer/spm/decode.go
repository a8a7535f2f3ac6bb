package spm

import (
	"strconv"
	"strings"
)

// Decode joins pieces to text like spm_decode: "▁" becomes a space, control pieces nothing, the unknown piece becomes the model's
// sign for unknown text (" ⁇ "), and bytes become their characters, or U+FFFD for invalid bytes. Text that is not a piece, such
// as a run of unknown characters, is kept. Leading spaces that encoding would have added are removed.
func (m *Model) Decode(pieces []string) string {
	size := 0
	for _, piece := range pieces {
		size += len(piece)
	}
	var out strings.Builder
	out.Grow(size)
	trim := m.trim
	var pending []byte // bytes of consecutive byte pieces
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
			// Until there is text, each piece loses a space, or only the first such piece if the model keeps extra spaces.
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

// writeBytes writes the characters of bytes, and empties them.
func writeBytes(out *strings.Builder, bytes []byte) []byte {
	for _, r := range string(bytes) { // U+FFFD for each invalid byte
		out.WriteRune(r)
	}
	return bytes[:0]
}
