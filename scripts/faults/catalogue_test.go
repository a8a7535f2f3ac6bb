package faults

import (
	"bytes"
	"context"
	wire "encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/client"
)

// The load on the catalogue.
const (
	catalogueModels   = 24
	catalogueResident = 4 // models that fit into the memory
	catalogueClients  = 16
	catalogueMoves    = 100 // requests between changes of the most popular model
)

// Metrics of the catalogue: memory of loaded models, and unloads for other models.
const (
	residentBytes = "dragoman_model_resident_bytes"
	evictions     = "dragoman_model_evictions_total"
)

// answer distinguishes the translations of different models: by their scores if the texts are equal.
type answer struct {
	text  string
	score float64
}

// catalogue sends requests to 24 models in turn, with memory for 4 of them. Each answer must equal the model's answer when it is
// served alone.
func catalogue(t *testing.T) {
	repository, texts := filepath.Join(t.TempDir(), "repository"), sentences(t)
	var alone [][]answer
	for i := range catalogueModels {
		folder := filepath.Join(repository, modelName(i), "1")
		exportVariant(t, uint64(i), folder)
		s := start(t, "MODEL_WEIGHTS="+folder)
		alone = append(alone, s.answers(t, "", texts))
		require.NoError(t, s.stop())
	}
	distinct(t, alone)
	budget := "MODEL_MEMORY=" + strconv.Itoa(budgetFor(t, repository, texts)>>10) + "KiB"
	requests := 10_000
	if testing.Short() {
		requests = 500
	}
	for _, run := range []struct {
		cache    string // this service must not mix up translations, either
		requests int
	}{{"0", requests}, {"64MiB", requests / 5}} {
		s := start(t, "MODEL_REPOSITORY="+repository, budget, "CACHE_BYTES="+run.cache)
		begin, outcomes := time.Now(), s.askAll(t, run.requests, texts, alone)
		t.Logf("cache %s: %s; %.0f requests/s, %v models left", run.cache, outcomes,
			float64(run.requests)/time.Since(begin).Seconds(), s.metric(t, evictions))
		assert.Equal(t, map[string]int{"right": run.requests}, outcomes.of)
		assert.Greater(t, s.metric(t, evictions), float64(catalogueModels-catalogueResident), "otherwise nothing is tested")
		assert.NoError(t, s.stop())
	}
}

func modelName(i int) string { return fmt.Sprintf("m%02d", i) }

// sentences returns 50 different sentences.
func sentences(t *testing.T) (list []string) {
	raw, err := os.ReadFile("../quality/dev.tsv")
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Split(line, "\t"); fields[1] == "en" && fields[2] == "fr" && len(list) < 50 {
			list = append(list, fields[3])
		}
	}
	require.Len(t, list, 50)
	return list
}

// exportVariant exports the bundled model with slightly different weights: some low bits are changed.
func exportVariant(t *testing.T, seed uint64, folder string) {
	checkpoint := t.TempDir()
	require.NoError(t, os.CopyFS(checkpoint, os.DirFS("../../model/bundled")))
	path := filepath.Join(checkpoint, "model.safetensors")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	header := 8 + int(wire.LittleEndian.Uint64(raw)) // the tensors follow, two bytes per number
	require.Equal(t, bytes.Count(raw[8:header], []byte(`"dtype"`)), bytes.Count(raw[8:header], []byte(`"F16"`)))
	random := rand.New(rand.NewPCG(seed, 0))
	for i := header; i < len(raw); i += 2 {
		raw[i] ^= byte(random.Uint32() & 15) // 16 of the 1024 steps between powers of two
	}
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	out, err := exec.CommandContext(t.Context(), *binary, "pull", checkpoint, "--precision", "int8", "--out", folder).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.RemoveAll(checkpoint))
}

// distinct checks that most answers identify their model.
func distinct(t *testing.T, alone [][]answer) {
	kinds := map[string]bool{}
	for _, answers := range alone {
		for i, a := range answers {
			kinds[fmt.Sprint(i, a)] = true
		}
	}
	assert.Greater(t, len(kinds), len(alone)*len(alone[0])*4/5)
}

// budgetFor returns the memory of the models that should fit, and of half of another one.
func budgetFor(t *testing.T, repository string, texts []string) int {
	s := start(t, "MODEL_REPOSITORY="+repository)
	s.answers(t, modelName(0), texts)
	one := s.metric(t, residentBytes)
	require.NoError(t, s.stop())
	t.Logf("a model takes %.1f MB", one/1e6)
	return int((catalogueResident + 0.5) * one)
}

// asker returns a client of the service, which retries as the service tells.
func (s *service) asker(t *testing.T) *client.Client {
	c, err := client.New(client.Config{URL: "http://" + s.address})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// answers translates all texts with a model at once.
func (s *service) answers(t *testing.T, model string, texts []string) []answer {
	list, err := ask(t.Context(), s.asker(t), model, texts...)
	require.NoError(t, err)
	return list
}

func ask(ctx context.Context, c *client.Client, model string, texts ...string) (list []answer, err error) {
	request := client.Request{Model: model, From: "en", To: "fr", Detail: true}
	for _, text := range texts {
		request.Records = append(request.Records, client.Record{Text: text})
	}
	results, err := c.Translate(ctx, request)
	for _, r := range results {
		list = append(list, answer{r.Text, r.Detail.Score})
	}
	return list, err
}

// askAll sends requests of one text and counts right, wrong and lost answers. A few models are popular at a time, and they
// change.
func (s *service) askAll(t *testing.T, requests int, texts []string, alone [][]answer) *counts {
	outcomes, c := newCounts(), s.asker(t)
	var next atomic.Int64
	err := parallel(t.Context(), catalogueClients, func(ctx context.Context, _ int) error {
		for n := int(next.Add(1)) - 1; n < requests; n = int(next.Add(1)) - 1 {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			rank := bits.TrailingZeros64(random.Uint64()) // 0 for half of the requests, 1 for a quarter, …
			model, text := (n/catalogueMoves+rank)%catalogueModels, random.IntN(len(texts))
			got, err := ask(ctx, c, modelName(model), texts[text])
			switch {
			case err != nil:
				outcomes.add("lost: " + err.Error())
			case got[0] != alone[model][text]:
				outcomes.add("wrong: " + whose(got[0], alone, text))
			default:
				outcomes.add("right")
			}
		}
		return nil
	})
	require.NoError(t, err)
	return outcomes
}

// whose returns the model of an answer.
func whose(a answer, alone [][]answer, text int) string {
	for i, answers := range alone {
		if answers[text] == a {
			return "that of " + modelName(i)
		}
	}
	return "of no model"
}
