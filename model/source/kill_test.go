package source_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

const (
	killStop     = 123_456 // bytes of the weights that the child gets
	killEndpoint = "DRAGOMAN_TEST_KILL_ENDPOINT"
	killDir      = "DRAGOMAN_TEST_KILL_DIR"
)

// A killed process leaves no lock behind and its bytes are of use. The test runs
// itself as the process to kill.
func TestPullGoesOnAfterItsProcessWasKilled(t *testing.T) {
	if endpoint := os.Getenv(killEndpoint); endpoint != "" {
		pullUntilKilled(t, endpoint, os.Getenv(killDir))
		return
	}
	files := repoFiles()
	s := hubtest.New(t, repo, files)
	s.Fail(hubtest.Fault{File: weight, StallAfter: killStop})
	dir := t.TempDir()

	child := exec.Command(os.Args[0], "-test.run=^TestPullGoesOnAfterItsProcessWasKilled$")
	child.Env = append(os.Environ(), killEndpoint+"="+s.Endpoint, killDir+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait(), "killed")
	require.NoError(t, err)
	require.Equal(t, "stopped\n", line)

	_, err = newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	assertHolds(t, dir, files, usual...)
	assert.EqualValues(t, size, s.Sent(weight), "no byte twice")
}

// pullUntilKilled pulls and says when it has the bytes before the stall.
func pullUntilKilled(t *testing.T, endpoint, dir string) {
	c, err := source.New(source.Config{
		Endpoint: endpoint,
		Progress: meter(func(file string, done int64) {
			if file == weight && done == killStop {
				fmt.Println("stopped")
			}
		}).progress,
	})
	require.NoError(t, err)
	c.SetAccept(anyModel)
	_, err = c.Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
}
