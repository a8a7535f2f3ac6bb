package cpu_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
	"dragoman/model/modeltest"
	"dragoman/model/search"
)

// TestPrepackedIsIdentical translates with sessions of either kind and compares
// tokens, scores and candidates bit for bit. It also sees to it that the prepacked
// matrices are what the kernels read: nothing else touches their pages.
func TestPrepackedIsIdentical(t *testing.T) {
	for _, precision := range []model.Precision{model.FP16, model.FP32} {
		t.Run(string(precision), func(t *testing.T) {
			dir := cputest.Export(t, cputest.Bundled(), precision)
			plain := open(t, dir, cpu.Options{NoPrepack: true})
			require.False(t, plain.Prepacked())
			require.NoDirExists(t, filepath.Join(dir, "prepacked"))
			made := open(t, dir, cpu.Options{})
			require.True(t, made.Prepacked())
			found := open(t, dir, cpu.Options{Threads: 1, Verify: model.VerifyAlways})
			require.True(t, found.Prepacked())

			want := translate(t, plain)
			assert.Equal(t, want, translate(t, made))
			assert.Equal(t, want, translate(t, found))

			data := prepackedFile(t, dir, "prepacked.bin")
			info, err := os.Stat(data)
			require.NoError(t, err)
			assert.Greater(t, resident(t, data), info.Size()/2, "of %d bytes", info.Size())
		})
	}
}

// result is all that a translation can differ in.
type result struct {
	Results    []search.Result
	Candidates model.Candidates
}

func translate(t *testing.T, m model.Model) result {
	t.Helper()
	options := search.DefaultOptions(m.Spec().Generation)
	options.Beams = 3
	first, err := firstStep(m)
	require.NoError(t, err)
	return result{decode(t, m, options, modeltest.Bundled(t).Cases[:12]), first}
}

// TestPrepackedIsMadeAgain damages the prepacked files in every way that a disk or
// a clumsy hand can.
func TestPrepackedIsMadeAgain(t *testing.T) {
	write := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(content), 0o644)) }
	}
	remove := func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }
	dir := export(t)
	good, err := os.ReadFile(prepackedFile(t, dir, "prepacked.bin"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		file   string
		damage func(*testing.T, string)
		want   string
	}{
		"no matrices":             {"prepacked.bin", remove, "prepacked.bin: no such file"},
		"cut matrices":            {"prepacked.bin", write("short"), "size 5, expected"},
		"one flipped bit":         {"prepacked.bin", func(t *testing.T, path string) { flipBit(t, path, 100_000) }, "prepacked.bin is corrupt"},
		"no graph":                {"decoder.onnx", remove, "decoder.onnx: no such file"},
		"empty graph":             {"encoder.onnx", write(""), "encoder.onnx is corrupt: size 0"},
		"manifest is not JSON":    {"prepack.json", write("{"), "prepack.json is damaged"},
		"manifest of no file":     {"prepack.json", write(`{"files":{}}`), "prepack.json lacks encoder.onnx"},
		"folder without files":    {"prepack.json", func(t *testing.T, path string) { clearFolder(t, filepath.Dir(path)) }, ""},
		"leftovers of a manifest": {"prepack.json", remove, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.damage(t, prepackedFile(t, dir, c.file))
			log := &watch{}
			m := open(t, dir, cpu.Options{Log: slog.New(log)})
			assert.True(t, m.Prepacked())
			assert.True(t, log.saw("made prepacked weights"), log.messages)
			if c.want != "" {
				assert.Contains(t, strings.Join(log.messages, "\n"), c.want)
			}
			again, err := os.ReadFile(prepackedFile(t, dir, "prepacked.bin"))
			require.NoError(t, err)
			assert.Equal(t, len(good), len(again))
			assert.Len(t, folders(t, dir), 1)
		})
	}
}

// TestOpenWithoutPrepackedFolder stands for a folder that cannot be written and for
// a full disk: nothing can be made in it. The super-user may write into every folder,
// so here a file is in the way.
func TestOpenWithoutPrepackedFolder(t *testing.T) {
	dir := export(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prepacked"), nil, 0o644))
	log := &watch{}
	m := open(t, dir, cpu.Options{Log: slog.New(log)})
	assert.False(t, m.Prepacked())
	require.Len(t, log.messages, 1)
	assert.Contains(t, log.messages[0], "no prepacked weights")
	assert.Contains(t, log.messages[0], "make the folder writable once")
	assert.Equal(t, translate(t, open(t, dir, cpu.Options{NoPrepack: true})), translate(t, m))
}

// TestStalePrepacked checks which folders go when a new one is made.
func TestStalePrepacked(t *testing.T) {
	dir := export(t)
	current := filepath.Dir(prepackedFile(t, dir, "prepack.json"))
	root := filepath.Dir(current)
	manifest, err := os.ReadFile(filepath.Join(current, "prepack.json"))
	require.NoError(t, err)
	otherModel := strings.Replace(string(manifest), `"model": "`, `"model": "0`, 1)
	for name, content := range map[string]string{
		"used": otherModel, "unused": otherModel, "broken": "{",
		"cpu-1": string(manifest), "cpu-2": string(manifest), ".work-1": "",
	} {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name, "prepack.json"), []byte(content), 0o644))
	}
	inUse := flock.New(filepath.Join(root, "used", "prepack.json"), flock.SetFlag(os.O_RDONLY))
	require.NoError(t, inUse.RLock())
	defer inUse.Unlock()

	require.NoError(t, os.RemoveAll(current))
	open(t, dir, cpu.Options{})
	left := folders(t, dir)
	assert.Len(t, left, 3)
	assert.Contains(t, left, filepath.Base(current))
	assert.Contains(t, left, "used")
	assert.True(t, left["cpu-1"] != left["cpu-2"], left)
}

