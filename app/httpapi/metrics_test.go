package httpapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMetricsOfReadiness(t *testing.T) {
	a, _ := newAPI(counting)
	metrics := func() string { return do(a.Handler(), "GET", metricsPath, "").Body.String() }
	assert.Contains(t, metrics(), "dragoman_ready 1\n")
	assert.Contains(t, metrics(), `dragoman_model_info{device="",precision="int8",revision="abc",source="owner/name",version="v1.2"} 1`)
	a.Ready(stuck{}, Model{Device: "cuda"})
	assert.Contains(t, metrics(), "dragoman_ready 0\n")
	assert.NotContains(t, metrics(), `source="owner/name"`)
	assert.Contains(t, metrics(), `device="cuda"`)
}

func TestModelInfoHasNoSecrets(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"facebook/m2m100_418M", "facebook/m2m100_418M"},
		{"/models/small", "/models/small"},
		{"", ""},
		{"https://user:password@example.org/m.tar?token=secret#part", "https://example.org/m.tar"},
		{"/models/\xff", "/models/?"}, // no label could have it
	} {
		assert.Equal(t, test.want, Model{Source: test.source}.labels("")["source"])
	}
}
