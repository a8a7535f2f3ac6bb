package live

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
	"dragoman/app/guard/admission"
)

// A session takes memory for its text before it has any, or refuses it.
func TestMemoryOfASession(t *testing.T) {
	memory := admission.New(400 << 10)
	s := start(t, Config{Memory: memory}, translator(t, &upper{}))
	x := open(t, s)
	_, err := x.Edit(appended(1, strings.Repeat("a", 5000)), admitted)
	assert.NoError(t, err)
	_, err = x.Edit(appended(2, ""), admitted)
	assert.NoError(t, err)
	y, err := s.Open(t.Context(), "bob", enFr, free)
	require.NoError(t, err)
	_, err = y.Edit(appended(1, strings.Repeat("a", 5000)), admitted)
	assert.ErrorIs(t, err, budget.ErrFull)
	_, err = y.Edit(appended(1, strings.Repeat("a\n", 100)), admitted)
	assert.ErrorIs(t, err, budget.ErrFull, "many sentences take more")
}

// heap is what is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What sessions have is no more than what they have taken, whatever their texts consist of, and after
// edits that change all of it.
func TestMemoryOfSessions(t *testing.T) {
	line := func(format string) func(i int) string { return func(i int) string { return fmt.Sprintf(format, i) } }
	for name, part := range map[string]func(i int) string{
		"prose":    line("This is sentence number %d, and it goes on for a while. "),
		"letters":  line("word%d "),
		"lines":    func(i int) string { return string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + "\n" },
		"marks":    line("a. "),
		"tags":     line("<b>a</b>"),
		"messages": line("{n%d} "),
		"signs":    line("%%"),
		"Chinese":  func(i int) string { return string(rune('一'+i)) + "。" },
		"numbers":  line("%d "),
	} {
		t.Run(name, func(t *testing.T) {
			memory := admission.New(1 << 30)
			s := start(t, Config{Memory: memory, MaxChars: 20_000}, translator(t, &upper{}))
			write := func() *Session {
				x, m := open(t, s), &mirror{}
				for n, at := int64(1), 0; n <= 3; n++ {
					var text strings.Builder
					for ; text.Len() < 2000; at++ {
						text.WriteString(part(at))
					}
					edit(t, x, Edits{Number: n, List: []Edit{{From: 0, To: x.text.chars, Text: text.String()}}, Settle: true})
					m.until(t, x, func() bool { return m.shown == n && x.settled() })
				}
				return x
			}
			write() // what the process makes once, such as tables
			before, leased := heap(), memory.InUse()
			all := []*Session{write(), write()}
			took, paid := heap()-before, memory.InUse()-leased
			t.Logf("%d KiB of %d", took>>10, paid>>10)
			assert.LessOrEqual(t, took, paid)
			runtime.KeepAlive(all)
		})
	}
}

// settled says whether all sentences have their translations, or are refused.
func (x *Session) settled() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, g := range x.document.segments {
		if !g.settled && !x.refused[g.key] {
			return false
		}
	}
	return true
}
