package ops_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/x448/float16"

	"dragoman/model/onnx"
)

// head is the input of BestCandidates.
type head struct {
	acc, scale  []float32
	x           []float32         // hidden states; nil: logits are not recomputed
	table       []float16.Float16 // embeddings
	bias        []float32         // bias of an 8-bit head; nil: none
	rows, vocab int
	width       int
	k, spare    int
}

// best are the operator's outputs.
type best struct {
	logProbs []float32
	ids      []int64
	lse      []float32
}

func newHead(seed, rows, vocab, k int) head {
	r := random(seed)
	return head{acc: normal(r, rows*vocab, 3), scale: positive(r, rows), rows: rows, vocab: vocab, k: k, spare: 8}
}

// withTable adds hidden states and embeddings.
func (h head) withTable(seed, width int) head {
	r := random(seed)
	h.x, h.width = normal(r, h.rows*width, 1), width
	for _, v := range normal(r, h.vocab*width, 1) {
		h.table = append(h.table, float16.Fromfloat32(v))
	}
	return h
}

func (h head) row(r int) head {
	h.acc = h.acc[r*h.vocab : (r+1)*h.vocab]
	if h.scale != nil {
		h.scale = h.scale[r : r+1]
	}
	if h.x != nil {
		h.x = h.x[r*h.width : (r+1)*h.width]
	}
	h.rows = 1
	return h
}

func (h head) call() call {
	var scale, x, table arg
	if h.scale != nil {
		scale = floats(h.scale, h.rows)
	}
	if h.x != nil {
		x, table = floats(h.x, h.rows, h.width), halves(h.table, h.vocab, h.width)
	}
	return call{op: "BestCandidates", attrs: []onnx.Attr{onnx.Int("spare", h.spare)},
		inputs:  []arg{floats(h.acc, h.rows, h.vocab), int64s(int64(h.k)), scale, x, table},
		outputs: []onnx.DataType{onnx.Float32, onnx.Int64, onnx.Float32}}
}

func (h head) run(t *testing.T) best {
	t.Helper()
	out := h.call().run(t)
	return best{out[0].([]float32), out[1].([]int64), out[2].([]float32)}
}

func (b best) row(r, k int) best {
	return best{b.logProbs[r*k : (r+1)*k], b.ids[r*k : (r+1)*k], b.lse[r : r+1]}
}

// candidate is a token and its logit.
type candidate struct {
	logit float64
	id    int64
}

// sorted returns candidates best first, and equal ones by id.
func sorted(all []candidate) []candidate {
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.id, b.id))
	})
	return all
}

func (h head) biasOf(id int64) float64 {
	if h.bias == nil {
		return 0
	}
	return float64(h.bias[id])
}

// corrected is the number of best candidates whose new logits count in the log-sum-exp.
const corrected = 9

// reference returns the expected result of row r, and the tolerance of the log-sum-exp, from which large numbers may have been taken.
func (h head) reference(r int) (found []candidate, lse, tolerance float64) {
	all, scale := make([]candidate, h.vocab), 1.0
	if h.scale != nil {
		scale = float64(h.scale[r])
	}
	for i := range all {
		all[i] = candidate{float64(h.acc[r*h.vocab+i])*scale + h.biasOf(int64(i)), int64(i)}
	}
	sorted(all)
	peak, sum, news := all[0].logit, 0.0, []float64(nil)
	for _, c := range all {
		sum += math.Exp(c.logit - peak)
	}
	lse = peak + math.Log(sum)
	tolerance = 2e-5 + 1e-6*math.Abs(lse)
	if h.x == nil {
		return all[:h.k], lse, tolerance
	}
	proposed := all[:min(h.k+h.spare, h.vocab)]
	for i, c := range proposed {
		if proposed[i].logit = h.biasOf(c.id); i < corrected {
			sum -= math.Exp(c.logit - peak)
		}
		for j := range h.width {
			proposed[i].logit += float64(h.x[r*h.width+j]) * float64(h.table[int(c.id)*h.width+j].Float32())
		}
		if i < corrected {
			news = append(news, proposed[i].logit)
		}
	}
	top := max(lse, slices.Max(news))
	sum *= math.Exp(peak - top)
	for _, logit := range news {
		sum += math.Exp(logit - top)
	}
	corrected := top + math.Log(sum)
	return sorted(proposed)[:h.k], corrected, tolerance * (1 + math.Exp(lse-corrected))
}

// require runs the operator and checks every row. The sum over a vocabulary of 128112 may have an error that does not show in a
// log-probability of 0.0001.
func (h head) require(t *testing.T) {
	t.Helper()
	got := h.run(t)
	for r := range h.rows {
		row := got.row(r, h.k)
		want, lse, tolerance := h.reference(r)
		require.InDelta(t, lse, row.lse[0], tolerance, "log-sum-exp of row %d", r)
		for i, c := range want {
			require.Equal(t, c.id, row.ids[i], "candidate %d of row %d", i, r)
			if !math.IsInf(c.logit, 0) {
				requireNear(t, c.logit-lse, row.logProbs[i], tolerance+1e-5+2e-6*(math.Abs(c.logit)+math.Abs(lse)), "log-probability", i)
			} else {
				require.Equal(t, c.logit, float64(row.logProbs[i]))
			}
		}
		require.Equal(t, h.row(r).run(t), row, "row %d depends on the others", r)
	}
}

