package cpu_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
)

// childEnv makes a process of the test binary a child: see beChild.
const childEnv = "DRAGOMAN_TEST_CHILD"

// order is the task of a child, and report its answer, both as JSON.
type (
	order struct {
		Dir    string
		Models int // models to open, one after the other
	}
	report struct {
		Memory   memory
		Resident float64 // MB, as the last model reports
	}
)

// TestMain runs the tests, or a child that startChild starts.
func TestMain(m *testing.M) {
	if raw := os.Getenv(childEnv); raw != "" {
		if err := beChild(raw); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(cputest.Run(m))
}

// beChild opens models, runs a step on each, and writes a report for every line of its input, until the input ends.
func beChild(raw string) error {
	var o order
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		return err
	}
	rt, err := cpu.Load(cputest.Library())
	if err != nil {
		return err
	}
	var r report
	for range cmp.Or(o.Models, 1) {
		m, err := rt.Open(context.Background(), o.Dir, cpu.Options{Threads: 1})
		if err != nil {
			return err
		}
		if _, err := firstStep(m); err != nil {
			return err
		}
		r.Resident = float64(m.Resident()) / (1 << 20)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if r.Memory, err = readMemory(); err != nil {
			return err
		}
		answer, err := json.Marshal(r)
		if err != nil {
			return err
		}
		fmt.Printf("report %s\n", answer)
	}
	return nil
}

// child is a running process of beChild.
type child struct {
	cmd *exec.Cmd
	in  interface {
		Write([]byte) (int, error)
		Close() error
	}
	out *bufio.Scanner
}

func startChild(t testing.TB, o order) *child {
	t.Helper()
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(raw), "GOGC=10") // excludes Go's garbage from the models' memory
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has usually ended already
	return &child{cmd, in, bufio.NewScanner(out)}
}

// report waits until the child's models are open and returns its report.
func (c *child) report(t testing.TB) (r report) {
	t.Helper()
	_, err := c.in.Write([]byte("report\n"))
	require.NoError(t, err)
	var said []string
	for c.out.Scan() {
		if answer, ok := strings.CutPrefix(c.out.Text(), "report "); ok {
			require.NoError(t, json.Unmarshal([]byte(answer), &r))
			return r
		}
		said = append(said, c.out.Text())
	}
	require.Fail(t, "the child ended without a report", strings.Join(said, "\n"))
	return r
}

// stop ends the child and waits for it.
func (c *child) stop(t testing.TB) {
	t.Helper()
	require.NoError(t, c.in.Close())
	for c.out.Scan() {
	}
	require.NoError(t, c.cmd.Wait())
}

// firstStep runs the encoder and one decoder step, so that all matrices have been used.
func firstStep(m model.Model) (c model.Candidates, err error) {
	b, err := m.NewBatch(model.Limits{Rows: 5, MaxLength: 10})
	if err != nil {
		return c, err
	}
	defer b.Close()
	if err := b.Join(context.Background(), randomSources(m.Spec(), 1)); err != nil {
		return c, err
	}
	c, err = b.Step(context.Background(), []model.Feed{{Tokens: prefix(m.Spec(), 0)}}, 10)
	// The slices belong to the batch.
	return model.Candidates{
		K: c.K, LogProbs: slices.Clone(c.LogProbs), IDs: slices.Clone(c.IDs), LogSumExp: slices.Clone(c.LogSumExp),
	}, err
}

// memory is the memory of a process, in MB.
type memory struct {
	Own    float64 // private pages that cannot be dropped
	Shared float64 // its share of mapped files, divided among the processes that map them
}

// readMemory reads the memory of this process.
func readMemory() (memory, error) {
	raw, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return memory{}, err
	}
	kb := map[string]float64{}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); len(fields) == 3 {
			n, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return memory{}, err
			}
			kb[fields[0]] = n
		}
	}
	return memory{Own: kb["Anonymous:"] / 1024, Shared: (kb["Pss:"] - kb["Anonymous:"]) / 1024}, nil
}
