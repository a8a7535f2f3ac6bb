package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"

	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
	"dragoman/app/translate"
	"dragoman/model/repository"
)

// selection implements [translate.Selection].
type selection struct {
	candidates []candidate
	pivots     []string // languages to translate through if no candidate has a pair
	languages  []string
	// near are the other codes of a language for which models use several codes. If no candidate translates a pair by the
	// language's own code, the other codes are tried: in sources any of them, in targets only those in alike, of the same script.
	near, alike map[string][]string
	known       sync.Map // results of reached, by language
	detector    translate.Detector
	detects     bool
	outage      func(Source) error // see [Config]
	promise     *promise           // of the missing models; nil: none can be fetched
}

// candidate is a model or a pipeline.
type candidate interface {
	// languages returns the source and the target languages, sorted.
	languages() (from, to []string)
	// route returns nil if the candidate does not translate between two languages.
	route(from, to string) *translate.Route
	// targets returns the languages with a route from a language, sorted, perhaps with that language itself. The caller must not
	// modify them.
	targets(from string) []string
	// detects reports whether the source language is always detected.
	detects() bool
}

func (n *inventory) newSelection(candidates []candidate) *selection {
	s := &selection{candidates: candidates, outage: n.outage}
	for _, c := range candidates {
		from, to := c.languages()
		s.languages = sortedUnion(s.languages, from, to)
	}
	if len(candidates) > 1 {
		s.findNear()
	}
	pivots := n.snapshot.Pivots
	if len(pivots) == 0 && n.fetcher != nil {
		pivots = []string{"en"} // the other language of most pairs
	}
	for _, name := range pivots {
		if code, ok := language.Find(s.languages, name); ok {
			s.pivots = append(s.pivots, code)
		}
	}
	if len(s.languages) > 0 {
		s.detector = n.detector(s.languages)
	}
	s.detects = len(candidates) == 1 && candidates[0].detects()
	return s
}

// findNear finds the codes that mean the same languages.
func (s *selection) findNear() {
	groups := make(map[string][]string)
	for _, code := range s.languages {
		group := language.Group(code)
		groups[group] = append(groups[group], code)
	}
	s.near, s.alike = make(map[string][]string), make(map[string][]string)
	for _, codes := range groups {
		for _, code := range codes {
			var others []string
			for _, other := range codes {
				if other != code && language.SameScript(code, other) {
					s.alike[code] = append(s.alike[code], other)
				} else if other != code {
					others = append(others, other)
				}
			}
			if len(codes) > 1 {
				s.near[code] = slices.Concat(s.alike[code], others)
			}
		}
	}
}

// Languages implements [translate.Selection].
func (s *selection) Languages() []string { return s.languages }

// Detector implements [translate.Selection].
func (s *selection) Detector() translate.Detector { return s.detector }

// Detects implements [translate.Selection].
func (s *selection) Detects() bool { return s.detects }

// Route implements [translate.Selection].
func (s *selection) Route(from, to string) (translate.Route, error) {
	direct := s.direct(from, to)
	if direct != nil && !s.away(direct) {
		return *direct, nil
	}
	if direct == nil {
		if err := s.fetch(from, to); err != nil {
			return translate.Route{}, err
		}
	}
	for _, pivot := range s.pivots {
		if pivot == from || pivot == to {
			continue
		}
		first, second := s.direct(from, pivot), s.direct(pivot, to)
		if first == nil || second == nil {
			continue
		}
		through := translate.Route{
			Model: first.Model + "+" + second.Model, Version: first.Version + "+" + second.Version,
			Steps: slices.Concat(first.Steps, second.Steps), InsteadOf: cmp.Or(first.InsteadOf, second.InsteadOf),
		}
		if direct == nil {
			return through, nil
		}
		if !s.away(&through) {
			through.InsteadOf = direct.Model
			return through, nil
		}
	}
	if direct != nil {
		return *direct, nil
	}
	return translate.Route{}, &translate.Error{Code: translate.CodeUnknownLanguage, Field: "toLang",
		Message: "there is no model that translates from " + excerpt.Quote(from) + " into " + excerpt.Quote(to)}
}

