package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"dragoman/app/text/language"
	"dragoman/model/repository"
)

// versionKey identifies a version: a change of its folder or configuration makes another version.
type versionKey struct {
	name        string // of the model
	number      int
	key         string // key of its instance: equal for versions that translate alike
	fingerprint string // fingerprint of its folder
}

func keyOfVersion(m repository.Model, v repository.Version) versionKey {
	return versionKey{m.Name, v.Number, keyOf(v, m.Config), v.Fingerprint}
}

type version struct {
	versionKey
	source   Source
	from, to []string            // languages, sorted
	targets  map[string][]string // by source language, sorted

	*versionState
}

// versionState is the state of a version, independent of the part of its configuration that offers it. The catalog's mu guards
// the state.
type versionState struct {
	tried    bool          // it was loaded once
	sound    bool          // its files match its manifest
	checking bool          // its files are being compared
	arrived  bool          // it arrived while others were served
	broken   *BrokenError  // why it cannot be loaded
	fails    int           // number of failures in a row
	trial    chan struct{} // closed at the end of its trial; nil: no trial is under way
}

func newVersion(m repository.Model, v repository.Version) *version {
	made := &version{
		versionState: new(versionState), versionKey: keyOfVersion(m, v),
		source: Source{Name: m.Name, Version: strconv.Itoa(v.Number), Dir: v.Dir, Manifest: v.Manifest, Identity: v.Identity, Config: m.Config},
	}
	made.setTargets(v.Manifest.Directions())
	return made
}

// keyOf returns the key of an instance, a hash of the files' identity and of the options with which they are opened.
func keyOf(v repository.Version, c repository.Config) string {
	raw, _ := json.Marshal(struct { // plain values, which cannot fail
		Identity         string
		Device           string
		Workers, Threads int
		Beams, MaxLength int
		KVMemory         int64
		OpenAI           *repository.OpenAI `json:",omitempty"`
	}{v.Identity, c.Device, c.Workers, c.Threads, c.Beams, c.MaxLength, c.KVMemory, c.OpenAI})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// setTargets computes the pairs of languages of the version.
func (v *version) setTargets(sources, targets []string) {
	sources, targets = slices.Sorted(slices.Values(sources)), slices.Sorted(slices.Values(targets))
	pairs := v.source.Config.Pairs
	if len(pairs) == 0 {
		pairs = []repository.Pair{{From: anyLanguage, To: anyLanguage}}
	}
	v.targets = make(map[string][]string)
	for _, p := range pairs {
		from, okFrom := find(sources, p.From)
		to, okTo := find(targets, p.To)
		if !okFrom || !okTo {
			continue // not a pair of the model
		}
		v.to = sortedUnion(v.to, to)
		for _, code := range from {
			if known := v.targets[code]; known != nil {
				v.targets[code] = sortedUnion(known, to)
			} else {
				v.targets[code] = to // languages with the same targets share one list
			}
		}
	}
	v.from = slices.Sorted(maps.Keys(v.targets))
}

// anyLanguage stands for all languages in a pair.
const anyLanguage = "*"

// find returns the languages that a side of a pair stands for.
func find(languages []string, name string) ([]string, bool) {
	if name == anyLanguage {
		return languages, true
	}
	code, ok := language.Find(languages, name)
	return []string{code}, ok
}

// handle implements [translate.Handle].
type handle struct {
	version *version
	exact   bool // the request named the version
}
