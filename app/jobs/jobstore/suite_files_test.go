package jobstore

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
)

// withFile returns a job about a document.
func withFile(id string) jobs.Draft {
	n := job(id)
	n.Document = &jobs.Document{Name: id + ".csv", Kind: "csv", Bytes: 1<<19 + 3, Parts: 2, Columns: []string{"text"}, Secret: "secret"}
	n.File = [][]byte{bytes.Repeat([]byte("\x00\xff"), 1<<18), []byte("end")}
	return n
}

// hasFile reports whether a job's file is stored. It fails if only a part is.
func (f fixture) hasFile(t *testing.T, d jobs.Draft, want bool) {
	t.Helper()
	for i, part := range d.File {
		got, err := f.File(t.Context(), d.ID, i)
		if !want {
			assert.ErrorIs(t, err, jobs.ErrUnknown)
			continue
		}
		require.NoError(t, err)
		assert.True(t, bytes.Equal(part, got), i)
	}
}

// A file is stored as long as the results.
func testFile(t *testing.T, f fixture) {
	d := withFile("a")
	made := f.create(t, d)[0]
	assert.Equal(t, d.Document, made.Document)
	assert.Equal(t, d.Document, f.get(t, "a").Document)
	f.hasFile(t, d, true)
	for _, part := range []int{-1, 2, 1 << 30} {
		_, err := f.File(t.Context(), "a", part)
		assert.ErrorIs(t, err, jobs.ErrUnknown, part)
	}
	f.create(t, job("b"))
	_, err := f.File(t.Context(), "b", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown, "it has none")

	c := f.claim(t, jobs.Work)
	assert.Equal(t, d.Document, c.Job.Document)
	require.NoError(t, f.Save(t.Context(), c, 0, []byte("chunk"), jobs.Tally{Results: 3, Flagged: 2}))
	require.NoError(t, f.Save(t.Context(), c, 1, []byte("chunk"), jobs.Tally{Results: 2, Flagged: 1}))
	assert.Equal(t, jobs.Progress{Records: 6, Done: 5, Flagged: 3, Characters: 42}, f.get(t, "a").Progress)
	f.Store = f.Again()
	f.hasFile(t, d, true)
	f.Advance(2 * lease)
	c = f.claim(t, jobs.Work)
	if c.Job.ID != "a" {
		c = f.claim(t, jobs.Work)
	}
	f.finish(t, c)
	f.hasFile(t, d, true)
	f.Advance(ttl)
	f.hasFile(t, d, false)
	_, err = f.Sweep(t.Context())
	require.NoError(t, err)
	f.create(t, withFile("a")) // nothing is left of the other job
	f.hasFile(t, d, true)
}

func testFileOfWhatEnded(t *testing.T, f fixture) {
	for name, end := range map[string]func(id string) error{
		"cancelled": func(id string) error { _, err := f.Cancel(t.Context(), id); return err },
		"failed": func(string) error {
			return f.End(t.Context(), f.claim(t, jobs.Work), jobs.Failed, &jobs.Problem{Code: "internal"})
		},
		"removed": func(id string) error {
			f.finish(t, f.claim(t, jobs.Work))
			f.hasFile(t, withFile(id), true)
			return f.Remove(t.Context(), id)
		},
	} {
		d := withFile(name)
		f.create(t, d)
		require.NoError(t, end(name))
		f.hasFile(t, d, false)
	}
}