// direct returns the route of the first candidate for a pair, by its codes or by near ones, whose models are not away, or else the first
// of all; nil if there is none.
func (s *selection) direct(from, to string) *translate.Route {
	r := s.exact(from, to)
	if r != nil && !s.away(r) || slices.Contains(s.near[from], to) {
		return r
	}
	for _, from := range append([]string{from}, s.near[from]...) {
		for _, to := range append([]string{to}, s.alike[to]...) {
			found := s.exact(from, to)
			switch {
			case found == nil:
			case s.away(found):
				r = cmp.Or(r, found)
			case r == nil:
				return found
			default:
				found.InsteadOf = r.Model
				return found
			}
		}
	}
	return r
}

func (s *selection) exact(from, to string) *translate.Route {
	var preferred *translate.Route // whose model is away
	for _, c := range s.candidates {
		r := c.route(from, to)
		switch {
		case r == nil:
		case s.away(r):
			preferred = cmp.Or(preferred, r)
		case preferred == nil:
			return r
		default:
			r.InsteadOf = preferred.Model
			return r
		}
	}
	return preferred
}

// away reports whether a model of a route cannot translate at present.
func (s *selection) away(r *translate.Route) bool {
	return s.outage != nil && slices.ContainsFunc(r.Steps, func(step translate.Step) bool {
		of := step.Model.(handle).version.source
		return of.Config.OpenAI != nil && s.outage(of) != nil
	})
}

// Targets implements [translate.Selection].
func (s *selection) Targets(from string) []string {
	direct := s.reached(from)
	if slices.Equal(direct, s.languages) {
		return s.languages
	}
	through := slices.Sorted(maps.Keys(s.Pivots(from)))
	return slices.DeleteFunc(sortedUnion([]string{from}, direct, through), func(code string) bool { return !has(s.languages, code) })
}

// Pivots implements [translate.Selection].
func (s *selection) Pivots(from string) map[string]string {
	direct := s.reached(from)
	pivots := map[string]string{}
	for _, pivot := range s.pivots {
		if pivot == from || !slices.Contains(direct, pivot) {
			continue
		}
		for _, to := range s.reached(pivot) {
			if to != from && pivots[to] == "" && !slices.Contains(direct, to) {
				pivots[to] = pivot
			}
		}
	}
	return pivots
}

// reached returns the languages into which one candidate alone translates; see direct.
func (s *selection) reached(from string) []string {
	known, ok := s.known.Load(from)
	if !ok {
		known, _ = s.known.LoadOrStore(from, s.reach(from))
	}
	return known.([]string)
}

func (s *selection) reach(from string) []string {
	exact := s.reachedExactly(from)
	if len(s.near) == 0 || len(exact) == len(s.languages) {
		return exact
	}
	all, added := exact, []string(nil)
	for _, other := range s.near[from] {
		all = sortedUnion(all, s.reachedExactly(other))
	}
	for code, alike := range s.alike {
		if !has(all, code) && slices.ContainsFunc(alike, func(other string) bool { return has(all, other) }) {
			added = append(added, code)
		}
	}
	if len(added) == 0 && len(s.near[from]) == 0 {
		return exact
	}
	return slices.DeleteFunc(sortedUnion(all, added), func(code string) bool {
		return (code == from || slices.Contains(s.near[from], code)) && !has(exact, code)
	})
}

// has reports whether a sorted list contains a code.
func has(sorted []string, code string) bool {
	_, ok := slices.BinarySearch(sorted, code)
	return ok
}

func (s *selection) reachedExactly(from string) (all []string) {
	for _, c := range s.candidates {
		switch to := c.targets(from); {
		case len(all) == 0:
			all = to
		case len(to) > 0 && !slices.Equal(all, to): // models of one family have equal lists
			all = sortedUnion(all, to)
		}
	}
	return all
}

// handle implements candidate for one model.

