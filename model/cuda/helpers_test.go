package cuda_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/cuda"
	"dragoman/model/cuda/cudatest"
	"dragoman/model/modeltest"
	"dragoman/model/search"
)

// load loads ONNX Runtime once for the process, which never unloads it. Package cpu
// loads it as well, as in the service.
var load = sync.OnceValues(func() (*cuda.Runtime, error) { return cuda.Load(cputest.Library()) })

func runtime(t testing.TB) *cuda.Runtime {
	t.Helper()
	cputest.Runtime(t)
	r, err := load()
	require.NoError(t, err)
	return r
}

// open exports a checkpoint and opens it on the CPU; the model is closed when the test
// ends.
func open(t testing.TB, checkpoint string, precision model.Precision) *cuda.Model {
	t.Helper()
	return openWith(t, checkpoint, precision, cuda.Options{})
}

func openWith(t testing.TB, checkpoint string, precision model.Precision, opts cuda.Options) *cuda.Model {
	t.Helper()
	r := runtime(t)
	var err error
	opts.Machine, err = cudatest.NewHost()
	require.NoError(t, err)
	m, err := r.Open(t.Context(), cputest.Exported(t, checkpoint, precision), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// maxRows is the maximum number of rows in the tests' batches.
const maxRows = 110

// decode is modeltest.Decode in a batch of up to maxRows rows.
func decode(t testing.TB, m model.Model, jobs []modeltest.Job, room func(running int) int) []search.Result {
	t.Helper()
	results, err := modeltest.Decode(m, jobs, maxRows, room)
	require.NoError(t, err)
	return results
}
