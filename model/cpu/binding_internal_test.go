package cpu

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	ort "github.com/yalue/onnxruntime_go"
)

// counted is a tensor that counts how many there are.
type counted struct {
	ort.Value
	left *int
}

func (c counted) Destroy() error {
	*c.left--
	return nil
}

// TestReplaceReleases: whether it succeeds or fails, one tensor stays for each name.
func TestReplaceReleases(t *testing.T) {
	left, refusal := 0, error(nil)
	b := &binding{bound: map[string]*tensor{}}
	replace := func() error {
		left++
		return b.replace("x", &tensor{value: counted{left: &left}}, func(string, ort.Value) error { return refusal })
	}
	assert.NoError(t, replace())
	first := b.bound["x"]
	assert.NoError(t, replace())
	second := b.bound["x"]
	assert.NotSame(t, first, second)
	assert.Equal(t, 1, left)
	refusal = errors.New("no such input")
	assert.ErrorIs(t, replace(), refusal)
	assert.Same(t, second, b.bound["x"])
	assert.Equal(t, 1, left)
}