func (h handle) languages() (from, to []string) { return h.version.from, h.version.to }
func (h handle) detects() bool                  { return false }

func (h handle) targets(from string) []string { return h.version.targets[from] }

func (h handle) route(from, to string) *translate.Route {
	if !has(h.version.targets[from], to) {
		return nil
	}
	return &translate.Route{Model: h.version.source.Name, Version: h.version.source.Version,
		Steps: []translate.Step{{Model: h, From: from, To: to}}}
}

// pipeline is a series of models.
type pipeline struct {
	name, version string
	steps         []pipelineStep
	detect        bool
}

// pipelineStep is a model that translates into a language; "" is the target language of the request.
type pipelineStep struct {
	handle
	to string
	as string // the code of that language in the next step
}

// newPipeline resolves the steps of a pipeline. It fails if one of the pipeline's models is not served.
func (n *inventory) newPipeline(p repository.Pipeline) (*pipeline, error) {
	made := &pipeline{name: p.Name, version: strconv.Itoa(p.Version)}
	for _, step := range p.Steps {
		if step.Detect {
			made.detect = true
			continue
		}
		s, err := n.step(step)
		if err != nil {
			return nil, err
		}
		made.steps = append(made.steps, s)
	}
	for i, next := range made.steps[1:] {
		from, _ := next.languages()
		if code, ok := language.Find(from, made.steps[i].to); ok {
			made.steps[i].as = code
		}
	}
	return made, nil
}

func (n *inventory) step(step repository.Step) (made pipelineStep, err error) {
	name := step.Model.Name
	if m := n.models[name]; m == nil && n.absent[step.Model.String()] != nil {
		return made, n.absent[step.Model.String()]
	} else if m == nil {
		return made, unknown("a pipeline needs the model %s, which is not served", name)
	} else if step.Model.Version == 0 {
		made.handle = handle{version: m.current}
	} else {
		var found *selection
		if found, err = n.version(m, name, strconv.Itoa(step.Model.Version)); err == nil {
			made.handle = found.candidates[0].(handle)
		}
	}
	if err != nil || step.To == "" {
		return made, err
	}
	_, to := made.languages()
	var ok bool
	if made.to, ok = language.FindTarget(to, step.To); !ok {
		return made, unknown("a pipeline needs the model %s to translate into %s, which it does not", name, excerpt.Quote(step.To))
	}
	return made, nil
}

func (p *pipeline) languages() (from, to []string) {
	from, _ = p.steps[0].languages()
	last := p.steps[len(p.steps)-1]
	if last.to != "" {
		return from, []string{last.to}
	}
	_, to = last.languages()
	return from, to
}

func (p *pipeline) detects() bool { return p.detect }

// lead returns the last step, and the route of a text up to that step. A step into the language that the text already has is
// skipped. If ok is false, there is no route.
func (p *pipeline) lead(from string) (steps []translate.Step, at string, last pipelineStep, ok bool) {
	at, last = from, p.steps[len(p.steps)-1]
	for _, step := range p.steps[:len(p.steps)-1] {
		if step.to == at {
			continue
		}
		part := step.route(at, step.to)
		if part == nil {
			return nil, "", last, false
		}
		steps, at = append(steps, part.Steps...), step.as
	}
	return steps, at, last, true
}

func (p *pipeline) route(from, to string) *translate.Route {
	steps, at, last, ok := p.lead(from)
	if !ok || last.to != "" && last.to != to {
		return nil
	}
	if at != to {
		part := last.route(at, to)
		if part == nil {
			return nil
		}
		steps = append(steps, part.Steps...)
	}
	if len(steps) == 0 {
		return nil
	}
	return &translate.Route{Model: p.name, Version: p.version, Steps: steps}
}

func (p *pipeline) targets(from string) []string {
	_, at, last, ok := p.lead(from)
	switch {
	case !ok:
		return nil
	case last.to == "":
		return sortedUnion(last.targets(at), []string{at}) // because the last step is skipped for a text already in its target language
	case p.route(from, last.to) == nil:
		return nil
	}
	return []string{last.to}
}
