package example

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/steps/steptest"
)

// recorder is a test that notes how it fails.
type recorder struct{ failures []string }

func (r *recorder) Errorf(format string, arguments ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, arguments...))
}

func TestAssertLinear(t *testing.T) {
	if !steptest.Counts(t) {
		t.Fatal("nothing is counted")
	}
	part, whole := strings.Repeat("a", 1<<9), strings.Repeat("a", 1<<12)
	for name, work := range linear {
		steptest.AssertLinear(t, name, part, whole, work)
	}
	for name, work := range quadratic {
		var r recorder
		steptest.AssertLinear(&r, name, part, whole, work)
		if assert.Len(t, r.failures, 1, name) {
			assert.Regexp(t, `: 512 bytes take \d+ steps, 4096 bytes \d+: the exponent is (1\.[6-9]|2\.0)`, r.failures[0])
		}
	}
	var r recorder
	steptest.AssertLinear(&r, "nothing", part, whole, func(string) {})
	assert.Equal(t, []string{"nothing: no steps are counted"}, r.failures)
}
