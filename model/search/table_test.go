package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dragoman/model"
)

// table is a model whose next logits depend on the last two decoder tokens, the same model that scripts/goldens/search.py gives
// to generate().
type table struct {
	vocab int
	rows  []model.Row // [states], every token of the vocabulary, best first
}

// newTable ranks logits and log-probabilities, both [states, vocab].
func newTable(logits, logProbs []float32, vocab int) *table {
	t := &table{vocab: vocab}
	for at := 0; at < len(logProbs); at += vocab {
		lp := logProbs[at : at+vocab]
		ids := make([]int64, vocab)
		for i := range ids {
			ids[i] = int64(i)
		}
		slices.SortStableFunc(ids, func(a, b int64) int { return cmp.Compare(lp[b], lp[a]) })
		row := model.Row{IDs: ids, LogSumExp: logits[at] - lp[0]}
		for _, id := range ids {
			row.LogProbs = append(row.LogProbs, lp[id])
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// logSoftmax maps [states, vocab] to log-probabilities, in float32 as the model's graph does.
func logSoftmax(logits []float32, vocab int) []float32 {
	out := make([]float32, 0, len(logits))
	for row := range slices.Chunk(logits, vocab) {
		top, sum := slices.Max(row), float32(0)
		for _, x := range row {
			sum += float32(math.Exp(float64(x - top)))
		}
		for _, x := range row {
			out = append(out, x-top-float32(math.Log(float64(sum))))
		}
	}
	return out
}

// next returns the k best continuations of a hypothesis, ids with the prefix.
func (t *table) next(ids []int64, k int) model.Row {
	previous, last := int64(0), ids[len(ids)-1]
	if len(ids) > 1 {
		previous = ids[len(ids)-2]
	}
	row := t.rows[(7*previous+last)%int64(len(t.rows))]
	return model.Row{LogProbs: row.LogProbs[:k], IDs: row.IDs[:k], LogSumExp: row.LogSumExp}
}

// decode runs s to its end. extra asks for more candidates than s needs. inspect gets every hypothesis, with the prefix, after
// each step.
func (t *table) decode(s strategy, prefix []int64, extra int, inspect func(ids []int64)) (Result, error) {
	beams := [][]int64{prefix}
	for {
		k := min(s.Candidates()+extra, t.vocab)
		rows := make([]model.Row, len(beams))
		for i, ids := range beams {
			rows[i] = t.next(ids, k)
		}
		done, err := s.Advance(rows)
		if err != nil {
			return Result{}, err
		}
		if done {
			return s.Result(), nil
		}
		next := make([][]int64, s.Width())
		for i, parent := range s.Parents() {
			if parent < 0 || parent >= len(beams) {
				return Result{}, fmt.Errorf("parent %d of %d rows", parent, len(beams))
			}
			next[i] = append(slices.Clone(beams[parent]), s.Tokens()[i])
			if inspect != nil {
				inspect(next[i])
			}
		}
		beams = next
	}
}
