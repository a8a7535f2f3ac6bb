package translate

import (
	"testing"

	"dragoman/app/engine"
)

// Decoding returns a service for the languages of the corpora whose engine translates with a function.
func Decoding(t *testing.T, decode func(text string) string) *Service {
	return corpusService(t, &upper{decode: func(text string, _ engine.Job) (string, bool) { return decode(text), false }})
}
