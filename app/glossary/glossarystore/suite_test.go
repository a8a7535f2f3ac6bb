package glossarystore

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/glossary"
)

// fixture is an empty store.
type fixture struct {
	glossary.Store
	Again func() glossary.Store // opens the store again, as the next process does
}

// runSuite runs the tests; open returns a new store for each.
func runSuite(t *testing.T, open func(t *testing.T) fixture) {
	for name, test := range map[string]func(*testing.T, fixture){
		"made": made, "listed": listed, "bounded": bounded, "changed": changed, "left": left, "added together": addedTogether,
		"written together": writtenTogether, "removed": removed, "kept": kept,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var (
	french = glossary.Pair{From: "en", To: "fr"}
	german = glossary.Pair{From: "en", To: "de"}
	begin  = time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
)

// whole returns a glossary with as many terms per dictionary as its text has bytes.
func whole(id, owner string, minute int, terms map[glossary.Pair]string) glossary.Whole {
	at := begin.Add(time.Duration(minute) * time.Minute)
	w := glossary.Whole{Glossary: glossary.Glossary{ID: id, Owner: owner, Name: "name of " + id, Created: at, Changed: at}, Terms: terms}
	for _, p := range []glossary.Pair{german, french} { // in order
		if text, ok := terms[p]; ok {
			w.Dictionaries = append(w.Dictionaries, glossary.Dictionary{Pair: p, Terms: len(text), Bytes: len(text)})
		}
	}
	return w
}

const many = 100

func create(t *testing.T, s glossary.Store, list ...glossary.Whole) {
	t.Helper()
	for _, w := range list {
		require.NoError(t, s.Create(t.Context(), w, many))
	}
}

func made(t *testing.T, f fixture) {
	ctx := t.Context()
	w := whole("a", "alice", 0, map[glossary.Pair]string{french: "cat\tchat\n", german: "cat\tKatze\n猫\t\"\r"})
	create(t, f, w, whole("b", "bob", 0, map[glossary.Pair]string{french: "other"}))
	g, err := f.Get(ctx, "a")
	require.NoError(t, err)
	assert.Equal(t, w.Glossary, g)
	texts, err := f.Terms(ctx, "a", []glossary.Pair{french, {From: "fr", To: "en"}, german, french})
	require.NoError(t, err)
	assert.Equal(t, []string{w.Terms[french], "", w.Terms[german], w.Terms[french]}, texts)
	texts, err = f.Terms(ctx, "a", nil)
	require.NoError(t, err)
	assert.Empty(t, texts)

	for _, id := range []string{"", "c", "A", "a\x00", "terms:a", "*"} {
		_, err := f.Get(ctx, id)
		assert.ErrorIs(t, err, glossary.ErrUnknown, id)
		texts, err := f.Terms(ctx, id, []glossary.Pair{french})
		assert.NoError(t, err)
		assert.Equal(t, []string{""}, texts)
	}
}

func listed(t *testing.T, f fixture) {
	create(t, f, whole("a", "alice", 1, nil), whole("b", "alice", 3, nil), whole("c", "alice", 2, nil), whole("d", "alic", 1, nil), whole("e", "", 1, nil))
	for owner, want := range map[string][]string{"alice": {"b", "c", "a"}, "alic": {"d"}, "": {"e"}, "al": nil, "alice2": nil} {
		list, err := f.List(t.Context(), owner)
		require.NoError(t, err)
		var ids []string
		for _, g := range list {
			ids = append(ids, g.ID)
			assert.Equal(t, owner, g.Owner)
		}
		assert.Equal(t, want, ids, owner)
	}
}

func bounded(t *testing.T, f fixture) {
	ctx := t.Context()
	errs := together(10, func(i int) error { return f.Create(ctx, whole(fmt.Sprint("g", i), "alice", i, nil), 4) })
	refused := 0
	for _, err := range errs {
		if err != nil && assert.Equal(t, glossary.TooMany(4), err) {
			refused++
		}
	}
	assert.Equal(t, 6, refused)
	list, err := f.List(ctx, "alice")
	require.NoError(t, err)
	require.Len(t, list, 4)
	require.NoError(t, f.Create(ctx, whole("other", "bob", 0, nil), 4))
	require.NoError(t, f.Remove(ctx, list[0].ID))
	require.NoError(t, f.Create(ctx, whole("again", "alice", 0, nil), 4))
	assert.Equal(t, glossary.TooMany(4), f.Create(ctx, whole("more", "alice", 0, nil), 4))
}

func changed(t *testing.T, f fixture) {
	ctx := t.Context()
	before := whole("a", "alice", 0, map[glossary.Pair]string{french: "cat\tchat\n"})
	after := whole("a", "alice", 0, map[glossary.Pair]string{german: "cat\tKatze\n"})
	after.Name, after.Changed = "new", begin.Add(time.Hour)
	create(t, f, before)
	require.NoError(t, f.Change(ctx, "a", func(w *glossary.Whole) error {
		assert.Equal(t, before, *w)
		*w = after
		return nil
	}))
	g, err := f.Get(ctx, "a")
	require.NoError(t, err)
	assert.Equal(t, after.Glossary, g)
	texts, err := f.Terms(ctx, "a", []glossary.Pair{french, german})
	require.NoError(t, err)
	assert.Equal(t, []string{"", after.Terms[german]}, texts)
	list, err := f.List(ctx, "alice")
	require.NoError(t, err)
	assert.Equal(t, []glossary.Glossary{after.Glossary}, list)
}

// A failed change leaves the glossary unchanged.
func left(t *testing.T, f fixture) {
	ctx, errNo := t.Context(), errors.New("no")
	before := whole("a", "alice", 0, map[glossary.Pair]string{french: "cat\tchat\n"})
	create(t, f, before)
	assert.ErrorIs(t, f.Change(ctx, "a", func(w *glossary.Whole) error {
		w.Name, w.Terms[french] = "new", "dog\tchien\n"
		return errNo
	}), errNo)
	assert.ErrorIs(t, f.Change(ctx, "b", func(*glossary.Whole) error { return errNo }), glossary.ErrUnknown)
	require.NoError(t, f.Change(ctx, "a", func(w *glossary.Whole) error {
		assert.Equal(t, before, *w)
		return nil
	}))
}

// Concurrent changes are all made.
func addedTogether(t *testing.T, f fixture) {
	ctx := t.Context()
	create(t, f, whole("a", "alice", 0, nil))
	const n = 16
	pair := func(i int) glossary.Pair { return glossary.Pair{From: "en", To: fmt.Sprint("l", i)} }
	for _, err := range together(n, func(i int) error {
		return f.Change(ctx, "a", func(w *glossary.Whole) error {
			w.Dictionaries = append(w.Dictionaries, glossary.Dictionary{Pair: pair(i), Terms: 1})
			w.Terms[pair(i)] = fmt.Sprint("term ", i)
			return nil
		})
	}) {
		assert.NoError(t, err)
	}
	g, err := f.Get(ctx, "a")
	require.NoError(t, err)
	assert.Len(t, g.Dictionaries, n)
	var pairs []glossary.Pair
	var want []string
	for i := range n {
		pairs, want = append(pairs, pair(i)), append(want, fmt.Sprint("term ", i))
	}
	texts, err := f.Terms(ctx, "a", pairs)
	require.NoError(t, err)
	assert.Equal(t, want, texts)
}

// If several callers replace a glossary concurrently, one of them wins as a whole.
func writtenTogether(t *testing.T, f fixture) {
	ctx := t.Context()
	create(t, f, whole("a", "alice", 0, nil))
	for _, err := range together(16, func(i int) error {
		return f.Change(ctx, "a", func(w *glossary.Whole) error {
			text := fmt.Sprint("term ", i)
			*w = whole("a", "alice", 0, map[glossary.Pair]string{french: text, german: text})
			w.Name = text
			return nil
		})
	}) {
		assert.NoError(t, err)
	}
	g, err := f.Get(ctx, "a")
	require.NoError(t, err)
	texts, err := f.Terms(ctx, "a", []glossary.Pair{french, german})
	require.NoError(t, err)
	assert.Equal(t, []string{g.Name, g.Name}, texts)
}

func removed(t *testing.T, f fixture) {
	ctx := t.Context()
	create(t, f, whole("a", "alice", 0, map[glossary.Pair]string{french: "x"}), whole("a2", "alice", 0, map[glossary.Pair]string{french: "y"}))
	require.NoError(t, f.Remove(ctx, "a"))
	assert.ErrorIs(t, f.Remove(ctx, "a"), glossary.ErrUnknown)
	_, err := f.Get(ctx, "a")
	assert.ErrorIs(t, err, glossary.ErrUnknown)
	assert.ErrorIs(t, f.Change(ctx, "a", func(*glossary.Whole) error { return nil }), glossary.ErrUnknown)
	for id, want := range map[string]string{"a": "", "a2": "y"} {
		texts, err := f.Terms(ctx, id, []glossary.Pair{french})
		require.NoError(t, err)
		assert.Equal(t, []string{want}, texts)
	}
	list, err := f.List(ctx, "alice")
	require.NoError(t, err)
	assert.Len(t, list, 1)
}

// Glossaries outlive the process.
func kept(t *testing.T, f fixture) {
	w := whole("a", "alice", 0, map[glossary.Pair]string{french: "cat\tchat\n"})
	create(t, f, w)
	again := f.Again()
	list, err := again.List(t.Context(), "alice")
	require.NoError(t, err)
	assert.Equal(t, []glossary.Glossary{w.Glossary}, list)
	texts, err := again.Terms(t.Context(), "a", []glossary.Pair{french})
	require.NoError(t, err)
	assert.Equal(t, []string{w.Terms[french]}, texts)
}

// together calls do n times concurrently.
func together(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errs
}
