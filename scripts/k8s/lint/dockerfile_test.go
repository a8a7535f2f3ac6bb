package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/config"
)

// The images set only variables that the program knows, keep its files in volumes, and agree with each other and with
// compose.yaml.
func TestDockerfile(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(folder, "..", "Dockerfile"))
	require.NoError(t, err)
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(raw), "")
	text = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(text, "")
	known := map[string]bool{"XDG_CACHE_HOME": true, "XDG_DATA_HOME": true}
	for _, v := range config.Variables() {
		known[v.Name] = true
	}
	for _, target := range []string{"cpu", "cuda"} {
		_, stage, found := strings.Cut(text, " AS "+target+"\n")
		require.True(t, found, target)
		stage, _, _ = strings.Cut(stage, "\nFROM ")
		value := func(instruction string) string {
			_, rest, found := strings.Cut(stage, "\n"+instruction+" ")
			require.True(t, found, "%s: %s", target, instruction)
			line, _, _ := strings.Cut(rest, "\n")
			return line
		}
		environ := strings.Fields(value("ENV"))
		for _, e := range environ {
			name, _, _ := strings.Cut(e, "=")
			assert.True(t, known[name], "%s: the service does not know %s", target, name)
		}
		settings, err := config.Parse(environ)
		require.NoError(t, err, target)
		assert.Equal(t, "/usr/local/share/dragoman/bundled", settings.Weights, target)
		assert.Subset(t, environ, []string{"XDG_CACHE_HOME=/models", "XDG_DATA_HOME=/data"}, "%s: for models; for jobs and glossaries", target)
		assert.Equal(t, `["/models", "/data"]`, value("VOLUME"), target)
		assert.EqualValues(t, "9527 8001", value("EXPOSE"), target)
		assert.Equal(t, 9527, settings.Port, target)
		assert.Equal(t, 8001, settings.GRPCPort, target)
	}
	// The folders belong to the service's user.
	assert.Contains(t, text, "mkdir -p /out/volumes/models /out/volumes/data;")
	assert.Equal(t, 2, strings.Count(text, "COPY --from=build --chown=65532:65532 /out/volumes/ /"))
}
