package spm

import "strings"

// Decode joins pieces to text, as spm_decode does: "▁" becomes a space, control
// pieces nothing, the unknown piece the model's sign for it (" ⁇ "). Text that is
// no piece, such as a run of unknown characters, stays as it is. Spaces at the
// head that encoding would have put there go.
func (m *Model) Decode(pieces []string) string {
	size := 0
	for _, piece := range pieces {
		size += len(piece)
	}
	var out strings.Builder
	out.Grow(size)
	trim := m.trim
	for _, piece := range pieces {
		id, ok := m.ids[piece]
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
	return out.String()
}