// TestPrepackedInUseStays opens a model, whose folder must outlive the making of
// another one until it is closed.
func TestPrepackedInUseStays(t *testing.T) {
	dir := export(t)
	m := open(t, dir, cpu.Options{})
	lock := flock.New(prepackedFile(t, dir, "prepack.json"), flock.SetFlag(os.O_RDONLY))
	defer lock.Unlock()
	free, err := lock.TryLock()
	require.NoError(t, err)
	assert.False(t, free, "locked while the model is open")
	require.NoError(t, m.Close())
	free, err = lock.TryLock()
	require.NoError(t, err)
	assert.True(t, free, "free after it was closed")
}

// TestProcessesMakePrepackedOnce opens a folder in three processes at once.
func TestProcessesMakePrepackedOnce(t *testing.T) {
	dir := export(t)
	var children []*child
	for range 3 {
		children = append(children, startChild(t, order{Dir: dir}))
	}
	made := 0
	for _, c := range children {
		r := c.report(t)
		assert.True(t, r.Prepacked)
		if r.Made {
			made++
		}
		c.stop(t)
	}
	assert.Equal(t, 1, made, "processes that made the files")
	assert.Len(t, folders(t, dir), 1)
}

// TestGoroutinesMakePrepackedOnce is the same within a process.
func TestGoroutinesMakePrepackedOnce(t *testing.T) {
	dir := export(t)
	var wg sync.WaitGroup
	logs := [3]watch{}
	for i := range logs {
		wg.Go(func() {
			m, err := cputest.Runtime(t).Open(t.Context(), dir, cpu.Options{Log: slog.New(&logs[i])})
			if assert.NoError(t, err) {
				assert.True(t, m.Prepacked())
				assert.NoError(t, m.Close())
			}
		})
	}
	wg.Wait()
	made := 0
	for i := range logs {
		if logs[i].saw("made prepacked weights") {
			made++
		}
	}
	assert.Equal(t, 1, made)
}

// TestKilledWhileMaking kills the process that makes the files, at each of its
// steps. What it leaves must not look complete and must go away.
func TestKilledWhileMaking(t *testing.T) {
	dir := export(t)
	for _, at := range []string{
		"making prepacked weights", "packed a graph file=encoder.onnx", "packed a graph file=decoder.onnx",
	} {
		t.Run(at, func(t *testing.T) {
			c := startChild(t, order{Dir: dir, KillAt: at})
			for c.out.Scan() {
			}
			require.Error(t, c.cmd.Wait())
			status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
			require.True(t, ok && status.Signaled() && status.Signal() == syscall.SIGKILL, c.cmd.ProcessState)
			for name := range folders(t, dir) {
				assert.True(t, strings.HasPrefix(name, ".work-"), name)
			}
		})
	}
	require.True(t, open(t, dir, cpu.Options{}).Prepacked())
	for name := range folders(t, dir) {
		assert.False(t, strings.HasPrefix(name, ".work-"), name)
	}
}

// open opens an exported folder; the model is closed when the test ends.
func open(t *testing.T, dir string, opts cpu.Options) *cpu.Model {
	t.Helper()
	m, err := cputest.Runtime(t).Open(t.Context(), dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// prepackedFile is the path of a file in the only prepacked folder of dir, which is
// made if need be.
func prepackedFile(t *testing.T, dir, name string) string {
	t.Helper()
	if len(folders(t, dir)) == 0 {
		m, err := cputest.Runtime(t).Open(t.Context(), dir, cpu.Options{})
		require.NoError(t, err)
		require.NoError(t, m.Close())
	}
	left := folders(t, dir)
	require.Len(t, left, 1)
	for folder := range left {
		name = filepath.Join(dir, "prepacked", folder, name)
	}
	return name
}

// folders are the prepacked folders of dir, complete or not.
func folders(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	entries, err := os.ReadDir(filepath.Join(dir, "prepacked"))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		if e.IsDir() {
			found[e.Name()] = true
		}
	}
	return found
}

func clearFolder(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.Mkdir(dir, 0o755))
}

// resident is how many bytes of a file this process has mapped and touched.
func resident(t *testing.T, path string) int64 {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	var sum int64
	within := false
	for line := range strings.Lines(string(raw)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kb); n == 1 && within {
			sum += kb << 10
		}
		if strings.Contains(line, "-") && strings.Contains(strings.SplitN(line, " ", 2)[0], "-") {
			within = strings.HasSuffix(strings.TrimSpace(line), path)
		}
	}
	return sum
}
