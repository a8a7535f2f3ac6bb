package markup

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// all does with a text what a service does.
func all(text string, format Format) {
	if format == HTML {
		for _, p := range SplitHTML(text) {
			_ = p.Text()
		}
	}
	s := Parse(text, format)
	if m, ok := s.Mask(0); ok {
		_, _ = m.Restore(m.Text)
	}
	_, _ = s.Verify(text)
	_ = s.Around()
}

// Sixteen times the text takes about sixteen times as long, whatever it looks like the
// start of: 256 times would be quadratic. The time is that of the processor, which other
// programs do not add to; the collector gets more tries.
func TestTimeIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	const size, times, allowed, tries = 1 << 10, 16, 80, 4
	small, large := hostile(size), hostile(times*size)
	measure := func(text string, format Format) time.Duration {
		start := processorTime(t)
		all(text, format)
		return processorTime(t) - start
	}
	for unit := range small {
		for _, format := range []Format{Text, HTML} {
			// Below a quarter of a millisecond the clock and the collector weigh too much.
			a, b := time.Second/4000, time.Duration(0)
			for range tries {
				a = max(a, measure(small[unit], format))
				if b = measure(large[unit], format); b < allowed*a {
					break
				}
			}
			assert.Less(t, b, allowed*a, "%q, format %d: %v, then %v", unit, format, a, b)
		}
	}
}

// processorTime is what the process has used.
func processorTime(t *testing.T) time.Duration {
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkParse(b *testing.B) {
	texts := hostile(1 << 20)
	texts["prose"] = repeat("The quick brown fox jumps over the lazy dog, and nobody at the inn was surprised by it. ")
	texts["mixed"] = repeat("Hi {name}, 5 of 1,234 at https://x.y/z or a@b.com: **bold** <b>tag</b> 😀 日本語のテキスト。 ")
	for unit, text := range texts {
		b.Run(unit, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Parse(text, Text)
			}
		})
	}
}

func BenchmarkAll(b *testing.B) {
	text := "Hi {name}, 5 of 1,234 people at https://x.y/z said: **this is bold** and <b>this a tag</b> 😀."
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		all(text, Text)
	}
}

func BenchmarkSplitHTML(b *testing.B) {
	text := repeat("<p>Hi <b>Tom</b> &amp; <a href='x'>Jerry</a>, how do you do?</p>\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		SplitHTML(text)
	}
}

// repeat makes a text of 1 MiB of one.
func repeat(text string) string {
	return string(slices.Repeat([]byte(text), (1<<20)/len(text)))
}
