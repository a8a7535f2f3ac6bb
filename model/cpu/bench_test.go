package cpu_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
	"dragoman/model/family"
	"dragoman/model/modeltest"
	"dragoman/tokenizer"
)

// BenchmarkStep times a decoder step of S sentences with W beams, 24 to 62 tokens after the prefix, and sources of 32 tokens.
// Two of five beams fork at every step. It uses the bundled model unless DRAGOMAN_BENCH_MODELS names a folder with exports as
// int8/ and fp32/, and DRAGOMAN_BENCH_THREADS threads, by default 1. DRAGOMAN_BENCH_SCRIPTS names the scripts of the target
// language, such as "Han Hiragana Katakana", or of several languages with commas between, which sentences then have in turns. Sources
// are then in Latin letters, and translations have only tokens of these scripts.
//
// cpu-ms/step is the CPU time of the process, which depends less on other load of the machine than elapsed time does.
func BenchmarkStep(b *testing.B) {
	for _, precision := range []model.Precision{model.INT8, model.FP32} {
		m := benchModel(b, precision)
		for _, size := range [][2]int{{1, 1}, {8, 1}, {16, 1}, {32, 1}, {64, 1}, {1, 5}, {4, 5}, {16, 5}, {32, 5}} {
			b.Run(fmt.Sprintf("%s/sentences=%d/beams=%d", precision, size[0], size[1]), func(b *testing.B) {
				benchmarkStep(b, m, size[0], size[1])
			})
		}
	}
}

func benchmarkStep(b *testing.B, m model.Model, sentences, beams int) {
	const k, past, limit = 10, 24, 64
	tokens, parents := make([]int64, beams), make([]int, beams)
	for i := range beams {
		tokens[i], parents[i] = int64(10+i), i-i%2
	}
	feeds, sources := make([]model.Feed, sentences), benchSources(b, m.Spec(), sentences)
	batch, err := m.NewBatch(model.Limits{Rows: sentences * beams, MaxLength: limit})
	require.NoError(b, err)
	defer batch.Close()
	step := func() {
		_, err := batch.Step(b.Context(), feeds, k)
		require.NoError(b, err)
	}
	feed := func(tokens []int64, parents []int) {
		for i := range feeds {
			feeds[i] = model.Feed{Tokens: tokens, Parents: parents}
		}
		step()
	}
	begin := func() {
		for batch.Len() > 0 {
			batch.Leave(0)
		}
		require.NoError(b, batch.Join(b.Context(), sources))
		for i := range feeds {
			feeds[i] = model.Feed{Tokens: prefix(m.Spec(), i)}
		}
		step()
		feed(tokens, make([]int, beams))
		for range past {
			feed(tokens, parents)
		}
	}
	begin()
	for range limit - 3 - past { // the first use of memory takes extra time
		feed(tokens, parents)
	}
	begin()
	start, fed := cpuTime(), past
	for b.Loop() {
		if fed++; fed == limit-2 { // over again
			b.StopTimer()
			begin()
			fed = past + 1
			b.StartTimer()
		}
		feed(tokens, parents)
	}
	b.ReportMetric(float64(cpuTime()-start)/1e6/float64(b.N), "cpu-ms/step")
	b.ReportMetric(float64(sentences*beams*b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkEncode times Join: the encoder, and the projection of its output to the keys and values of cross-attention.
func BenchmarkEncode(b *testing.B) {
	for _, precision := range []model.Precision{model.INT8, model.FP32} {
		m := benchModel(b, precision)
		for _, n := range []int{1, 8, 32} {
			b.Run(fmt.Sprintf("%s/sentences=%d", precision, n), func(b *testing.B) {
				sources := randomSources(m.Spec(), n)
				batch, err := m.NewBatch(model.Limits{Rows: n, MaxLength: 3})
				require.NoError(b, err)
				defer batch.Close()
				start := cpuTime()
				for b.Loop() {
					require.NoError(b, batch.Join(b.Context(), sources))
					for batch.Len() > 0 {
						batch.Leave(0)
					}
				}
				b.ReportMetric(float64(cpuTime()-start)/1e6/float64(b.N*n), "cpu-ms/sentence")
			})
		}
	}
}

// BenchmarkIdentical reports the share of greedy translations of the goldens that equal Hugging Face's in fp32, token for token.
func BenchmarkIdentical(b *testing.B) {
	cases := modeltest.Bundled(b).Cases
	for _, precision := range []model.Precision{model.FP32, model.FP16, model.INT8} {
		b.Run(string(precision), func(b *testing.B) {
			var share float64
			for b.Loop() {
				share = identical(b, precision, cases)
			}
			b.ReportMetric(100*share, "identical_%")
			b.ReportMetric(float64(len(cases)), "sentences")
		})
	}
}

func benchModel(b *testing.B, precision model.Precision) model.Model {
	threads, err := strconv.Atoi(cmp.Or(os.Getenv("DRAGOMAN_BENCH_THREADS"), "1"))
	require.NoError(b, err)
	dir := cputest.Benchmarked(b, precision)
	opts := cpu.Options{Threads: threads, Scripts: benchScripts(b, dir)}
	if opts.Scripts != nil {
		opts.Within = benchTokenizer(b, dir).Within
	}
	m, err := cputest.Runtime(b).Open(b.Context(), dir, opts)
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, m.Close())
		runtime.GC()
	})
	return m
}

