package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Models are what a [Service] translates with. It knows neither which models there are nor
// where they run. They are safe for concurrent use.
type Models interface {
	// Select returns what a request may use that names a model, or with "" none. The error
	// is an [*Error] with CodeUnknownModel where there is no such model.
	Select(model string) (Selection, error)
	// Acquire returns the models of handles, in their order, when all of them are loaded. They
	// stay so until release is called, once. No request has some of its models while it waits
	// for others, so that requests do not wait for each other.
	Acquire(ctx context.Context, handles []Handle) (models []*Model, release func(), err error)
	// Healthy fails where translations do not go on.
	Healthy() error
}

// Selection are the models that a request may use. It does not change.
type Selection interface {
	// Languages are the codes of the languages that are offered, sorted. They are not to
	// be changed.
	Languages() []string
	// Detector tells which language a text is in, one of them more likely than others; nil: no source language can be [Auto].
	Detector() Detector
	// Detects says that the source language is detected, whatever a request says.
	Detects() bool
	// Route is how to translate between two different ones of them. The error is an
	// [*Error] where no model does.
	Route(from, to string) (Route, error)
	// Targets are the codes of the languages that texts in one of them can be had in, sorted:
	// that one, which needs no model, and those that there is a route to. They are not to be
	// changed.
	Targets(from string) []string
}

// Detector tells in which language a text is, which may be one that is not offered. ok is false for
// texts without letters. It is safe for concurrent use.
type Detector interface {
	Detect(text string) (code string, confidence float64, ok bool)
}

// Route is how texts in one language become texts in another: by one step or more, each of
// which translates what came of the one before.
type Route struct {
	Model, Version string // that the request named, or that was chosen: a model or a pipeline
	Steps          []Step // one at least
}

// Step is a translation by one model.
type Step struct {
	Model    Handle
	From, To string // codes of the model's languages
}

// Handle is a model that may have to be loaded before it can be used, as the [Models] that it
// is from know it. Handles of the same model are equal.
type Handle any

// Only is a single model, which is always loaded. Its source languages are detected where
// there is a detector.
func Only(m *Model, d Detector) Models { return only{m, d} }

type only struct {
	*Model
	detector Detector
}

func (o only) Select(name string) (Selection, error) {
	if name != "" && name != o.Name && name != o.Name+":"+o.Version {
		return nil, invalid(CodeUnknownModel, "model", "there is no model %s: leave it out, or use %s", quote(name), o.Name)
	}
	return o, nil
}

func (o only) Languages() []string { return o.languages }
func (o only) Detector() Detector  { return o.detector }
func (o only) Detects() bool       { return false }

func (o only) Targets(string) []string { return o.languages }

func (o only) Route(from, to string) (Route, error) {
	return Route{Model: o.Name, Version: o.Version, Steps: []Step{{Model: o.Model, From: from, To: to}}}, nil
}

func (o only) Acquire(context.Context, []Handle) ([]*Model, func(), error) {
	return []*Model{o.Model}, func() {}, nil
}

// hop is a step of a route whose model is loaded.
type hop struct {
	model    *Model
	lane     *lane
	from, to string
	prefix   []int64 // tokens that its translations begin with; not to be changed
	options  string  // all that a translation depends on beside its text, languages and model
	next     *hop    // that translates what comes of this one; nil: it is the last
}

// route is a [Route] whose models are loaded.
type route struct {
	Route
	first   *hop
	exports map[string]string // see [Result.Exports]
}

// pair is from where to where a route leads.
func (r *route) pair() pair { return pair{r.Steps[0].From, r.Steps[len(r.Steps)-1].To} }

// maxLength is the most tokens that a translation may have in each of its steps.
func (r *route) maxLength() int {
	length := r.first.model.Limits.MaxLength
	for h := r.first; h != nil; h = h.next {
		length = min(length, h.model.Limits.MaxLength)
	}
	return length
}

// findRoutes finds the routes from the languages of the records, and has their models
// loaded. Languages that were detected may have none.
func (w *work) findRoutes(ctx context.Context, from []string) error {
	if w.from != Auto {
		from = []string{w.from} // also without records: options are checked in any case
	}
	found := make(map[pair]Route)
	w.asked = make(map[modelName]bool)
	var handles []Handle
	for _, from := range from {
		for _, to := range w.to {
			p := pair{from, to}
			if _, known := found[p]; known || from == "" || from == to {
				continue
			}
			r, err := w.routeOf(from, to)
			if refused, ok := errors.AsType[*Error](err); ok && w.from == Auto && refused.Code == CodeUnknownLanguage {
				continue
			}
			if err != nil {
				return err
			}
			found[p] = r
			w.asked[modelName{r.Model, r.Version}] = true
			for _, step := range r.Steps {
				if !slices.Contains(handles, step.Model) {
					handles = append(handles, step.Model)
				}
			}
		}
	}
	if err := w.acquire(ctx, handles); err != nil {
		return err
	}
	for p, r := range found {
		w.routes[p] = w.newRoute(r)
		if err := w.checkAlternatives(w.lanes[r.Steps[len(r.Steps)-1].Model].model); err != nil {
			return err
		}
	}
	return nil
}

// routeOf is the way from a language, which may be none of the selection's, into another.
func (w *work) routeOf(from, to string) (Route, error) {
	if !slices.Contains(w.selection.Languages(), from) {
		return Route{}, invalid(CodeUnknownLanguage, "fromLang", "%s is not a language of this model", quote(from))
	}
	return w.selection.Route(from, to)
}

// acquire has models loaded, and makes their lanes.
func (w *work) acquire(ctx context.Context, handles []Handle) error {
	if len(handles) == 0 {
		return nil
	}
	models, release, err := w.service.cfg.Models.Acquire(ctx, handles)
	if err != nil {
		return err
	}
	w.release = release
	for i, m := range models {
		options, err := m.search(w.req.Options)
		if err != nil {
			return err
		}
		w.lanes[handles[i]] = &lane{work: w, model: m, search: options, decoding: make(map[int]*sentence)}
	}
	return nil
}

// newRoute makes a route whose models have lanes.
func (w *work) newRoute(found Route) *route {
	r := &route{Route: found, exports: make(map[string]string)}
	for _, step := range slices.Backward(found.Steps) {
		l := w.lanes[step.Model]
		r.exports[l.model.Name+":"+l.model.Version] = l.model.Identity
		r.first = &hop{
			model: l.model, lane: l, from: step.From, to: step.To, prefix: l.model.prefixOf(step.From, step.To),
			options: fmt.Sprintf("%+v", w.settings(l)), next: r.first,
		}
	}
	if m := r.first.model; len(r.Steps) == 1 && r.Model == m.Name {
		r.Version = m.Version // another one may have taken over since
	}
	return r
}
