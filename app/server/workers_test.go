package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/config"
	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cuda"
)

// openings records how workers open models, on CPUs and GPUs.
type openings struct {
	modelRuntime
	gpus   *fakeGPUs
	verify []model.Verify
	opts   cpu.Options // of the last model
}

func (o *openings) Open(ctx context.Context, dir string, opts cpu.Options) (model.Model, error) {
	o.verify, o.opts = append(o.verify, opts.Verify), opts
	return o.modelRuntime.Open(ctx, dir, opts)
}

func (o *openings) load(library string) (modelRuntime, error) {
	var err error
	o.modelRuntime, err = loadRuntime(library)
	return o, err
}

// gpuOpenings is openings as the runtime of GPUs.
type gpuOpenings struct {
	*fakeGPUs
	o *openings
}

func (g gpuOpenings) Open(ctx context.Context, dir string, opts cuda.Options) (model.Model, error) {
	g.o.verify = append(g.o.verify, opts.Verify)
	return g.fakeGPUs.Open(ctx, dir, opts)
}

// TestWorkers: one worker checks the files for all, workers of one thread share a copy, and the log has the state of all.
func TestWorkers(t *testing.T) {
	const rest = model.VerifyNever
	for _, on := range []struct {
		device  string
		threads int
		message string // the number in the log
		want    map[int][]model.Verify
	}{
		{"cpu", 1, "state_bytes_at_most", map[int][]model.Verify{1: {"always"}, 3: {"always"}}},
		{"cpu", 2, "state_bytes_at_most", map[int][]model.Verify{1: {"always"}, 3: {"always", rest, rest}}},
		{"cuda", 0, "state_bytes", map[int][]model.Verify{1: {"always", rest}, 3: {"always", rest, rest, rest, rest, rest}}},
	} {
		t.Run(fmt.Sprint(on.device, on.threads), func(t *testing.T) {
			state := map[int]float64{}
			for workers, want := range on.want {
				var log bytes.Buffer
				o := &openings{gpus: &fakeGPUs{count: 2}}
				p := &program{
					environ: environment("DEVICE="+on.device, "PRECISION=fp32", "MODEL_VERIFY=always", "MAX_LENGTH_LIMIT=256", fmt.Sprint("APP_WORKERS=", workers), fmt.Sprint("THREADS=", on.threads)),
					stderr:  &log, loadRuntime: o.load,
					loadGPUs: func(library string) (gpuRuntime, error) {
						_, err := o.gpus.load(library)
						return gpuOpenings{o.gpus, o}, err
					},
				}
				b, err := loaderOf(t, p).load(t.Context(), nil)
				require.NoError(t, err)
				require.NoError(t, b.Close())
				assert.Equal(t, want, o.verify)
				for line := range bytes.Lines(log.Bytes()) {
					var said map[string]any
					require.NoError(t, json.Unmarshal(line, &said))
					if said["msg"] == "decoding" {
						state[workers] = said[on.message].(float64)
					}
				}
			}
			assert.Positive(t, state[1])
			assert.Equal(t, 3*state[1], state[3])
		})
	}
}

// TARGET_SCRIPTS limits the tokens of int8 models of several languages, unless it is false.
func TestTargetScripts(t *testing.T) {
	for _, c := range []struct {
		precision, setting string
		on, warned         bool
	}{
		{"int8", "", true, false}, {"int8", "auto", true, false}, {"int8", "true", true, false}, {"int8", "false", false, false},
		{"fp32", "", false, false}, {"fp32", "Auto", false, false}, {"fp32", "on", false, true},
	} {
		t.Run(c.precision+c.setting, func(t *testing.T) {
			var log bytes.Buffer
			o := &openings{}
			p := &program{
				environ: environment("DEVICE=cpu", "PRECISION="+c.precision, "TARGET_SCRIPTS="+c.setting), stderr: &log, loadRuntime: o.load,
			}
			b, err := loaderOf(t, p).load(t.Context(), nil)
			require.NoError(t, err)
			require.NoError(t, b.Close())
			assert.Equal(t, c.on, o.opts.Scripts != nil && o.opts.Within != nil)
			assert.Contains(t, log.String(), fmt.Sprintf(`"target_scripts":%t`, c.on))
			assert.Equal(t, c.warned, strings.Contains(log.String(), "TARGET_SCRIPTS has no effect"))
		})
	}
}

// Exports of earlier versions are warned of unless TARGET_SCRIPTS is false.
func TestOlderExports(t *testing.T) {
	older, current := &model.Manifest{Scripts: &model.Scripts{}}, &model.Manifest{Scripts: &model.Scripts{Rules: model.ScriptRules}}
	assert.True(t, isOlder(config.Config{Scripts: config.Automatic}, older))
	assert.False(t, isOlder(config.Config{Scripts: config.No}, older))
	assert.False(t, isOlder(config.Config{Scripts: config.Automatic}, current))
	assert.False(t, isOlder(config.Config{Scripts: config.Automatic}, &model.Manifest{}), "a model that needs no scripts")
}