func TestBestCandidates(t *testing.T) {
	for _, vocab := range []int{1, 3, 15, 16, 17, 33, 255, 256, 257, 1000, 3000} {
		for _, rows := range rowCount {
			for _, k := range []int{1, 2, 10, 300} {
				if k > vocab || k == 300 && rows > 2 || vocab > 1000 && rows > 7 {
					continue
				}
				t.Run(fmt.Sprintf("%dx%d k=%d", rows, vocab, k), func(t *testing.T) {
					h := newHead(vocab+rows, rows, vocab, k)
					if rows == 2 {
						h.scale = nil
					}
					h.require(t)
					h.withTable(k, 1+vocab%100).require(t)
				})
			}
		}
	}
	t.Run("all of the vocabulary", func(t *testing.T) { newHead(1, 2, 600, 600).require(t) })
	t.Run("whole vocabulary", func(t *testing.T) { newHead(1, 2, 128112, 10).require(t) })
}

func TestBestCandidatesEdges(t *testing.T) {
	negative := float32(math.Inf(-1))
	ramp := func(from, step float32) []float32 {
		x := make([]float32, 700)
		for i := range x {
			x[i] = from + step*float32(i)
		}
		return x
	}
	with := func(x []float32, at int, values ...float32) []float32 {
		copy(x[at:], values)
		return x
	}
	for name, acc := range map[string][]float32{
		"all equal":            filled(700, 3),
		"zeros":                filled(700, 0),
		"signed zeros":         with(filled(700, minus), 300, zero, zero),
		"rising":               ramp(-10, 0.25),
		"falling":              ramp(10, -0.25),
		"ties across blocks":   with(with(with(ramp(0, 0), 255, 5, 5), 511, 5, 5), 690, 5),
		"best at the end":      with(ramp(0, 0), 699, 9),
		"huge":                 with(ramp(0, 0), 100, 1e30, 1e29),
		"tiny":                 with(ramp(0, 0), 100, tiny, 1e-44),
		"far below":            with(filled(700, -1e30), 600, 0, -1),
		"-inf but for a dozen": with(filled(700, negative), 250, ramp(1, 0.5)[:12]...),
		"-inf but for one":     with(filled(700, negative), 250, 1),
	} {
		t.Run(name, func(t *testing.T) {
			for _, k := range []int{1, 5, 12} {
				head{acc: acc, rows: 1, vocab: len(acc), k: k}.require(t)
			}
		})
	}
}

// A row with a NaN logit at any place has no candidates that a search accepts; the other rows have theirs.
func TestBestCandidatesNoNumbers(t *testing.T) {
	for name, spoil := range map[string]func(h *head, at int){
		"nan":          func(h *head, at int) { h.acc[at] = nan },
		"inf":          func(h *head, at int) { h.acc[at] = inf },
		"two infs":     func(h *head, at int) { h.acc[at], h.acc[(at+1)%h.vocab] = inf, inf },
		"nan and inf":  func(h *head, at int) { h.acc[at], h.acc[(at+20)%h.vocab] = nan, inf },
		"all nan":      func(h *head, at int) { copy(h.acc, filled(h.vocab, nan)) },
		"all -inf":     func(h *head, at int) { copy(h.acc, filled(h.vocab, -inf)) },
		"scale of nan": func(h *head, at int) { h.scale[0] = nan },
	} {
		t.Run(name, func(t *testing.T) {
			for at := 0; at < 301; at += 7 {
				h := newHead(at, 2, 301, 4)
				if at%2 == 0 {
					h = h.withTable(at, 9)
				}
				spoil(&h, at)
				got := h.run(t)
				for _, v := range got.row(0, 4).logProbs {
					require.False(t, v <= 0, "%g would pass for a log-probability", v)
				}
				require.Equal(t, h.row(1).run(t), got.row(1, 4))
			}
		})
	}
}

// Logits are recomputed with the embeddings; equal ones are ordered by id.
func TestBestCandidatesRescoredTies(t *testing.T) {
	h := newHead(1, 1, 40, 6).withTable(1, 33)
	for id := range 40 {
		copy(h.table[id*33:(id+1)*33], h.table[:33])
	}
	h.require(t)
}

// A logit that is far off, such as the 8-bit one of a row with one large weight, does not shift the log-probabilities of other tokens: the
// log-sum-exp has the new logits of the best candidates.
func TestBestCandidatesFarOff(t *testing.T) {
	h := newHead(3, 1, 200, 3).withTable(3, 31)
	h.scale = nil
	sum, largest := 0.0, 0.0
	for id := range h.vocab {
		logit := 0.0
		for j := range h.width {
			logit += float64(h.x[j]) * float64(h.table[id*h.width+j].Float32())
		}
		h.acc[id] = float32(logit)
		sum, largest = sum+math.Exp(logit), max(largest, logit)
	}
	worst := slices.Index(h.acc, slices.Min(h.acc))
	h.acc[worst] = float32(largest) + 2
	got := h.run(t)
	require.InDelta(t, math.Log(sum), got.lse[0], 1e-4)
	require.NotContains(t, got.ids, int64(worst))
}
