//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// results are what was measured.
type results struct {
	Octets string         `json:"octets"` // the instructions of the peaks
	Floats string         `json:"floats"`
	Peaks  map[int]*peaks `json:"peaks"` // by the number of threads
	Cells  []*measured    `json:"-"`
}

// measured is a cell and its samples, in microseconds.
type measured struct {
	cell
	Past   float64 `json:"past"` // tokens of a row, on average
	Work   work    `json:"work"`
	Micros []int   `json:"micros"`
	CPU    []int   `json:"cpu_micros"`
	Parts  parts   `json:"parts"` // seconds of all profiled samples
}

func newResults() *results { return &results{Peaks: map[int]*peaks{}} }

// peaks are those of some threads.
func (r *results) peaks(threads int) *peaks {
	if r.Peaks[threads] == nil {
		r.Peaks[threads] = &peaks{}
	}
	return r.Peaks[threads]
}

// find finds a cell, or makes it; nil where it does not count: the rest of a batch that is encoded.
func (r *results) find(c cell) *measured {
	if c.Beams == 0 && c.Sentences != 1 && c.Sentences != 8 && c.Sentences != encoderMost {
		return nil
	}
	for _, m := range r.Cells {
		if m.cell == c {
			return m
		}
	}
	m := &measured{cell: c, Parts: parts{}}
	r.Cells = append(r.Cells, m)
	return m
}

func (r *results) record(c cell, s shape, taken sample) {
	m := r.find(c)
	if m == nil {
		return
	}
	m.Micros, m.CPU = append(m.Micros, int(taken.Seconds*1e6)), append(m.CPU, int(taken.CPU*1e6))
	m.Past += (float64(taken.Past) - m.Past) / float64(len(m.Micros))
	if c.Beams == 0 {
		m.Work = s.encode(c.Sentences)
	} else {
		m.Work = s.step(c.Sentences, c.rows(), m.Past)
	}
}

func (r *results) recordParts(c cell, taken parts) {
	if m := r.find(c); m != nil {
		for name, s := range taken {
			m.Parts[name] += s
		}
	}
}

// share is which part of the time a part takes.
func (m *measured) share(name string) float64 {
	sum := 0.0
	for _, s := range m.Parts {
		sum += s
	}
	return m.Parts[name] / max(sum, 1e-9)
}

// seconds is the median of the samples, and the fastest.
func (m *measured) seconds() (middle, fastest float64) {
	return seconds(median(m.Micros)), seconds(slices.Min(m.Micros))
}

// cpu is the CPU time of each thread, the median in seconds: what the step would take if
// no thread ever waited, for another one or for a core that another program has.
func (m *measured) cpu() float64 { return seconds(median(m.CPU)) / float64(m.Threads) }

func median(of []int) int {
	return slices.Sorted(slices.Values(of))[len(of)/2]
}

// load reads results from a file; where there is none, there are none.
func (r *results) load(file string) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	saved := struct {
		*results
		Cells []*measured `json:"cells"`
	}{results: r}
	if err := json.Unmarshal(data, &saved); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	r.Cells = saved.Cells
	return nil
}

// save writes results to a file, a cell on each line.
func (r *results) save(file string) error {
	slices.SortStableFunc(r.Cells, func(a, b *measured) int {
		return cmp.Or(-cmp.Compare(a.Precision, b.Precision), cmp.Compare(a.Threads, b.Threads),
			cmp.Compare(a.Beams, b.Beams), cmp.Compare(a.Sentences, b.Sentences))
	})
	begin, err := json.Marshal(r)
	if err != nil {
		return err
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(begin, []byte("}")))
	out.WriteString(`,"cells":[`)
	for i, m := range r.Cells {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(line)
	}
	out.WriteString("\n]}\n")
	return os.WriteFile(file, out.Bytes(), 0o644)
}
