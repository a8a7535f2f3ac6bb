package memory_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/app/memory"
	"dragoman/app/memory/memorystore"
	"dragoman/app/translate"
)

var (
	french = memory.Pair{From: "en", To: "fr"}
	german = memory.Pair{From: "en", To: "de"}
)

func newService(t *testing.T, limits memory.Limits) *memory.Service {
	store, err := memorystore.OpenFile(filepath.Join(t.TempDir(), "memories.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return memory.New(memory.Config{Store: store, Limits: limits, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }})
}

// of returns entries of a pair from alternating sources and targets.
func of(p memory.Pair, texts ...string) (list []memory.Entry) {
	for i := 0; i < len(texts); i += 2 {
		list = append(list, memory.Entry{Pair: p, Source: texts[i], Target: texts[i+1]})
	}
	return list
}

func source(list ...[]memory.Entry) memory.Source {
	return func(add func(string, memory.Entry) error, _ func(string, string)) error {
		for i, e := range slices.Concat(list...) {
			if err := add(fmt.Sprintf("entry %d", i), e); err != nil {
				return err
			}
		}
		return nil
	}
}

func place(i int) string { return fmt.Sprintf("entries[%d]", i) }

// lookUp returns the matches for a text, each as similarity, source and target.
func lookUp(t *testing.T, s *memory.Service, p memory.Pair, text string) string {
	t.Helper()
	m, err := s.Open(t.Context(), translate.MemoryRef{Owner: "alice", ID: "m"})
	require.NoError(t, err)
	list, err := m.Find(t.Context(), p.From, p.To, text, 3)
	require.NoError(t, err)
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprintf("%.2f %s|%s", x.Similarity, x.Source, x.Target))
	}
	return strings.Join(out, "\n")
}

var limits = memory.Limits{Entries: 10_000, PerOwner: 2}

func TestPutAndFind(t *testing.T) {
	s, ctx := newService(t, limits), t.Context()
	m, report, err := s.Put(ctx, "alice", "m", false, source(of(french,
		"Press the red button.", "Appuyez sur le bouton rouge.", "Page 3 of 7", "Page 3 sur 7", "twice", "premier", "twice", "second", "", "nothing", "x", " "),
		of(german, "Press the red button.", "Drücken Sie den roten Knopf.")))
	require.NoError(t, err)
	assert.Equal(t, memory.Report{Created: true, Taken: 5, Skipped: 2, Reasons: []string{"entry 4: the source is empty", "entry 5: the target is empty"}}, report)
	assert.Equal(t, 4, m.Entries())
	require.Len(t, m.Parts, 2)
	assert.Equal(t, german, m.Parts[0].Pair)
	for _, test := range []struct {
		pair       memory.Pair
		text, want string
	}{
		{french, " Press  the red\nbutton. ", "1.00 Press the red button.|Appuyez sur le bouton rouge."},
		{german, "Press the red button.", "1.00 Press the red button.|Drücken Sie den roten Knopf."},
		{memory.Pair{From: "en-GB", To: "fr-CA"}, "twice", "1.00 twice|second"},
		{french, "Page 4 of 9", "1.00 Page 3 of 7|Page 4 sur 9"},
		{french, "Press the green button.", "0.87 Press the red button.|Appuyez sur le bouton rouge."},
		{french, "Page {a} of {b}", ""},
		{french, "Something else.", ""}, {french, "", ""},
		{memory.Pair{From: "fr", To: "en"}, "second", ""},
	} {
		assert.Equal(t, test.want, lookUp(t, s, test.pair, test.text), test.text)
	}
	// A new file replaces all entries, unless they are to be kept.
	_, report, err = s.Put(ctx, "alice", "m", true, source(of(french, "twice", "troisième", "new", "nouveau")))
	require.NoError(t, err)
	assert.False(t, report.Created)
	assert.Equal(t, "1.00 twice|troisième", lookUp(t, s, french, "twice"))
	assert.Equal(t, "1.00 Page 3 of 7|Page 8 sur 9", lookUp(t, s, french, "Page 8 of 9"))
	_, _, err = s.Put(ctx, "alice", "m", false, source(of(french, "only", "seul")))
	require.NoError(t, err)
	assert.Equal(t, "", lookUp(t, s, french, "twice"))
	m, err = s.Get(ctx, "alice", "m")
	require.NoError(t, err)
	assert.Equal(t, 1, m.Entries())
	assert.Empty(t, m.Building)
	_, err = s.Get(ctx, "bob", "m")
	assert.ErrorIs(t, err, memory.ErrUnknown)
}

