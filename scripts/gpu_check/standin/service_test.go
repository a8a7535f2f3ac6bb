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

// sampled is how many of the goldens there are to one that is translated over HTTP.
const sampled = 9

// requests are people's sentences, one in each.
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

// translate sends all requests at once, each of them once.
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

// TestService translates over HTTP on two devices with a worker each, which do as the
// CPU does, also when one of them is lost meanwhile.
func TestService(t *testing.T) {
	sent := requests(t)
	want, errs := translate(t, serve(t, "DEVICE=cpu", "PRECISION=fp32"), sent)
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, c := range []struct {
		name, fault string // of the second device, once it serves
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

// TestLastDevice loses the only device: requests fail, and the process says that it is
// to be replaced.
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

// arm lets something fail from now on. The file comes whole: the stand-ins read it at
// any time.
func arm(t *testing.T, path, fault string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", []byte(fault), 0o644))
	require.NoError(t, os.Rename(path+".new", path))
}
