package admission

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlaces(t *testing.T) {
	p := NewPlaces(8)
	for _, test := range []struct {
		caller string
		want   int
	}{{"a", 4}, {"b", 2}, {"c", 1}, {"d", 1}, {"e", 0}} {
		got := 0
		for p.Take(test.caller) == nil {
			got++
		}
		assert.Equal(t, test.want, got, test.caller)
	}
	assert.Equal(t, &PlacesError{Taken: 8}, p.Take("e"))
	p.Leave("d")
	assert.Equal(t, &PlacesError{Taken: 4, Own: true}, p.Take("a"))
	assert.EqualError(t, p.Take("a"), "you have 4, which is your share")
	assert.NoError(t, p.Take("e"))
	for caller, n := range map[string]int{"a": 4, "b": 2, "c": 1, "e": 1} {
		for range n {
			p.Leave(caller)
		}
	}
	assert.Zero(t, p.account.Held)
}