// Of many large entries with equal sources the last one stays.
func TestPutRepeated(t *testing.T) {
	s := newService(t, limits)
	target := strings.Repeat("x", 15_000)
	const n = 7000 // 105 MB
	_, report, err := s.Put(t.Context(), "alice", "m", false, func(add func(string, memory.Entry) error, _ func(string, string)) error {
		for i := range n {
			if err := add("", of(french, "again", fmt.Sprint(i, target))[0]); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, n, report.Taken)
	assert.Equal(t, fmt.Sprint("1.00 again|", n-1, target), lookUp(t, s, french, "again"))
}

func TestRefused(t *testing.T) {
	s, ctx := newService(t, memory.Limits{Entries: 3, PerOwner: 1}), t.Context()
	for _, id := range []string{"", ".", "..", "a b", "a/b", "é", strings.Repeat("a", 65)} {
		_, _, err := s.Put(ctx, "alice", id, false, source(of(french, "a", "b")))
		assert.ErrorIs(t, err, memory.ErrID, id)
		_, _, err = s.Add(ctx, "alice", id, of(french, "a", "b"), place)
		assert.ErrorIs(t, err, memory.ErrID, id)
		assert.ErrorIs(t, s.Remove(ctx, "alice", id), memory.ErrUnknown)
	}
	for _, test := range []struct {
		list []memory.Entry
		want string
	}{
		{nil, "there is no entry that could be taken"},
		{of(french, "", "b"), "there is no entry that could be taken: entry 0: the source is empty"},
		{of(french, "a\x00", "b"), "there is no entry that could be taken: entry 0: the source \"a\\x00\" has a control character"},
		{of(french, "\xff", "b"), "there is no entry that could be taken: entry 0: the source is not UTF-8"},
		{of(french, strings.Repeat("a", 16385), "b"), "there is no entry that could be taken: entry 0: the source has 16385 bytes, at most 16384 are allowed"},
		{of(french, "a", "b", "c", "d", "e", "f", "g", "h"), "the translation memory would have more than 3 entries: divide it between several ones"},
	} {
		_, _, err := s.Put(ctx, "alice", "m", false, source(test.list))
		assert.EqualError(t, err, test.want)
	}
	broken := errors.New("the body ended")
	_, _, err := s.Put(ctx, "alice", "m", false, func(func(string, memory.Entry) error, func(string, string)) error { return broken })
	assert.ErrorIs(t, err, broken)
	_, err = s.Get(ctx, "alice", "m")
	assert.ErrorIs(t, err, memory.ErrUnknown, "nothing is left of refused files")

	_, _, err = s.Add(ctx, "alice", "m", of(french, "a", "b", "c", ""), place)
	assert.EqualError(t, err, "entries[1]: the target is empty")
	_, created, err := s.Add(ctx, "alice", "m", of(french, "a", "b", "c", "d", "e", "f"), place)
	require.NoError(t, err)
	assert.True(t, created)
	_, _, err = s.Add(ctx, "alice", "m", of(french, "g", "h"), place)
	assert.EqualError(t, err, "the translation memory would have more than 3 entries: divide it between several ones")
	_, created, err = s.Add(ctx, "alice", "m", of(french, "a", "z"), place)
	require.NoError(t, err, "it replaces one")
	assert.False(t, created)
	_, _, err = s.Add(ctx, "alice", "other", of(french, "a", "b"), place)
	assert.EqualError(t, err, "there are 1 translation memories already, and no more are allowed: delete one")
	_, _, err = s.Put(ctx, "alice", "other", false, source(of(french, "a", "b")))
	assert.EqualError(t, err, "there are 1 translation memories already, and no more are allowed: delete one")
	_, _, err = s.Put(ctx, "bob", "m", false, source(of(french, "a", "b")))
	assert.NoError(t, err, "the limit is that of an owner")

	missing := memory.New(memory.Config{Missing: errors.New("there is no file")})
	_, err = missing.List(ctx, "alice")
	var away *fault.Unavailable
	assert.ErrorAs(t, err, &away)
}

// Entries are found as they are added, one by one and in blocks that are written again, until they are deleted.
func TestAddMany(t *testing.T) {
	s, ctx := newService(t, memory.Limits{Entries: 10_000, PerOwner: 2}), t.Context()
	text := func(i int) string { return fmt.Sprintf("The %dth lamp of house %d is %c.", i*7919, i%13, 'a'+i%26) }
	const n = 5000 // more than twice the blocks of a new memory hold
	for i := 0; i < n; i += 1000 {
		var list []memory.Entry
		for k := i; k < i+1000; k++ {
			list = append(list, memory.Entry{Pair: french, Source: text(k), Target: fmt.Sprintf("lampe %d", k)})
		}
		m, created, err := s.Add(ctx, "alice", "m", list, place)
		require.NoError(t, err)
		assert.Equal(t, i == 0, created)
		assert.Equal(t, i+1000, m.Entries())
	}
	for i := range n {
		if i%97 == 0 {
			assert.Equal(t, fmt.Sprintf("1.00 %s|lampe %d", text(i), i), lookUp(t, s, french, text(i)))
			near := lookUp(t, s, french, strings.Replace(text(i), "lamp", "lump", 1))
			assert.Contains(t, near, text(i)+"|")
		}
	}
	m, err := s.Get(ctx, "alice", "m")
	require.NoError(t, err)
	seen := map[string]bool{}
	require.NoError(t, s.Each(ctx, m, func(e memory.Entry) error {
		seen[e.Source] = true
		return nil
	}))
	assert.Len(t, seen, n)
	require.NoError(t, s.Delete(ctx, "alice", "m", french, " "+text(97)))
	assert.NotContains(t, lookUp(t, s, french, text(97)), text(97)+"|")
	assert.ErrorContains(t, s.Delete(ctx, "alice", "m", french, text(97)), "has no entry with this source")
	assert.ErrorContains(t, s.Delete(ctx, "alice", "m", german, text(98)), "has no entry with this source")
	assert.ErrorIs(t, s.Delete(ctx, "alice", "none", french, text(98)), memory.ErrUnknown)
	require.NoError(t, s.Remove(ctx, "alice", "m"))
	list, err := s.List(ctx, "alice")
	require.NoError(t, err)
	assert.Empty(t, list)
}

// A deleted entry leaves nothing in any block.
func TestDeleteWhole(t *testing.T) {
	store, err := memorystore.OpenFile(filepath.Join(t.TempDir(), "memories.db"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	s, ctx := memory.New(memory.Config{Store: store, Limits: limits}), t.Context()
	_, _, err = s.Add(ctx, "alice", "m", of(french, "Press the red button.", "a", "Page 3 of 7", "b"), place)
	require.NoError(t, err)
	all := func() (list []string) {
		m, err := s.Get(ctx, "alice", "m")
		require.NoError(t, err)
		for n := range 5 << m.Parts[0].Bits {
			block, err := store.Blocks(ctx, m.Parts[0].Blocks, []int{n})
			require.NoError(t, err)
			list = append(list, string(block[0]))
		}
		return list
	}
	before := all()
	text := "Press the red button of lamp 5, please."
	_, _, err = s.Add(ctx, "alice", "m", of(french, text, "c"), place)
	require.NoError(t, err)
	require.NotEqual(t, before, all())
	require.NoError(t, s.Delete(ctx, "alice", "m", french, text))
	assert.Equal(t, before, all())
}

// A lookup that began before its memory was written again goes on with the new entries, and ends if the memory was deleted.
func TestFindWhileChanged(t *testing.T) {
	s, ctx := newService(t, limits), t.Context()
	_, _, err := s.Put(ctx, "alice", "m", false, source(of(french, "a", "b")))
	require.NoError(t, err)
	m, err := s.Open(ctx, translate.MemoryRef{Owner: "alice", ID: "m"})
	require.NoError(t, err)
	_, _, err = s.Put(ctx, "alice", "m", false, source(of(french, "a", "c")))
	require.NoError(t, err)
	list, err := m.Find(ctx, "en", "fr", "a", 0)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "c", list[0].Target)
	require.NoError(t, s.Remove(ctx, "alice", "m"))
	_, err = m.Find(ctx, "en", "fr", "a", 0)
	assert.ErrorIs(t, err, memory.ErrUnknown)
}

// Of two files for one memory, one wins; the loser leaves nothing behind.
func TestPutTogether(t *testing.T) {
	s, ctx := newService(t, limits), t.Context()
	inner := error(nil)
	_, _, err := s.Put(ctx, "alice", "m", true, func(add func(string, memory.Entry) error, _ func(string, string)) error {
		_, _, inner = s.Put(ctx, "alice", "m", false, source(of(french, "a", "b")))
		return add("", of(french, "c", "d")[0])
	})
	require.NoError(t, inner)
	assert.ErrorIs(t, err, memory.ErrChanged)
	m, err := s.Get(ctx, "alice", "m")
	require.NoError(t, err)
	assert.Equal(t, 1, m.Entries())
	assert.Empty(t, m.Building)
	_, _, err = s.Put(ctx, "alice", "m", true, func(add func(string, memory.Entry) error, _ func(string, string)) error {
		_, _, inner = s.Put(ctx, "alice", "m", false, source(of(french, "a", "b")))
		return add("", of(french, "c", "d")[0])
	})
	require.NoError(t, inner)
	assert.ErrorIs(t, err, memory.ErrChanged, "a file that came at the same millisecond as the one before")
	cancelled, cancel := context.WithCancel(ctx)
	_, _, err = s.Put(cancelled, "alice", "m", false, func(add func(string, memory.Entry) error, _ func(string, string)) error {
		cancel()
		return add("", of(french, "c", "d")[0])
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "1.00 a|b", lookUp(t, s, french, "a"))
}
