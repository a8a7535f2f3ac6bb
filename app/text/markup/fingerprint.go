package markup

import "encoding/binary"

// Fingerprint returns a key that is equal for sentences of the same text and format with the same spans: their translations are
// interchangeable. It is "" if the sentence has no spans.
func (s Sentence) Fingerprint() string {
	if len(s.Spans) == 0 {
		return ""
	}
	pairs := make(map[int]int64) // renumbers pairs: their numbers depend on the text before the sentence
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
