package device_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/device"
	"dragoman/model/modeltest"
	"dragoman/model/ort/orttest"
	"dragoman/model/search"
)

// load loads ONNX Runtime once for the process, which never unloads it. Package ort
// loads it as well, as in the service.
var load = sync.OnceValues(func() (*device.Runtime, error) { return device.Load(orttest.Library()) })

func runtime(t testing.TB) *device.Runtime {
	t.Helper()
	orttest.Runtime(t)
	r, err := load()
	require.NoError(t, err)
	return r
}

// open exports a checkpoint and opens it on the CPU; the model is closed when the test
// ends.
func open(t testing.TB, checkpoint string, precision model.Precision) *device.Model {
	t.Helper()
	return openWith(t, checkpoint, precision, device.Options{})
}

func openWith(t testing.TB, checkpoint string, precision model.Precision, opts device.Options) *device.Model {
	t.Helper()
	r := runtime(t)
	opts.Kind = device.Host
	m, err := r.Open(t.Context(), device.Exported(t, checkpoint, precision), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// maxRows is how many rows the batches of tests have.
const maxRows = 110

// decode is modeltest.Decode in a batch of up to maxRows rows.
func decode(t testing.TB, m model.Model, jobs []modeltest.Job, room func(running int) int) []search.Result {
	t.Helper()
	results, err := modeltest.Decode(m, jobs, maxRows, room)
	require.NoError(t, err)
	return results
}
