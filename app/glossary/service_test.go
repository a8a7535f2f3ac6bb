package glossary_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
	"dragoman/app/guard/admission"
	"dragoman/app/translate"
)

var (
	french = glossary.Pair{From: "en", To: "fr"}
	german = glossary.Pair{From: "en", To: "de"}
	limits = glossary.Limits{Terms: 3, Bytes: 40, PerOwner: 2}
)

func newService(t *testing.T) *glossary.Service {
	store, err := glossarystore.OpenFile(filepath.Join(t.TempDir(), "glossaries.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return glossary.New(glossary.Config{Store: store, Limits: limits, Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
}

// of returns terms from alternating sources and targets.
func of(p glossary.Pair, texts ...string) glossary.Terms {
	terms := glossary.Terms{Pair: p}
	for i := 0; i < len(texts); i += 2 {
		terms.List = append(terms.List, translate.Term{Source: texts[i], Target: texts[i+1]})
	}
	return terms
}

func TestCreate(t *testing.T) {
	s, ctx := newService(t), t.Context()
	g, err := s.Create(ctx, "alice", "Ours", []glossary.Terms{of(french, "cat", "chat"), of(german, "cat", "Katze", "X", "X")})
	require.NoError(t, err)
	assert.Len(t, g.ID, 36)
	assert.Equal(t, []glossary.Dictionary{{Pair: german, Terms: 2, Bytes: 14}, {Pair: french, Terms: 1, Bytes: 9}}, g.Dictionaries)
	for _, test := range []struct {
		name  string
		terms []glossary.Terms
		want  string
	}{
		{"", []glossary.Terms{of(french, "a", "b")}, glossary.ErrName.Error()},
		{" \u2003", []glossary.Terms{of(french, "a", "b")}, glossary.ErrName.Error()},
		{"a\nb", []glossary.Terms{of(french, "a", "b")}, glossary.ErrName.Error()},
		{"\xff", []glossary.Terms{of(french, "a", "b")}, glossary.ErrName.Error()},
		{strings.Repeat("x", 1025), []glossary.Terms{of(french, "a", "b")}, glossary.ErrName.Error()},
		{"n", nil, glossary.ErrEmpty.Error()},
		{"n", []glossary.Terms{of(french)}, glossary.ErrEmpty.Error()},
		{"n", []glossary.Terms{of(french, "a", "b"), of(french, "c", "d")}, "there are two dictionaries from en to fr: make them one"},
		{"n", []glossary.Terms{of(french, "a", "b", "c", "d", "e", "f", "g", "h")}, "the dictionary from en to fr has more than 3 terms: divide it between several glossaries"},
		{"n", []glossary.Terms{of(french, strings.Repeat("a", 20), strings.Repeat("b", 19))}, "the terms of the glossary have 41 bytes, at most 40 are allowed: divide it"},
	} {
		_, err := s.Create(ctx, "alice", test.name, test.terms)
		assert.EqualError(t, err, test.want)
	}
	_, err = s.Create(ctx, "alice", strings.Repeat("x", 1024), []glossary.Terms{of(french, "a", "b")})
	require.NoError(t, err)
	_, err = s.Create(ctx, "alice", "third", []glossary.Terms{of(french, "a", "b")})
	assert.EqualError(t, err, "there are 2 glossaries already, and no more are allowed: delete one")
	list, err := s.List(ctx, "alice")
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, g, list[1])
}

// The glossaries of other owners are not found.
func TestOwners(t *testing.T) {
	s, ctx := newService(t), t.Context()
	g, err := s.Create(ctx, "alice", "Ours", []glossary.Terms{of(french, "cat", "chat")})
	require.NoError(t, err)
	name := "theirs"
	for _, owner := range []string{"bob", "", "alic", "alice "} {
		_, err := s.Get(ctx, owner, g.ID)
		assert.ErrorIs(t, err, glossary.ErrUnknown)
		_, err = s.Terms(ctx, owner, g.ID, []glossary.Pair{french})
		assert.ErrorIs(t, err, glossary.ErrUnknown)
		_, err = s.Change(ctx, owner, g.ID, glossary.Change{Name: &name})
		assert.ErrorIs(t, err, glossary.ErrUnknown)
		assert.ErrorIs(t, s.RemoveDictionary(ctx, owner, g.ID, french), glossary.ErrUnknown)
		assert.ErrorIs(t, s.Remove(ctx, owner, g.ID), glossary.ErrUnknown)
		list, err := s.List(ctx, owner)
		require.NoError(t, err)
		assert.Empty(t, list)
	}
	found, err := s.Get(ctx, "alice", g.ID)
	require.NoError(t, err)
	assert.Equal(t, g, found)
	require.NoError(t, s.Remove(ctx, "alice", g.ID))
	_, err = s.Get(ctx, "alice", g.ID)
	assert.ErrorIs(t, err, glossary.ErrUnknown)
}

func TestTerms(t *testing.T) {
	s, ctx := newService(t), t.Context()
	swiss := glossary.Pair{From: "en", To: "zh"}
	g, err := s.Create(ctx, "", "Ours", []glossary.Terms{of(french, "cat", "chat"), of(german, "cat", "Katze", "X", "X"), of(swiss, "a", "b")})
	require.NoError(t, err)
	for want, pairs := range map[string][]glossary.Pair{
		"en fr": {french, {From: "EN", To: "fr-FR"}, {From: "eng_Latn", To: "fra_Latn"}},
		"en de": {german, {From: "en-GB", To: "ger"}},
		"en zh": {{From: "en", To: "zh-Hans"}},
	} {
		for _, p := range pairs {
			got, err := s.Terms(ctx, "", g.ID, []glossary.Pair{p})
			require.NoError(t, err, p)
			assert.Equal(t, want, got[0].From+" "+got[0].To)
		}
	}
	got, err := s.Terms(ctx, "", g.ID, []glossary.Pair{german, french})
	require.NoError(t, err)
	assert.Equal(t, []glossary.Terms{of(german, "cat", "Katze", "X", "X"), of(french, "cat", "chat")}, got)

	for _, p := range []glossary.Pair{{From: "fr", To: "en"}, {From: "en", To: "ja"}, {From: "auto", To: "fr"}, {}} {
		_, err := s.Terms(ctx, "", g.ID, []glossary.Pair{french, p})
		var without *fault.Failure
		require.ErrorAs(t, err, &without)
		assert.Equal(t, fault.NoDictionary, without.Kind)
		assert.ErrorContains(t, err, fmt.Sprintf("no dictionary from %q to %q", p.From, p.To))
		assert.ErrorContains(t, err, "but en to de, en to fr, en to zh")
	}

	small := admission.New(100)
	lease := small.Lease("alice")
	defer lease.Close()
	_, err = s.Terms(admission.With(ctx, lease), "", g.ID, []glossary.Pair{german})
	assert.ErrorIs(t, err, budget.ErrFull)
}

func TestWith(t *testing.T) {
	stored := of(french, "cat", "chat", "dog", "chien")
	assert.Equal(t, of(french, "cat", "minou", "dog", "chien", "X", "X").List, stored.With(of(french, "cat", "minou", "X", "X").List))
	assert.Equal(t, of(french, "a", "b").List, of(french, "a", "b").With(nil))
	assert.Equal(t, of(french, "a", "b").List, of(french).With(of(french, "a", "b").List))
}

func TestChange(t *testing.T) {
	s, ctx := newService(t), t.Context()
	g, err := s.Create(ctx, "", "Ours", []glossary.Terms{of(french, "cat", "chat")})
	require.NoError(t, err)
	check := func(change glossary.Change, want ...glossary.Terms) {
		t.Helper()
		changed, err := s.Change(ctx, "", g.ID, change)
		require.NoError(t, err)
		assert.True(t, changed.Changed.After(g.Changed))
		assert.Equal(t, g.Created, changed.Created)
		var pairs []glossary.Pair
		for _, d := range changed.Dictionaries {
			pairs = append(pairs, d.Pair)
		}
		got, err := s.Terms(ctx, "", g.ID, pairs)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, got)
		g = changed
	}
	name := "New"
	check(glossary.Change{Name: &name}, of(french, "cat", "chat"))
	assert.Equal(t, "New", g.Name)
	check(glossary.Change{Terms: []glossary.Terms{of(german, "cat", "Katze")}}, of(french, "cat", "chat"), of(german, "cat", "Katze"))
	check(glossary.Change{Terms: []glossary.Terms{of(french, "dog", "chien")}}, of(french, "dog", "chien"), of(german, "cat", "Katze"))
	check(glossary.Change{Merge: true, Terms: []glossary.Terms{of(french, "cat", "chat", "dog", "toutou"), of(german)}},
		of(french, "dog", "toutou", "cat", "chat"), of(german, "cat", "Katze"))
	check(glossary.Change{Terms: []glossary.Terms{of(german)}}, of(french, "dog", "toutou", "cat", "chat"))
	check(glossary.Change{Whole: true, Terms: []glossary.Terms{of(german, "a", "b")}}, of(german, "a", "b"))
	assert.Equal(t, "New", g.Name)

	empty := ""
	for want, change := range map[string]glossary.Change{
		glossary.ErrEmpty.Error(): {Whole: true},
		glossary.ErrName.Error():  {Name: &empty},
		"the dictionary from en to de has more than 3 terms: divide it between several glossaries": {Merge: true, Terms: []glossary.Terms{of(german, "c", "d", "e", "f", "g", "h")}},
	} {
		_, err := s.Change(ctx, "", g.ID, change)
		assert.EqualError(t, err, want)
	}
	check(glossary.Change{}, of(german, "a", "b"))

	var without *fault.Failure
	require.ErrorAs(t, s.RemoveDictionary(ctx, "", g.ID, french), &without)
	assert.Equal(t, fault.NoDictionary, without.Kind)
	require.NoError(t, s.RemoveDictionary(ctx, "", g.ID, glossary.Pair{From: "EN", To: "DE"}))
	check(glossary.Change{})
	check(glossary.Change{Terms: []glossary.Terms{of(german, "a", "b")}}, of(german, "a", "b"))
}

// Without a store all calls fail with the same error.
func TestNoStore(t *testing.T) {
	s, ctx := glossary.New(glossary.Config{Missing: errors.New("no file"), Limits: limits}), t.Context()
	_, created := s.Create(ctx, "", "n", []glossary.Terms{of(french, "a", "b")})
	_, got := s.Get(ctx, "", "x")
	_, terms := s.Terms(ctx, "", "x", nil)
	for _, err := range []error{created, got, terms, s.Remove(ctx, "", "x")} {
		var none *fault.Unavailable
		require.ErrorAs(t, err, &none)
		assert.EqualError(t, none.Reason, "no file")
	}
}
