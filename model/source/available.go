package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Available is a model that can be pulled.
type Available struct {
	Ref       string // as ParseRef takes it
	From, To  string // the languages of a pair, as the source calls them; "" for a model of many languages
	Languages int
	Bytes     int64  // of the download; 0: unknown
	License   string // "" if unknown
}

// The sources whose models [Client.Available] lists.
const (
	Firefox = "firefox" // Firefox's own models, for pairs of languages
	Opus    = "opus"    // the repositories of Opus-MT on the Hub, for pairs of languages
)

// large are the models of many languages.
var large = []Available{
	{Ref: "facebook/m2m100_418M", Languages: 100, Bytes: 1_940e6, License: "mit"},
	{Ref: "facebook/m2m100_1.2B", Languages: 100, Bytes: 4_960e6, License: "mit"},
	{Ref: "alirezamsh/small100", Languages: 100, Bytes: 1_330e6, License: "mit"},
	{Ref: "facebook/nllb-200-distilled-600M", Languages: 202, Bytes: 2_460e6, License: "cc-by-nc-4.0"},
	{Ref: "facebook/nllb-200-distilled-1.3B", Languages: 202, Bytes: 5_480e6, License: "cc-by-nc-4.0"},
	{Ref: "google/madlad400-3b-mt", Languages: 419, Bytes: 11_800e6, License: "apache-2.0"},
	{Ref: "facebook/mbart-large-50-many-to-many-mmt", Languages: 52, Bytes: 2_440e6},
}

const opusAuthor = "Helsinki-NLP"

var (
	opusPair = regexp.MustCompile(`^` + opusAuthor + `/opus-mt-([a-z]{2,3})-([a-z]{2,3})$`)
	nextPage = regexp.MustCompile(`<([^>]+)>\s*;\s*rel="next"`)
)

// Large returns the models of many languages that are known to work. Their sizes and licenses are those of their pages.
func Large() []Available { return slices.Clone(large) }

// Available lists the models of a source, [Firefox] or [Opus], sorted by their refs.
func (c *Client) Available(ctx context.Context, source string) (list []Available, err error) {
	if c.cfg.Offline {
		return nil, fmt.Errorf("%w: HF_HUB_OFFLINE forbids to ask which models there are", ErrOffline)
	}
	r := c.remote(ctx, Ref{})
	switch source {
	case Firefox:
		list, err = r.students()
	case Opus:
		list, err = r.opus()
	default:
		err = fmt.Errorf("%q is no source of models that can be listed: use %s or %s", source, Firefox, Opus)
	}
	slices.SortFunc(list, func(a, b Available) int { return cmp.Compare(a.Ref, b.Ref) })
	return list, err
}

// students returns the models of Mozilla's index that Firefox uses, one for each pair.
func (r *remote) students() (list []Available, err error) {
	base, _, err := r.indexes()
	if err != nil {
		return nil, err
	}
	records, err := r.firefoxRecords(base)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, record := range records {
		pair := record.pair()
		if seen[pair] || !firefoxPair.MatchString(pair) {
			continue
		}
		seen[pair] = true
		files, err := newest(records, pair)
		if err != nil {
			continue // it cannot be pulled, either
		}
		one := Available{Ref: pairPrefix + pair, License: "mpl-2.0", Languages: 2, From: strings.ToLower(cmp.Or(record.Source, record.From)), To: strings.ToLower(cmp.Or(record.Target, record.To))}
		for _, f := range files {
			one.Bytes += f.Attachment.Size
		}
		list = append(list, one)
	}
	return list, nil
}

// mostPages limits the pages of a list.
const mostPages = 100

// opus returns the repositories of Opus-MT for a pair of languages.
func (r *remote) opus() (list []Available, err error) {
	page := r.endpoint.JoinPath("api/models")
	page.RawQuery = url.Values{"author": {opusAuthor}, "search": {"opus-mt-"}, "limit": {"1000"}}.Encode()
	for range mostPages {
		var models []struct {
			ID   string   `json:"id"`
			Tags []string `json:"tags"`
		}
		if err := r.getJSON(page, &models); err != nil {
			return nil, err
		}
		for _, m := range models {
			pair := opusPair.FindStringSubmatch(m.ID)
			if pair == nil {
				continue
			}
			one := Available{Ref: m.ID, From: pair[1], To: pair[2], Languages: 2}
			for _, tag := range m.Tags {
				if license, ok := strings.CutPrefix(tag, "license:"); ok {
					one.License = license
				}
			}
			list = append(list, one)
		}
		next := nextPage.FindStringSubmatch(r.header.Get("Link"))
		if next == nil {
			return list, nil
		}
		if page, err = page.Parse(next[1]); err != nil || !sameOrigin(page, r.endpoint) {
			return nil, errors.New("the list of the Hub's models goes on at another host")
		}
	}
	return nil, fmt.Errorf("the list of the Hub's models has more than %d pages", mostPages)
}
