package server

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/model"
)

// TestSignalAtStart ends the program while it makes the model's folder, and while it waits for another process that does. It
// leaves no temporary files. A service that is told to stop has not failed; an interrupted pull has.
func TestSignalAtStart(t *testing.T) {
	for _, test := range []struct {
		args    []string
		message string
		locked  bool
		code    int
	}{
		{[]string{"serve"}, "exporting the model", false, cli.ExitOK},
		{[]string{"serve"}, "waiting for another process that prepares this model", true, cli.ExitOK},
		{[]string{"pull"}, "waiting for another process that prepares this model", true, 128 + int(syscall.SIGTERM)},
	} {
		t.Run(strings.Join(test.args, " ")+" "+test.message, func(t *testing.T) {
			dir := t.TempDir()
			if test.locked {
				other := flock.New(filepath.Join(dir, ".dragoman.lock"))
				require.NoError(t, other.Lock())
				defer other.Unlock()
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Args = append([]string{"dragoman"}, test.args...)
			cmd.Env = append(os.Environ(), environment(asProgram+"=1", "SAVE_WEIGHTS="+dir)...)
			stderr, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			waiting := bufio.NewScanner(stderr)
			for waiting.Scan() && !strings.Contains(waiting.Text(), test.message) {
			}
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			for waiting.Scan() {
			}
			_ = cmd.Wait() // the exit code says it
			assert.Equal(t, test.code, cmd.ProcessState.ExitCode())
			left, err := filepath.Glob(filepath.Join(dir, ".dragoman-*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestDamagedExport: the service starts with a damaged file of the bundled model.
func TestDamagedExport(t *testing.T) {
	dir := copyExport(t)
	flip(t, filepath.Join(dir, model.WeightsFile))
	require.NoError(t, os.Truncate(filepath.Join(dir, model.VocabFile), 100))
	r := execute(t, "", environment("SAVE_WEIGHTS="+dir), "translate", "--from", "en", "--to", "fr", "Where is the station?")
	assert.Equal(t, cli.ExitOK, r.code)
	assert.Equal(t, "Où est la gare ?\n", r.stdout)
	assert.Contains(t, r.stderr, `"level":"WARN","msg":"exporting the damaged model again"`)
}

// A served model has the name that pull gives it, which has no secrets of its URL.
func TestModelName(t *testing.T) {
	for weights, want := range map[string]string{
		"": "bundled", "facebook/m2m100_418M@v1": "m2m100_418M", "/models/my model": "my-model", "en_fr.argosmodel": "en_fr", "firefox:en-de": "firefox-en-de",
		"https://me:secret@host/m2m?key=secret": "m2m", "https://host": "model", "./ß": "model",
	} {
		assert.Equal(t, want, (&loader{cfg: config.Config{Weights: weights}}).modelName(), weights)
	}
}
