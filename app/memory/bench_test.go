package memory_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/app/memory"
	"dragoman/app/memory/memorystore"
	"dragoman/app/translate"
)

// vocabulary is made of syllables, with a few frequent words.
func vocabulary(r *rand.Rand) []string {
	words := strings.Fields("the of to and in is a for on that with it as be this are by at from or")
	for len(words) < 30_000 {
		var word strings.Builder
		for range 1 + r.IntN(4) {
			word.WriteString([]string{"ba", "con", "der", "e", "fi", "gra", "in", "ja", "lo", "men", "no", "or", "pra", "re", "sta", "ti", "un", "ve", "tion", "ly", "ment", "s",
				"ka", "dis", "bli", "um", "gor", "hal", "jes", "kle", "lin", "mor", "nup", "ost", "pel", "quo", "rus", "sim", "tra", "vor", "wes", "xan", "yel", "zo"}[r.IntN(44)])
		}
		words = append(words, word.String())
	}
	return words
}

// sentence returns a sentence of 3 to 17 words, with frequencies as Zipf found them.
func sentence(r *rand.Rand, zipf *rand.Zipf, words []string) string {
	list := make([]string, 3+r.IntN(15))
	for i := range list {
		list[i] = words[zipf.Uint64()]
	}
	if r.IntN(5) == 0 {
		list[r.IntN(len(list))] = fmt.Sprint(r.IntN(500))
	}
	return strings.ToUpper(list[0][:1]) + strings.Join(list, " ")[1:] + "."
}

// tmxOf writes a TMX of n units, and returns some of the sources.
func tmxOf(out io.Writer, n int) (sources []string) {
	r := rand.New(rand.NewPCG(1, 2))
	words := vocabulary(r)
	zipf := rand.NewZipf(r, 1.1, 8, uint64(len(words)-1))
	_, _ = io.WriteString(out, `<tmx version="1.4"><header srclang="en"/><body>`)
	for i := range n {
		source := sentence(r, zipf, words)
		if i%(n/1000) == 0 {
			sources = append(sources, source)
		}
		_, _ = fmt.Fprintf(out, "<tu><tuv xml:lang=\"en\"><seg>%s</seg></tuv><tuv xml:lang=\"fr\"><seg>%s</seg></tuv></tu>\n", source, sentence(r, zipf, words))
	}
	_, _ = io.WriteString(out, "</body></tmx>")
	return sources
}

// residentOf returns the private memory of the process, and with the pages of its files, in bytes.
func residentOf(tb testing.TB) (private, all int) {
	raw, err := os.ReadFile("/proc/self/status")
	require.NoError(tb, err)
	for line := range strings.Lines(string(raw)) {
		_, _ = fmt.Sscanf(line, "RssAnon: %d kB", &private)
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &all)
	}
	return private << 10, all << 10
}

// BenchmarkMillion imports a million entries once, and then looks texts up: equal ones, some with a changed word, and new ones.
//
//	go test -run - -bench Million ./app/memory
func BenchmarkMillion(b *testing.B) {
	dir, n := b.TempDir(), 1_000_000
	file, err := os.Create(filepath.Join(dir, "in.tmx"))
	require.NoError(b, err)
	sources := tmxOf(file, n)
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(b, err)
	path := filepath.Join(dir, "memories.db")
	store, err := memorystore.OpenFile(path)
	require.NoError(b, err)
	defer func() { require.NoError(b, store.Close()) }()
	service := memory.New(memory.Config{Store: store, Limits: memory.Limits{Entries: n, PerOwner: 1}})
	begun := time.Now()
	reading := memory.Reading{Find: func(code string) (string, bool) { return code, true }}
	m, _, err := service.Put(b.Context(), "me", "large", false, reading.Source(file))
	require.NoError(b, err)
	imported := time.Since(begun)
	private, all := residentOf(b)
	info, err := os.Stat(path)
	require.NoError(b, err)
	found, err := service.Open(b.Context(), translate.MemoryRef{Owner: "me", ID: "large"})
	require.NoError(b, err)
	var times []time.Duration
	near := 0
	for b.Loop() {
		i := len(times)
		text := sources[i%len(sources)]
		switch i % 3 {
		case 1:
			text = strings.Replace(text, " ", " quickly ", 1)
		case 2:
			text = "Zu " + strings.ToUpper(text)
		}
		start := time.Now()
		list, err := found.Find(b.Context(), "en", "fr", text, 3)
		times = append(times, time.Since(start))
		require.NoError(b, err)
		if i%3 == 1 && len(list) > 0 {
			near++
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(m.Entries()), "entries")
	b.ReportMetric(imported.Seconds(), "s/import")
	b.ReportMetric(float64(info.Size())/1e6, "MB/file")
	b.ReportMetric(float64(private)/1e6, "MB/private")
	b.ReportMetric(float64(all)/1e6, "MB/resident")
	b.ReportMetric(float64(times[len(times)*95/100].Microseconds()), "µs/p95")
	b.ReportMetric(100*3*float64(near)/float64(max(1, len(times))), "%near")
}
