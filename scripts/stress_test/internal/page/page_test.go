package page

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"dragoman/scripts/bench/openloop"
	"dragoman/scripts/stress_test/internal/report"
)

var limits = report.Limits{Good: 2 * time.Second, Timeout: time.Minute}

func document() report.Document {
	phase := report.Phase{Name: "5/s", Requests: []report.Request{
		{Sample: openloop.Sample{Latency: 1500 * time.Millisecond}},
		{Sample: openloop.Sample{Err: errors.New("<script>alert(1)</script>")}},
	}}
	return report.Document{
		Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Services: []report.Service{{URL: "http://a", Model: "m", Version: "1"}},
		Settings: map[string]string{"rate": "5"}, Phases: []report.Summary{report.Summarize(phase, limits)}, Missed: []string{"p95 is 3 s"},
	}
}

func TestWrite(t *testing.T) {
	var out bytes.Buffer
	svg := Plot("<?xml version=\"1.0\"?>\n<!-- x -->\n<svg viewBox=\"0 0 1 1\"><path d=\"M0,0\"/></svg>\n")
	require.NoError(t, Write(&out, document(), limits, svg, svg))
	text := out.String()
	assert.Contains(t, text, "50.00% of requests were successful with average of 1.50s")
	assert.Contains(t, text, "http://a serves m (version 1)")
	assert.Contains(t, text, "Missed: p95 is 3 s")
	assert.Contains(t, text, "&lt;script&gt;", "what services say is text")
	assert.NotContains(t, text, "<script")
	assert.NotContains(t, text, "<?xml")
	assert.Equal(t, 2, strings.Count(text, "<svg"))
	assert.NotRegexp(t, `(src|href)=`, text, "nothing else is needed")

	// The markup is balanced: parsed and written again it has the same elements.
	tree, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	var again bytes.Buffer
	require.NoError(t, html.Render(&again, tree))
	for _, element := range []string{"table", "tr", "td", "div", "p"} {
		assert.Equal(t, strings.Count(text, "</"+element+">"), strings.Count(again.String(), "</"+element+">"), element)
	}
}

func TestWriteSweep(t *testing.T) {
	d := document()
	d.Phases = append(d.Phases, d.Phases[0])
	d.Crossing = &report.Crossing{Limit: 2, Within: 5, Beyond: 10, At: 7}
	var out bytes.Buffer
	require.NoError(t, Write(&out, d, limits))
	assert.Contains(t, out.String(), "it crosses it at about 7")
	assert.NotContains(t, out.String(), "requests were successful with", "a sweep has no one line")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestWriteFails(t *testing.T) {
	assert.ErrorContains(t, Write(full{}, document(), limits), "no room")
}
