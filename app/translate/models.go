package translate

import "context"

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
	// Pivots are those of them that texts go to by way of another language, and that one.
	Pivots(from string) map[string]string
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
