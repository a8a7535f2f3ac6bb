package server

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// levels are the comparisons of an answer, the strictest first: all bytes; all except the model's words; the status.
func levels(answer string) []string {
	status, _, _ := strings.Cut(answer, " ")
	status, _, _ = strings.Cut(status, "\n")
	return []string{answer, withoutWords(answer), status}
}

var (
	translations = regexp.MustCompile(`"(text|translatedText)":"(\\.|[^"\\])*"`)
	words        = regexp.MustCompile(`[\pL\pM\p{Zs}'’«»,.!?;-]+`)
	numbers      = regexp.MustCompile(`"targetTokens":\d+`)
	flags        = regexp.MustCompile(`"flags":\[[^]]*\]| Dragoman-Flags="[^"]*"`)
)

// withoutWords replaces the words of translations, and figures that depend on them. Layout, markup, numbers and sources stay.
func withoutWords(answer string) string {
	answer = translations.ReplaceAllStringFunc(answer, func(field string) string {
		name, text, _ := strings.Cut(field, ":")
		return name + ":" + words.ReplaceAllString(text, "~")
	})
	return flags.ReplaceAllString(numbers.ReplaceAllString(answer, `"targetTokens":~`), "~")
}

func TestLevels(t *testing.T) {
	const answer = "200 Dragoman-Flags=\"loop=1\"\n" + `{"result":[{"id":"a","text":"\\n1. Il pleut, {x} !","segments":[{"source":"It is {x}.","text":"Il"}],` +
		`"targetTokens":4,"flags":["loop"]}]}`
	assert.Equal(t, []string{answer, "200~\n" + `{"result":[{"id":"a","text":"\\~1~{~}~","segments":[{"source":"It is {x}.","text":"~"}],` +
		`"targetTokens":~,~}]}`, "200"}, levels(answer))
}

// writeAnswers writes each answer with the strictest level on which several runs agree, with trembling models: answers that
// depend on rounding may differ on other CPUs.
func writeAnswers(t *testing.T) {
	runs := []map[string]string{hostileAnswers(t, nil)}
	for seed := range uint64(4) {
		runs = append(runs, hostileAnswers(t, tremble(rand.New(rand.NewPCG(seed, 0)))))
	}
	var out strings.Builder
	for _, request := range hostileRequests() {
		common := levels(runs[0][request.name])
		for _, run := range runs {
			other := levels(run[request.name])
			common = slices.DeleteFunc(common, func(level string) bool { return !slices.Contains(other, level) })
		}
		require.NotEmpty(t, common, request.name)
		fmt.Fprintf(&out, "=== %s\n%s\n", request.name, common[0])
	}
	require.NoError(t, os.WriteFile(answersFile, []byte(out.String()), 0o644))
}

// tremble changes log-probabilities by up to a thousandth, ten times the difference between the vector instructions of CPUs.
func tremble(r *rand.Rand) func(model.Candidates) {
	return func(c model.Candidates) {
		for i := range c.LogProbs {
			c.LogProbs[i] += 0.001 * (2*r.Float32() - 1)
		}
		for i := 0; i < len(c.IDs); i += c.K {
			sort.Sort(bestFirst{c.LogProbs[i : i+c.K], c.IDs[i : i+c.K]})
		}
	}
}

// bestFirst sorts the candidates of a row.
type bestFirst struct {
	logProbs []float32
	ids      []int64
}

func (b bestFirst) Len() int           { return len(b.ids) }
func (b bestFirst) Less(i, j int) bool { return b.logProbs[i] > b.logProbs[j] }
func (b bestFirst) Swap(i, j int) {
	b.logProbs[i], b.logProbs[j] = b.logProbs[j], b.logProbs[i]
	b.ids[i], b.ids[j] = b.ids[j], b.ids[i]
}
