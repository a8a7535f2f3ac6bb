package standin

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/client"
	"dragoman/model/modeltest"
)

// sampled is the step through the goldens: every 9th is translated over HTTP.
const sampled = 9

// requests returns a request for each sampled golden from the held-out set, which was written by people.
func requests(t *testing.T) (all []client.Request) {
	t.Helper()
	goldens, err := modeltest.Read(filepath.Join(root, "model/testdata/bundled.json.gz"))
	require.NoError(t, err)
	for i := 0; i < len(goldens.Cases); i += sampled {
		if c := goldens.Cases[i]; c.Set == "held-out" {
			all = append(all, client.Request{From: c.From, To: c.To, Records: []client.Record{{Text: c.Text}}})
		}
	}
	return all
}

// translate sends all requests concurrently, without retries.
func translate(t *testing.T, address string, requests []client.Request) ([]string, []error) {
	t.Helper()
	c, err := client.New(client.Config{URL: address, Retries: -1})
	require.NoError(t, err)
	texts, errs := make([]string, len(requests)), make([]error, len(requests))
	done := make(chan struct{})
	for i, r := range requests {
		go func() {
			defer func() { done <- struct{}{} }()
			results, err := c.Translate(t.Context(), r)
			if errs[i] = err; err == nil {
				texts[i] = results[0].Text
			}
		}()
	}
	for range requests {
		<-done
	}
	return texts, errs
}

// TestService translates over HTTP on two devices, with a worker each. The translations must equal the CPU's, also if a device
// is lost on the way.
func TestService(t *testing.T) {
	sent := requests(t)
	want, errs := translate(t, serve(t, "DEVICE=cpu", "PRECISION=fp32"), sent)
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, c := range []struct {
		name, fault string // of the second device, from the moment it serves
		lost        int
	}{
		{"nothing fails", "", 0},
		{"lost when a step starts", "cuGraphLaunch 700 1 9", 1},
		{"lost in a step", "cuStreamSynchronize 719 1 9", 1},
		{"lost in the encoder", "cublasSgemm_v2 700 1 9", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			fault := filepath.Join(t.TempDir(), "fault")
			address := serve(t, "DEVICE=cuda", "CUDA_DEVICES=0,1", "PRECISION=fp32", "STANDIN_FAULT="+fault)
			arm(t, fault, c.fault)
			got, errs := translate(t, address, sent)
			for _, err := range errs {
				assert.NoError(t, err)
			}
			assert.Equal(t, want, got)
			_, metrics := get(t, address+"/metrics")
			assert.Contains(t, metrics, "\ndragoman_workers{model=\"bundled\",version=\"1\"} 2\n")
			assert.Contains(t, metrics, fmt.Sprintf("\ndragoman_workers_lost{model=\"bundled\",version=\"1\"} %d\n", c.lost))
			assert.Contains(t, metrics, `device="cuda"`)
			status, _ := get(t, address+"/healthz")
			assert.Equal(t, http.StatusOK, status)
		})
	}
}

// TestLastDevice loses the only device: requests fail, and /healthz asks for a new process.
func TestLastDevice(t *testing.T) {
	fault := filepath.Join(t.TempDir(), "fault")
	address := serve(t, "DEVICE=cuda", "CUDA_DEVICES=0", "STANDIN_FAULT="+fault)
	status, _ := get(t, address+"/healthz")
	require.Equal(t, http.StatusOK, status)
	arm(t, fault, "cuGraphLaunch 700 0 9")
	_, errs := translate(t, address, requests(t)[:10])
	failed := 0
	for _, err := range errs {
		if err != nil {
			failed++
		}
	}
	assert.Positive(t, failed)
	status, body := get(t, address+"/healthz")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, body, "lost")
	_, metrics := get(t, address+"/metrics")
	assert.Contains(t, metrics, "\ndragoman_workers_lost{model=\"bundled\",version=\"1\"} 1\n")
}

// arm sets a fault from now on. It renames a complete file, because the stand-ins may read it at any time.
func arm(t *testing.T, path, fault string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", []byte(fault), 0o644))
	require.NoError(t, os.Rename(path+".new", path))
}
