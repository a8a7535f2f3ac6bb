package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/signal"
	"slices"
	"syscall"

	"dragoman/model"
	"dragoman/model/cuda"
	"dragoman/model/modeltest"
	"dragoman/model/search"
	"dragoman/tokenizer"
)

// interrupted is done on SIGINT and SIGTERM.
func interrupted() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM) // until the process ends
	return ctx
}

// correctness checks the bundled model in both precisions.
func (s *session) correctness() {
	goldens, err := s.read()
	if err != nil {
		s.check("goldens", func(map[string]any) error { return err })
		return
	}
	for _, precision := range []model.Precision{model.FP32, model.FP16} {
		s.check("open bundled "+string(precision), func(values map[string]any) error {
			dir, err := s.export(s.bundled, precision)
			if err != nil {
				return err
			}
			m, err := s.open(dir)
			if err != nil {
				return err
			}
			t, err := tokenizer.Open(dir)
			if err != nil {
				return errors.Join(err, m.Close())
			}
			values["device"] = m.Device()
			for _, setting := range []string{"greedy", "beam5"} {
				s.check(setting+" "+string(precision), func(values map[string]any) error {
					return agreement(m, t, goldens, setting, values)
				})
			}
			s.check("company "+string(precision), func(values map[string]any) error { return company(m, goldens, values) })
			s.check("leaving "+string(precision), func(values map[string]any) error { return leaving(m, goldens) })
			s.check("memory "+string(precision), func(values map[string]any) error { return memory(m, goldens, values) })
			return m.Close()
		})
	}
}

// read reads the goldens, as many as are wanted.
func (s *session) read() (*modeltest.Goldens, error) {
	g, err := modeltest.Read(s.goldens)
	if err != nil {
		return nil, err
	}
	var cases []modeltest.Case
	for i := 0; i < len(g.Cases); i += s.every {
		cases = append(cases, g.Cases[i])
	}
	g.Cases = cases
	return g, nil
}

func jobs(g *modeltest.Goldens, setting string) []modeltest.Job {
	var all []modeltest.Job
	for _, c := range g.Cases {
		all = append(all, modeltest.Job{Case: c, Search: search.DefaultOptions(g.Settings[setting])})
	}
	return all
}

// decode translates jobs in one batch, up to so many at once as most says before each
// step.
func decode(m model.Model, all []modeltest.Job, most func() int) ([]search.Result, error) {
	return modeltest.Decode(m, all, 512, func(running int) int { return most() - running })
}

// agreement compares with Hugging Face in single precision, which single precision
// must repeat token for token but for ties.
func agreement(m *cuda.Model, t *tokenizer.Tokenizer, g *modeltest.Goldens, setting string, values map[string]any) error {
	all := jobs(g, setting)
	results, err := decode(m, all, func() int { return 64 })
	if err != nil {
		return err
	}
	same, different := 0, 0
	var ours, theirs []string
	for i, result := range results {
		ids, want := result.Tokens, all[i].Outputs[setting]
		tokens := want.IDs[len(all[i].Prefix):]
		if !want.Truncated {
			tokens = tokens[:len(tokens)-1]
		}
		switch {
		case slices.Equal(ids, tokens):
			same++
		case !want.NearTie(modeltest.TieTolerance):
			different++
		}
		ours, theirs = append(ours, t.Decode(ids)), append(theirs, want.Text)
	}
	share := float64(same) / float64(len(all))
	values["sentences"], values["identical"], values["chrF"] = len(all), share, chrF(ours, theirs)
	if m.Precision() == model.FP32 && different > 0 {
		return fmt.Errorf("%d of %d translations differ where no scores tie", different, len(all))
	}
	if share < 0.95 {
		return errors.New("fewer than 95% of translations are the same")
	}
	return nil
}

// company decodes sentences in ones and twos, and then in random company. Products of
// other sizes may round otherwise, so half precision may differ a little.
func company(m *cuda.Model, g *modeltest.Goldens, values map[string]any) error {
	half := min(100, len(g.Cases)/2)
	all := append(jobs(g, "greedy")[:half], jobs(g, "beam5")[half:2*half]...)
	alone, err := decode(m, all, func() int { return 2 })
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	same, total := 0, 0
	for range 3 {
		order := rng.Perm(len(all))
		shuffled := make([]modeltest.Job, len(all))
		for i, j := range order {
			shuffled[i] = all[j]
		}
		results, err := decode(m, shuffled, func() int { return rng.IntN(60) + 1 })
		if err != nil {
			return err
		}
		for i, j := range order {
			total++
			if slices.Equal(results[i].Tokens, alone[j].Tokens) {
				same++
			}
		}
	}
	share := float64(same) / float64(total)
	values["sentences"], values["identical"] = total, share
	if share < 0.98 {
		return errors.New("fewer than 98% of translations are the same alone and in company")
	}
	return nil
}

// leaving lets half of the sentences leave in the middle, as cancelled requests do. The
// others must end as they do without them.
func leaving(m *cuda.Model, g *modeltest.Goldens) error {
	all := jobs(g, "beam5")[:min(24, len(g.Cases))]
	want, err := decode(m, all, func() int { return len(all) })
	if err != nil {
		return err
	}
	b, err := m.NewBatch(model.Limits{Rows: 5 * len(all), MaxLength: 200})
	if err != nil {
		return err
	}
	defer b.Close()
	r := modeltest.NewRunner(b, m.Spec(), len(all))
	if err := r.Join(all, 0); err != nil {
		return err
	}
	for step := 0; b.Len() > 0; step++ {
		if step == 3 {
			for i := len(r.Jobs) - 1; i >= 0; i-- {
				if r.Jobs[i]%2 == 1 {
					r.Leave(i)
				}
			}
		}
		if err := r.Step(); err != nil {
			return err
		}
	}
	different := 0
	for i := 0; i < len(all); i += 2 {
		if !slices.Equal(r.Results[i].Tokens, want[i].Tokens) {
			different++
		}
	}
	if different > 1 { // one may round otherwise with fewer rows
		return fmt.Errorf("%d of %d sentences differ", different, len(all)/2)
	}
	return nil
}

// memory asks for more than there is, and checks that all goes on, and that what a
// batch takes is what was said.
func memory(m *cuda.Model, g *modeltest.Goldens, values map[string]any) error {
	before, err := m.Available()
	if err != nil || before < 0 {
		return err
	}
	f := m.Footprint()
	per := int64(m.Spec().MaxPositions) * (f.RowToken + f.SourceToken)
	_, err = m.NewBatch(model.Limits{Rows: int(before/per) + 1000, MaxLength: m.Spec().MaxPositions})
	if !errors.Is(err, cuda.ErrMemory) {
		return fmt.Errorf("a batch larger than the device gives %w: ErrMemory is wanted", err)
	}
	limits := model.Limits{Rows: 128, MaxLength: m.Spec().MaxPositions}
	b, err := m.NewBatch(limits)
	if err != nil {
		return err
	}
	after, err := m.Available()
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	values["said_bytes"], values["taken_bytes"] = m.StateBytes(limits), before-after
	_, err = decode(m, jobs(g, "greedy")[:min(8, len(g.Cases))], func() int { return 8 })
	return err
}
