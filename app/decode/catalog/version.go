package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"dragoman/app/text/language"
	"dragoman/model/repository"
)

// versionKey tells versions apart: one whose folder or configuration changes is another.
type versionKey struct {
	name, key, fingerprint string
	number                 int
}

// version is a version of a model.
type version struct {
	number      int
	fingerprint string // of its folder
	source      Source
	key         string // of its instance: equal where versions translate alike
	from, to    []string
	pairs       []repository.Pair // with codes of the model's languages; none: all

	*record
}

// record is what is known of a version, whatever its configuration says on whom it is offered to.
// It is guarded by the catalog's mu.
type record struct {
	tried    bool          // it was loaded once
	sound    bool          // its files are those of its manifest
	checking bool          // whether they are is being found out
	arrived  bool          // while others were served
	broken   *BrokenError  // why it cannot be
	fails    int           // times that it could not be, one after the other
	trial    chan struct{} // closed when the trial is over that it is on; nil: it is on none
}

func newVersion(m repository.Model, v repository.Version) *version {
	made := &version{
		record: new(record), number: v.Number, fingerprint: v.Fingerprint, key: keyOf(v, m.Config),
		source: Source{Name: m.Name, Version: strconv.Itoa(v.Number), Dir: v.Dir, Manifest: v.Manifest, Identity: v.Identity, Config: m.Config},
	}
	made.setPairs(v.Manifest.Directions())
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
func (v *version) setPairs(sources, targets []string) {
	sources, targets = slices.Sorted(slices.Values(sources)), slices.Sorted(slices.Values(targets))
	v.from, v.to = sources, targets
	if len(v.source.Config.Pairs) == 0 {
		return
	}
	v.from, v.to = nil, nil
	for _, p := range v.source.Config.Pairs {
		from, okFrom := find(sources, p.From)
		to, okTo := find(targets, p.To)
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

// id tells the version from all others, and from itself before its folder was changed.
func (v *version) id() versionKey {
	return versionKey{v.source.Name, v.key, v.fingerprint, v.number}
}
