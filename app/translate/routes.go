package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dragoman/app/text/excerpt"
)

// step is a [Step] whose model is loaded.
type step struct {
	*stream
	from, to string
	framing  int     // number of special tokens around the text of a source
	prefix   []int64 // first tokens of its translations; read-only
	options  string  // all parameters of a translation except its text, languages and model
	next     *step   // the step that translates the result of this one; nil for the last
}

// route is a [Route] whose models are loaded.
type route struct {
	Route
	first   *step
	exports map[string]string // see [Result.Exports]
}

// pair returns the source and target language of a route.
func (r *route) pair() pair { return pair{r.Steps[0].From, r.Steps[len(r.Steps)-1].To} }

// maxLength returns the maximum number of tokens of a translation in each of its steps.
func (r *route) maxLength() int {
	length := r.first.model.Limits.MaxLength
	for s := r.first; s != nil; s = s.next {
		length = min(length, s.model.Limits.MaxLength)
	}
	return length
}

// routing is a validated request with the routes of its records.
type routing struct {
	service   *Service
	req       Request
	selection Selection
	from      string   // the code of the source language, or Auto
	to        []string // codes of the target languages
	memory    Memory   // nil for none

	routes  map[pair]*route
	streams map[Handle]*stream // streams to the engines of the routes' models
	release func()             // releases these models
	asked   map[modelName]bool // models and pipelines of the routes, even if not loaded
}

// begin validates a request.
func (s *Service) begin(ctx context.Context, req Request) (*routing, error) {
	selection, err := s.cfg.Models.Select(req.Model)
	if err != nil {
		return nil, err
	}
	if selection.Detects() {
		req.From = Auto
	}
	from, to, err := languagesOf(selection, req)
	if err != nil {
		return nil, err
	}
	if err := s.validate(ctx, req); err != nil {
		return nil, err
	}
	memory, err := s.openMemory(ctx, req)
	if err != nil {
		return nil, err
	}
	return &routing{service: s, req: req, selection: selection, from: from, to: to, memory: memory, release: func() {},
		routes: make(map[pair]*route), streams: make(map[Handle]*stream)}, nil
}

// findRoutes finds the routes from the languages of the records, and loads their models. Detected languages may have no route.
func (g *routing) findRoutes(ctx context.Context, from []string) error {
	if g.from != Auto {
		from = []string{g.from} // also without records: options are always checked
	}
	found := make(map[pair]Route)
	g.asked = make(map[modelName]bool)
	var handles []Handle
	for _, from := range from {
		for _, to := range g.to {
			p := pair{from, to}
			if _, known := found[p]; known || from == "" || from == to {
				continue
			}
			r, err := g.routeOf(from, to)
			if refused, ok := errors.AsType[*Error](err); ok && g.from == Auto && refused.Code == CodeUnknownLanguage {
				continue
			}
			if err != nil {
				return err
			}
			found[p] = r
			g.asked[modelName{r.Model, r.Version}] = true
			for _, step := range r.Steps {
				if !slices.Contains(handles, step.Model) {
					handles = append(handles, step.Model)
				}
			}
		}
	}
	if err := g.acquire(ctx, handles); err != nil {
		return err
	}
	for p, r := range found {
		g.routes[p] = g.newRoute(r)
		if err := g.checkAlternatives(g.streams[r.Steps[len(r.Steps)-1].Model].model); err != nil {
			return err
		}
	}
	return nil
}

// routeOf returns the route from a language, which may be missing from the selection, into another.
func (g *routing) routeOf(from, to string) (Route, error) {
	if !slices.Contains(g.selection.Languages(), from) {
		return Route{}, invalid(CodeUnknownLanguage, "fromLang", "%s is not a language of this model", excerpt.Quote(from))
	}
	return g.selection.Route(from, to)
}

// acquire loads models, and creates their streams.
func (g *routing) acquire(ctx context.Context, handles []Handle) error {
	if len(handles) == 0 {
		return nil
	}
	models, release, err := g.service.cfg.Models.Acquire(ctx, handles)
	if err != nil {
		return err
	}
	g.release = release
	for i, m := range models {
		options, err := m.search(g.req.Options)
		if err != nil {
			return err
		}
		g.streams[handles[i]] = &stream{model: m, search: options, decoding: make(map[int]*sentence)}
	}
	return nil
}

// newRoute returns a route whose models have streams.
func (g *routing) newRoute(of Route) *route {
	r := &route{Route: of, exports: make(map[string]string)}
	for _, found := range slices.Backward(of.Steps) {
		s := g.streams[found.Model]
		r.exports[s.model.Name+":"+s.model.Version] = s.model.Identity
		r.first = &step{
			stream: s, from: found.From, to: found.To, framing: s.model.framingOf(found.From, found.To), prefix: s.model.prefixOf(found.From, found.To),
			options: fmt.Sprintf("%+v", g.settings(s)), next: r.first,
		}
	}
	if m := r.first.model; len(r.Steps) == 1 && r.Model == m.Name {
		r.Version = m.Version // another version may have become current since
	}
	return r
}
