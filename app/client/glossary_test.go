package client

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
	"dragoman/app/guard/access"
)

func newGlossaries(t *testing.T) *glossary.Service {
	store, err := glossarystore.OpenFile(filepath.Join(t.TempDir(), "glossaries.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return glossary.New(glossary.Config{Store: store, Limits: glossary.Limits{Terms: 5, Bytes: 500, PerOwner: 2}})
}

func TestContractOfGlossaries(t *testing.T) {
	c, _ := contract(t, Config{}, access.Config{})
	ctx := t.Context()
	list, err := c.Glossaries(ctx)
	require.NoError(t, err)
	assert.Empty(t, list)
	made, err := c.CreateGlossary(ctx, "Ours & theirs", Terms{"en", "fr", TSV, []byte("cat\tchat\nAcme\n")})
	require.NoError(t, err)
	assert.Equal(t, []Dictionary{{"en", "fr", 2}}, made.Dictionaries)
	assert.Equal(t, "Ours & theirs", made.Name)
	assert.False(t, made.Created.IsZero())
	changed, err := c.SetTerms(ctx, made.ID, Terms{"en", "ja", CSV, []byte("cat,猫\n")})
	require.NoError(t, err)
	assert.Equal(t, []Dictionary{{"en", "fr", 2}, {"en", "ja", 1}}, changed.Dictionaries)
	found, err := c.Glossary(ctx, made.ID)
	require.NoError(t, err)
	assert.Equal(t, changed, found)
	list, err = c.Glossaries(ctx)
	require.NoError(t, err)
	assert.Equal(t, []Glossary{changed}, list)

	terms, err := c.GlossaryTerms(ctx, made.ID, "en", "fr", CSV)
	require.NoError(t, err)
	assert.Equal(t, "cat,chat\nAcme,Acme\n", string(terms.Text))
	_, err = c.GlossaryTerms(ctx, made.ID, "", "", TSV)
	assert.True(t, IsCode(err, CodeInvalidGlossary), err)
	_, err = c.GlossaryTerms(ctx, made.ID, "fr", "en", TSV)
	assert.True(t, IsCode(err, CodeNoDictionary), err)

	_, err = c.CreateGlossary(ctx, "n", Terms{"en", "fr", TSV, []byte("a\tb\na\tc\n")})
	assert.True(t, IsCode(err, CodeInvalidGlossary), err)
	assert.ErrorContains(t, err, "line 2")
	results, err := c.Translate(ctx, Request{From: "en", To: "fr", Glossary: made.ID, Records: []Record{{"1", "x"}}})
	require.NoError(t, err)
	assert.Equal(t, "X", results[0].Text)
	_, err = c.Translate(ctx, Request{From: "fr", To: "en", Glossary: made.ID, Records: []Record{{"1", "x"}}})
	assert.True(t, IsCode(err, CodeNoDictionary), err)

	_, err = c.CreateGlossary(ctx, "second", Terms{"en", "fr", TSV, []byte("a")})
	require.NoError(t, err)
	_, err = c.CreateGlossary(ctx, "third", Terms{"en", "fr", TSV, []byte("a")})
	assert.True(t, IsCode(err, CodeTooManyGlossaries), err)
	require.NoError(t, c.DeleteGlossary(ctx, made.ID))
	for _, err := range []error{c.DeleteGlossary(ctx, made.ID), c.DeleteGlossary(ctx, "a/b?")} {
		assert.True(t, err != nil && !IsCode(err, ""), err)
	}
	_, err = c.Glossary(ctx, made.ID)
	assert.True(t, IsCode(err, CodeUnknownGlossary), err)
}

// A request with an unknown outcome is not repeated; a refused one is.
func TestCreateGlossaryOnce(t *testing.T) {
	var tries atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch tries.Add(1) {
		case 1:
			w.WriteHeader(503)
			_, _ = w.Write([]byte(`{"error":{"code":"not_ready","message":"loading"}}`))
		default:
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	c, err := New(Config{URL: server.URL, MaxBackoff: time.Millisecond})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.CreateGlossary(t.Context(), "n", Terms{"en", "fr", TSV, []byte("a")})
	assert.Error(t, err)
	assert.EqualValues(t, 2, tries.Load())
	_, err = c.SetTerms(t.Context(), "id", Terms{"en", "fr", TSV, []byte("a")})
	assert.ErrorContains(t, err, "after 4 tries")
}
