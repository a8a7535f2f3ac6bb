package remote

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Messages of servers. A call for several answers is made again for one if it was refused for that, and for nothing else.
func TestRefusesSeveral(t *testing.T) {
	const llama = `{"error":{"code":400,"message":"Field 'n': Value must be between 1 <= value <= 2, but got 3","type":"invalid_request_error"}}`
	for _, test := range []struct {
		status  int
		message string
		want    bool
	}{
		{http.StatusBadRequest, llama, true},
		{http.StatusUnprocessableEntity, "`n` is not supported", true},
		{http.StatusBadRequest, "n must be at most 1 with greedy sampling, got 2", true},
		{http.StatusServiceUnavailable, llama, false},
		{http.StatusBadRequest, "request (12005 tokens) exceeds the available context size (2048 tokens), try increasing it", false},
		{http.StatusBadRequest, "In n languages: content unwanted", false},
	} {
		e := &CallError{Status: test.status, Err: errors.New(test.message)}
		assert.Equal(t, test.want, e.refusesSeveral(), test.message)
	}
}

func TestSingle(t *testing.T) {
	one, ok := single(`{"model":"m","n":3,"temperature":0.8}`)
	assert.True(t, ok)
	assert.JSONEq(t, `{"model":"m","temperature":0.8}`, one)
	for _, body := range []string{one, "", "[]", "{"} {
		_, ok := single(body)
		assert.False(t, ok, body)
	}
}
