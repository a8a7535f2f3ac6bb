package same

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// run runs a command of a build in a folder, with added variables, and returns its exit code and output.
func run(t *testing.T, program, models, dir, stdin string, added []string, args ...string) string {
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, environment(t, models, added...), strings.NewReader(stdin)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	text := fmt.Sprintf("%d\n%s\n%s", cmd.ProcessState.ExitCode(), out.String(), log.String())
	return strings.NewReplacer(program, "dragoman", models, "MODELS", dir, "DIR").Replace(text)
}

// compareCommands compares the output of commands.
func compareCommands(t *testing.T) {
	models, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lines.txt"), []byte("Good morning.\nWhere is the station?\n"), 0o600))
	commands := []string{"", "version", "nonsense", "serve x", "translate", "translate -f en -t fr Good", "translate -f en -t xx Good", "translate -f en -t ja --file lines.txt",
		"translate -f auto -t de --beams 4", "translate -f en -t fr --file none.txt", "pull", "pull none", "models", "models --repository none", "key one rate=10/s", "key one rate=x"}
	for _, command := range strings.Fields("serve completion glossaries health jobs key live mcp models monitor pull translate version") {
		commands = append(commands, command+" --help", command+" --nonsense", command+" a b c d --url x")
	}
	for _, shell := range strings.Fields("bash zsh fish powershell") {
		commands = append(commands, "completion "+shell)
	}
	for _, command := range commands {
		if command == "" {
			command = "--help"
		}
		args := strings.Fields(command)
		if args[0] == "monitor" && !strings.Contains(command, "-") || args[0] == "key" && len(args) == 3 && strings.HasSuffix(command, "s") {
			continue // random
		}
		equal(t, command, run(t, *oldProgram, models, dir, "Thank you.\n", nil, args...), run(t, *newProgram, models, dir, "Thank you.\n", nil, args...))
	}
}

// compareExports exports every checkpoint of the tests and compares all files, and the translations of the exports.
func compareExports(t *testing.T) {
	var folders []string
	for _, pattern := range []string{"../../model/testdata/*", "../../model/testdata/*/*", "../../model/bundled"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		folders = append(folders, found...)
	}
	exported := 0
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		folder, err := filepath.Abs(folder)
		require.NoError(t, err)
		for _, precision := range []string{"fp32", "int8"} {
			name := filepath.Base(filepath.Dir(folder)) + "/" + filepath.Base(folder) + " " + precision
			var said [2]string
			for side, program := range []string{*oldProgram, *newProgram} {
				dir := t.TempDir()
				said[side] = run(t, program, filepath.Join(dir, "saved"), dir, "", nil, "pull", folder, "--out", filepath.Join(dir, "out"), "--precision", precision)
				out := filepath.Join(dir, "out")
				said[side] += hashes(t, out)
				if m, err := model.ReadManifest(out); err == nil {
					exported++
					said[side] += run(t, program, dir, dir, "Good morning.\nWhere is the <b>station</b>, Ms. Miller?\n",
						[]string{"MODEL_WEIGHTS=" + out, "PRECISION=auto"}, "translate", "-f", m.Languages[0], "-t", m.Languages[len(m.Languages)-1])
				}
			}
			equal(t, name, said[0], said[1])
		}
	}
	require.Greater(t, exported, 60)
}

// hashes lists the files below a folder with their sums.
func hashes(t *testing.T, dir string) string {
	var out strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(dir, path))
		fmt.Fprintf(&out, "%s %d %x\n", path, len(raw), sha256.Sum256(raw))
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return out.String()
}
