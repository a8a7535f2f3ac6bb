package markup

import "encoding/binary"

// Fingerprint is equal for sentences of the same text and format that keep the same:
// their translations can stand for each other. It is "" where nothing is kept.
func (s Sentence) Fingerprint() string {
	if len(s.Spans) == 0 {
		return ""
	}
	pairs := make(map[int]int64) // numbers of pairs depend on what stands before the sentence
	print := make([]byte, 0, 4*len(s.Spans))
	for _, span := range s.Spans {
		number, sign := int64(0), int64(1)
		if span.Pair != 0 {
			pair := span.Pair
			if pair < 0 {
				pair, sign = -pair, -1
			}
			if pairs[pair] == 0 {
				pairs[pair] = int64(len(pairs)) + 1
			}
			number = pairs[pair]
		}
		print = binary.AppendUvarint(print, uint64(span.Start))
		print = binary.AppendUvarint(print, uint64(span.End))
		print = append(print, byte(span.Kind))
		print = binary.AppendVarint(print, sign*number)
		if span.Term != nil {
			for _, text := range [...]string{span.Term.Source, span.Term.Target} {
				print = append(binary.AppendUvarint(print, uint64(len(text))), text...)
			}
		}
	}
	return string(print)
}
