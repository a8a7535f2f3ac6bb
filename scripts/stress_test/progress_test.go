package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/scripts/bench/openloop"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := &progress{out: &out}
	p.begin("10/s", 3)
	p.done(openloop.Sample{})
	p.done(openloop.Sample{Err: openloop.ErrNotSent})
	p.end()
	assert.Contains(t, out.String(), "1/3") // what comes right after is not drawn
	assert.Equal(t, 1, p.failed)

	p.begin("0/s", 0) // nothing is due
	p.end()

	out.Reset()
	p = newProgress(&out, false)
	p.begin("10/s", 3)
	p.done(openloop.Sample{})
	p.end()
	assert.Empty(t, out.String(), "it is no terminal")
}
