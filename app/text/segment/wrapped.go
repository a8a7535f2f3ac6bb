package segment

import (
	"context"
	"strings"
	"unicode"
)

// SplitWrapped is [Split] for text wrapped by hand: a line end, with the white space around it, counts as one space and ends no
// sentence. As all lines form one, only the first may have a marker.
func SplitWrapped(ctx context.Context, text, lang string) ([]Piece, error) {
	return split(ctx, text, lang, func(s *splitter) {
		line, joints := s.unwrap()
		s.text = line
		s.line(0, len(line))
		s.text = text
		lost := 0 // bytes of text that line lacks so far
		place := func(at int) int {
			for len(joints) > 0 && joints[0].at <= at {
				lost, joints = joints[0].lost, joints[1:]
			}
			return at + lost
		}
		for i, span := range s.spans {
			s.looks.Past(1)
			s.spans[i].start = place(span.start)
			s.spans[i].end = place(span.end)
		}
	})
}

// joint is a position in a line at which two lines were joined.
type joint struct {
	at   int // behind the space, in bytes of the line
	lost int // bytes of the text before this position that the line lacks
}

// unwrap joins the lines of the text into one.
func (s *splitter) unwrap() (line string, joints []joint) {
	text := s.text
	var out strings.Builder
	for start := 0; start < len(text); {
		end, next := lineEnd(text, start)
		s.looks.Past(next - start)
		if next == end {
			out.WriteString(text[start:])
			break
		}
		out.WriteString(strings.TrimRightFunc(text[start:end], unicode.IsSpace))
		out.WriteByte(' ')
		start = len(text) - len(strings.TrimLeftFunc(text[next:], unicode.IsSpace))
		joints = append(joints, joint{out.Len(), start - out.Len()})
	}
	return out.String(), joints
}
