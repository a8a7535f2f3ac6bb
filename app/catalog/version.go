package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"dragoman/app/language"
	"dragoman/app/translate"
	"dragoman/model/repository"
)

// versionKey tells versions apart: one whose folder or configuration changes is another.
type versionKey struct {
	name, key, fingerprint string
	number                 int
}

// version is a version of a model.
type version struct {
	catalog     *Catalog
	number      int
	fingerprint string // of its folder
	source      Source
	key         string // of its instance: equal where versions translate alike
	from, to    []string
	pairs       []repository.Pair // with codes of the model's languages; none: all

	// Guarded by the catalog's mu.
	tried   bool  // it was loaded once
	broken  error // why it cannot be
	onTrial bool
}

func newVersion(c *Catalog, m repository.Model, v repository.Version) *version {
	made := &version{
		catalog: c, number: v.Number, fingerprint: v.Fingerprint, key: keyOf(v, m.Config),
		source: Source{Name: m.Name, Version: strconv.Itoa(v.Number), Dir: v.Dir, Manifest: v.Manifest, Identity: v.Identity, Config: m.Config},
	}
	made.setPairs(v.Manifest.Languages)
	return made
}

// keyOf tells instances apart: the files' contents, and how they are opened.
func keyOf(v repository.Version, c repository.Config) string {
	raw, _ := json.Marshal(struct { // of plain values, which cannot fail
		Identity         string
		Device           string
		Workers, Threads int
		Beams, MaxLength int
		KVMemory         int64
	}{v.Identity, c.Device, c.Workers, c.Threads, c.Beams, c.MaxLength, c.KVMemory})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// setPairs finds out what the version translates.
func (v *version) setPairs(languages []string) {
	languages = slices.Sorted(slices.Values(languages))
	v.from, v.to = languages, languages
	if len(v.source.Config.Pairs) == 0 {
		return
	}
	v.from, v.to = nil, nil
	for _, p := range v.source.Config.Pairs {
		from, okFrom := find(languages, p.From)
		to, okTo := find(languages, p.To)
		if !okFrom || !okTo {
			continue // not one of the model's
		}
		v.pairs = append(v.pairs, repository.Pair{From: from[0], To: to[0]})
		if len(from) > 1 {
			v.pairs[len(v.pairs)-1].From = anyLanguage
		}
		if len(to) > 1 {
			v.pairs[len(v.pairs)-1].To = anyLanguage
		}
		v.from, v.to = sortedUnion(v.from, from), sortedUnion(v.to, to)
	}
}

// anyLanguage stands for all languages in a pair.
const anyLanguage = "*"

// find are the languages that a side of a pair means.
func find(languages []string, name string) ([]string, bool) {
	if name == anyLanguage {
		return languages, true
	}
	code, ok := language.Find(languages, name)
	return []string{code}, ok
}

// offers says whether the version translates between two languages.
func (v *version) offers(from, to string) bool {
	if _, ok := slices.BinarySearch(v.from, from); !ok {
		return false
	}
	if _, ok := slices.BinarySearch(v.to, to); !ok {
		return false
	}
	return len(v.source.Config.Pairs) == 0 || slices.ContainsFunc(v.pairs, func(p repository.Pair) bool {
		return (p.From == anyLanguage || p.From == from) && (p.To == anyLanguage || p.To == to)
	})
}

// handle implements [translate.Handle].
type handle struct {
	version *version
	exact   bool // the request named the version
}

// Acquire implements [translate.Handle]. Where a version turns out to be broken that the request
// did not name, an older one that knows the same languages stands in.
func (h handle) Acquire(ctx context.Context) (*translate.Model, func(), error) {
	v := h.version
	for {
		m, release, err := v.catalog.acquire(ctx, v)
		if _, broken := errors.AsType[*BrokenError](err); !broken || h.exact {
			return m, release, err
		}
		next := v.catalog.standIn(v)
		if next == nil {
			return nil, nil, err
		}
		v = next
	}
}

// standIn is what is served in place of a version that is broken; nil where nothing is.
func (c *Catalog) standIn(v *version) *version {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.table.models[v.source.Name]
	if m == nil || m.current == v || m.current.broken != nil || !slices.Equal(m.current.from, v.from) || !slices.Equal(m.current.to, v.to) {
		return nil
	}
	return m.current
}

// id tells the version from all others, and from itself before its folder was changed.
func (v *version) id() versionKey {
	return versionKey{v.source.Name, v.key, v.fingerprint, v.number}
}
