package cpu

import "dragoman/model/batch"

// Kept returns the bytes that the sessions of all models have freed and still keep.
func (m *Model) Kept() int64 { return m.memory.Kept() }

// Allows returns the tokens that the translation of a source may have, if the translation begins with a prefix.
func (m *Model) Allows(source, prefix []int64) (map[int64]bool, error) {
	a, err := newAllowed(m, 1)
	if err != nil {
		return nil, err
	}
	defer a.close()
	a.source(0, source)
	var rows []batch.Row
	for i, token := range prefix {
		rows = append(rows, batch.Row{Token: int32(token), Position: int32(i)})
	}
	a.prefixes(rows)
	tokens := map[int64]bool{}
	for token, out := range m.scripts.outputs {
		tokens[int64(token)] = a.row(0)[out/8]>>(out%8)&1 == 1
	}
	return tokens, nil
}
