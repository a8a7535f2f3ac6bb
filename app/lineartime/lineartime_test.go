package lineartime

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// recorder is a test that notes how it fails.
type recorder struct{ failures []string }

func (r *recorder) Errorf(format string, arguments ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, arguments...))
}

func (r *recorder) FailNow() {}

func TestAssert(t *testing.T) {
	part, whole := strings.Repeat("a", 1<<9), strings.Repeat("a", 1<<13)
	var sum int
	count := func(text string) {
		for i := range len(text) {
			sum += int(text[i])
		}
	}
	for name, test := range map[string]struct {
		work     func(string)
		failures int
	}{
		"nothing": {work: func(string) {}},
		"linear":  {work: count},
		"linear, slow": {work: func(text string) {
			for range 100 {
				count(text)
			}
		}},
		"n log n": {work: func(text string) {
			for n := len(text); n > 0; n /= 2 {
				count(text)
			}
		}},
		"quadratic": {failures: 1, work: func(text string) {
			for i := range len(text) {
				count(text[i:])
			}
		}},
		"quadratic beside what is linear": {failures: 1, work: func(text string) {
			for range 100 {
				count(text)
			}
			for i := 0; i < len(text); i += 10 {
				count(text[i:])
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			Assert(&r, name, part, whole, test.work)
			if assert.Len(t, r.failures, test.failures) && test.failures > 0 {
				assert.Contains(t, r.failures[0], name+": 8192 bytes take ")
			}
		})
	}
	assert.NotZero(t, sum)
}
