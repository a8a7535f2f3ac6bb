package translate

import "context"

// Models provides the models of a [Service], which knows neither which models exist nor where they run. It is safe for concurrent
// use.
type Models interface {
	// Select returns the models that a request may use that names model, or none with "". The error is an [*Error] with
	// CodeUnknownModel if there is no such model.
	Select(model string) (Selection, error)
	// Acquire returns the models of handles, in order, when all are loaded. They stay loaded until release is called, once. No
	// request holds some of its models while it waits for others, so requests cannot deadlock.
	Acquire(ctx context.Context, handles []Handle) (models []*Model, release func(), err error)
	// Healthy fails if translations have stopped.
	Healthy() error
}

// Selection is the models that a request may use. It is immutable.
type Selection interface {
	// Languages returns the codes of the offered languages, sorted. The caller must not modify them.
	Languages() []string
	// Detector returns the detector of the source language, which prefers one of the offered ones, or nil: then no source
	// language can be [Auto].
	Detector() Detector
	// Detects reports whether the source language is detected even if a request names one.
	Detects() bool
	// Route returns the route between two different languages of the selection. The error is an [*Error] if there is none.
	Route(from, to string) (Route, error)
	// Targets returns the codes of the target languages for texts in a language, sorted: that language itself, which needs no
	// model, and the languages to which there is a route. The caller must not modify them.
	Targets(from string) []string
	// Pivots maps target languages that are reached through another language to that language.
	Pivots(from string) map[string]string
}

// Detector detects the language of a text, which may be one that is not offered. ok is false for texts without letters. It is
// safe for concurrent use.
type Detector interface {
	Detect(text string) (code string, confidence float64, ok bool)
}

// Route leads from one language to another in one or more steps. Each step translates the result of the step before.
type Route struct {
	Model, Version string // the model or pipeline that the request named, or that was chosen
	Steps          []Step // at least one
	// InsteadOf is the preferred model, if that cannot translate at present.
	InsteadOf string
}

// Step is a translation by one model.
type Step struct {
	Model    Handle
	From, To string // codes of the model's languages
}

// Handle identifies a model that may have to be loaded before use, within its [Models]. Handles of the same model are equal.
type Handle any
