package catalog

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
	"dragoman/model/repository"
)

// fetcher can fetch models for pairs of languages, and records those that it was asked for.
type fetcher struct {
	pairs map[string][]string
	asked []string
}

func (f *fetcher) Pairs() map[string][]string { return f.pairs }

func (f *fetcher) Fetch(from, to string) error {
	f.asked = append(f.asked, from+"-"+to)
	return fmt.Errorf("%s-%s is being fetched", from, to)
}

// A request has a served model fetched never, a missing one when it needs it, and languages are those of both.
func TestMissingModelsAreFetched(t *testing.T) {
	f := &fetcher{pairs: map[string][]string{"en": {"de", "fr", "nb"}, "de": {"en"}, "fr": {"en"}, "zh": {"en"}}}
	c := New(Config{Log: slog.New(slog.DiscardHandler), Fetcher: f})
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	c.Update(repository.Snapshot{})
	empty, err := c.Select("")
	require.NoError(t, err, "without a model, all are missing")
	assert.Equal(t, []string{"de", "en", "fr", "nb", "zh"}, empty.Languages())
	assert.Equal(t, []string{"de", "en", "fr", "nb"}, empty.Targets("de"), "by way of English")
	assert.Equal(t, map[string]string{"fr": "en", "nb": "en"}, empty.Pivots("de"))
	assert.Empty(t, f.asked, "to ask for languages fetches nothing")

	c.Update(snapshotOf(servedModel("en-fr", []string{"en", "fr"}, repository.Pair{From: "en", To: "fr"})))
	s, err := c.Select("")
	require.NoError(t, err)
	for _, test := range []struct {
		from, to string
		asked    []string
		failure  string
	}{
		{"en", "fr", nil, ""}, // served
		{"en", "de", []string{"en-de"}, "en-de is being fetched"},
		{"de", "fr", []string{"de-en"}, "de-en is being fetched"},          // of the way through English one is served
		{"de", "nb", []string{"de-en", "en-nb"}, "de-en is being fetched"}, // of this none
		{"en", "zh", nil, "there is no model that translates"},
		{"nb", "fr", nil, "there is no model that translates"}, // nothing is fetched for half of a way
	} {
		f.asked = nil
		route, err := s.Route(test.from, test.to)
		assert.Equal(t, test.asked, f.asked, "%s to %s", test.from, test.to)
		if test.failure == "" {
			assert.NoError(t, err)
			assert.Equal(t, "en-fr", route.Model)
			continue
		}
		assert.ErrorContains(t, err, test.failure)
		_, refused := errors.AsType[*translate.Error](err)
		assert.Equal(t, test.asked == nil, refused)
	}

	named, err := c.Select("en-fr")
	require.NoError(t, err)
	_, err = named.Route("en", "de")
	assert.Error(t, err)
	assert.Empty(t, f.asked, "a request that names a model has no other fetched")
}
