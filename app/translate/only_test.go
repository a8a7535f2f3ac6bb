package translate

import (
	"context"

	"dragoman/app/text/excerpt"
)

// Only returns a catalogue of a single model, which is always loaded. A detector detects its source languages; nil: none are
// detected.
func Only(m *Model, d Detector) Models { return only{m, d} }

type only struct {
	*Model
	detector Detector
}

func (o only) Select(name string) (Selection, error) {
	if name != "" && name != o.Name && name != o.Name+":"+o.Version {
		return nil, invalid(CodeUnknownModel, "model", "there is no model %s: leave it out, or use %s", excerpt.Quote(name), o.Name)
	}
	return o, nil
}

func (o only) Languages() []string { return o.languages }
func (o only) Detector() Detector  { return o.detector }
func (o only) Detects() bool       { return false }

func (o only) Targets(string) []string       { return o.languages }
func (only) Pivots(string) map[string]string { return nil }

func (o only) Route(from, to string) (Route, error) {
	return Route{Model: o.Name, Version: o.Version, Steps: []Step{{Model: o.Model, From: from, To: to}}}, nil
}

func (o only) Acquire(context.Context, []Handle) ([]*Model, func(), error) {
	return []*Model{o.Model}, func() {}, nil
}