// benchScripts returns the scripts of languages by the remainder of their tokens, see [prefix], if DRAGOMAN_BENCH_SCRIPTS is set.
func benchScripts(b *testing.B, dir string) func(string) []string {
	lists := strings.Split(os.Getenv("DRAGOMAN_BENCH_SCRIPTS"), ",")
	if lists[0] == "" {
		return nil
	}
	m, err := model.ReadManifest(dir)
	require.NoError(b, err)
	return func(code string) []string {
		return strings.Fields(lists[int(m.Scripts.Languages[code])%len(lists)])
	}
}

func benchTokenizer(b *testing.B, dir string) *tokenizer.Tokenizer {
	m, err := model.ReadManifest(dir)
	require.NoError(b, err)
	tok, err := family.OpenTokenizer(dir, m.Family, m.Languages)
	require.NoError(b, err)
	return tok
}

// benchSources returns random sentences. With scripts they are of Latin pieces, frequent ones first, as in a text.
func benchSources(b *testing.B, spec model.Spec, n int) [][]int64 {
	sources := randomSources(spec, n)
	if os.Getenv("DRAGOMAN_BENCH_SCRIPTS") == "" {
		return sources
	}
	tok, word, rng := benchTokenizer(b, cputest.Benchmarked(b, model.INT8)), regexp.MustCompile(`^▁?[A-Za-z]+$`), rand.New(rand.NewPCG(1, 2))
	var latin []int64
	for id := range int64(tok.Size()) {
		if piece, ok := tok.Piece(id); ok && word.MatchString(piece) {
			latin = append(latin, id)
		}
	}
	for _, source := range sources {
		for i := range source {
			source[i] = latin[int(math.Pow(float64(len(latin)), rng.Float64()))-1]
		}
	}
	return sources
}

// randomSources returns independent random sentences of 32 tokens.
func randomSources(spec model.Spec, n int) [][]int64 {
	rng := rand.New(rand.NewPCG(1, 2))
	sources := make([][]int64, n)
	for i := range sources {
		sources[i] = make([]int64, 32)
		for j := range sources[i] {
			sources[i][j] = 4 + rng.Int64N(int64(spec.VocabSize)-120)
		}
	}
	return sources
}

// prefix returns the forced prefix of the language of sentence i.
func prefix(spec model.Spec, i int) []int64 {
	n := 1 + strings.Count(os.Getenv("DRAGOMAN_BENCH_SCRIPTS"), ",")
	last := spec.VocabSize - 50
	return []int64{spec.DecoderStart, int64(last - last%n + i%n)}
}

// cpuTime returns the process's user and system time.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
