package server

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
)

// The command translates with the model of --model, or lists the existing ones before it reads a line.
func TestTranslateCommandWithAModel(t *testing.T) {
	const station, gare = "Where is the station?", "Où est la gare ?\n"
	environ := environment("MODEL_REPOSITORY=" + filepath.Join(t.TempDir(), "models"))
	for range 2 {
		r := execute(t, "", environ, "pull", "--name", "small", exported)
		require.Equal(t, cli.ExitOK, r.code, r.stderr)
	}
	for _, test := range []struct {
		name, model string
		environ     []string
		code        int
		want        string // the output, or a part of the error
	}{
		{"any", "", environ, cli.ExitOK, gare},
		{"by its name", "small", environ, cli.ExitOK, gare},
		{"in a version", "small:1", environ, cli.ExitOK, gare},
		{"unknown", "en-xx", environ, cli.ExitUsage, `there is no model "en-xx": use small`},
		{"unknown version", "small:9", environ, cli.ExitUsage, `there is no version "9" of small: use 1`},
		{"long", strings.Repeat("m", 10_000), environ, cli.ExitUsage, `…": use small`},
		{"that climbs", "../small", environ, cli.ExitUsage, `there is no model "../small"`},
		{"control characters", "\x1b[31m\n", environ, cli.ExitUsage, `there is no model "\x1b[31m\n"`},
		{"the only one", "bundled:1", environment(), cli.ExitOK, gare},
		{"another than the only one", "small", environment(), cli.ExitUsage, `there is no model "small": use bundled`},
		{"no models", "", environment("MODEL_REPOSITORY=" + t.TempDir()), cli.ExitError, "there is no model"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []string{"translate", "--from", "en", "--to", "fr", "--model", test.model}
			r := execute(t, station, test.environ, args...)
			require.Equal(t, test.code, r.code, r.stderr)
			if test.code == cli.ExitOK {
				assert.Equal(t, test.want, r.stdout)
				return
			}
			require.Len(t, r.errorLines(), 1)
			assert.Contains(t, r.errorLines()[0], test.want)
			assert.Less(t, len(r.errorLines()[0]), 400)
			assert.Empty(t, r.stdout)
		})
	}
}
