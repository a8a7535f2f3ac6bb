package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/model"
	"dragoman/model/repository"
)

// Catalogue is what a worker has to translate with. Redis keeps it, and the files of the models'
// tokenizers, by the hash of their content; gateways need nothing else.
type Catalogue struct {
	Models    []repository.Model
	Pipelines []repository.Pipeline
	Order     []string
	Pivots    []string
	// The most that the worker's engines allow a sentence.
	MaxBeams, MaxLength int

	raw []byte // its JSON
}

// versionsOf are the versions of models, each with its model.
func versionsOf(models []repository.Model) iter.Seq2[*repository.Model, *repository.Version] {
	return func(yield func(*repository.Model, *repository.Version) bool) {
		for i := range models {
			for j := range models[i].Versions {
				if !yield(&models[i], &models[i].Versions[j]) {
					return
				}
			}
		}
	}
}

// files are those of its tokenizers, by their keys.
func (c *Catalogue) files(k keys) map[string]model.File {
	files := make(map[string]model.File)
	for _, v := range versionsOf(c.Models) {
		for _, file := range v.Manifest.TokenizerFiles() {
			files[k.file(file.SHA256)] = file
		}
	}
	return files
}

// kept is how long Redis keeps what workers have put there and do not confirm any more: so long
// a fleet without workers knows what it could translate.
const kept = 7 * 24 * time.Hour

// newCatalogue is what a snapshot serves, without folders.
func newCatalogue(s repository.Snapshot) Catalogue {
	c := Catalogue{Order: s.Order, Pivots: s.Pivots, Models: slices.Clone(s.Models)}
	for i := range c.Models {
		c.Models[i].Dir, c.Models[i].Versions = "", slices.Clone(c.Models[i].Versions)
	}
	for _, v := range versionsOf(c.Models) {
		v.Dir, v.Fingerprint = "", v.Identity
	}
	c.Pipelines = slices.DeleteFunc(slices.Clone(s.Pipelines), func(p repository.Pipeline) bool { return p.Err != nil })
	return c
}

// encode is the catalogue's form in Redis, and its hash.
func (c *Catalogue) encode() (raw []byte, hash string) {
	raw, _ = json.Marshal(c) // of plain data
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:])
}

// merge is what catalogues offer together, those first that count most. Where they have other
// exports under the same name and version, the first of those that are in most catalogues is taken.
func merge(catalogues []*Catalogue) (s repository.Snapshot) {
	type export struct {
		name     string
		number   int
		identity string // "" is the one in most catalogues
	}
	votes := make(map[export]int)
	for _, c := range catalogues {
		for m, v := range versionsOf(c.Models) {
			one, best := export{m.Name, v.Number, v.Identity}, export{m.Name, v.Number, ""}
			votes[one]++
			votes[best] = max(votes[best], votes[one])
		}
	}
	models := make(map[string]*repository.Model)
	for _, c := range catalogues {
		for _, m := range c.Models {
			if models[m.Name] == nil {
				m.Versions = nil
				models[m.Name] = &m
			}
		}
		for m, v := range versionsOf(c.Models) {
			into := models[m.Name]
			has := slices.ContainsFunc(into.Versions, func(other repository.Version) bool { return other.Number == v.Number })
			if !has && votes[export{m.Name, v.Number, v.Identity}] == votes[export{m.Name, v.Number, ""}] {
				into.Versions = append(into.Versions, *v)
			}
		}
		for _, p := range c.Pipelines {
			if !slices.ContainsFunc(s.Pipelines, func(other repository.Pipeline) bool { return other.Name == p.Name }) {
				s.Pipelines = append(s.Pipelines, p)
			}
		}
		for _, name := range c.Order {
			if !slices.Contains(s.Order, name) {
				s.Order = append(s.Order, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		m := models[name]
		slices.SortFunc(m.Versions, func(a, b repository.Version) int { return cmp.Compare(a.Number, b.Number) })
		s.Models = append(s.Models, *m)
	}
	if len(catalogues) > 0 {
		s.Pivots = catalogues[0].Pivots
	}
	return s
}

// publish puts what a snapshot serves into Redis, and the files of its tokenizers; keys are all of
// these. What cannot be read is left out.
func (b *Broker) publish(ctx context.Context, s repository.Snapshot, maxBeams, maxLength int) (hash string, keys []string, err error) {
	var models []repository.Model
	for _, m := range s.Models {
		var readable []repository.Version
		for _, v := range m.Versions {
			switch err := b.publishTokenizer(ctx, v); {
			case err == nil:
				readable = append(readable, v)
			case errors.Is(err, errFile):
				b.log.Error("a model's tokenizer cannot be read: gateways do not get it from here", "model", m.Name, "version", v.Number, "error", err)
			default:
				return "", nil, err
			}
		}
		if m.Versions = readable; len(readable) > 0 {
			models = append(models, m)
		}
	}
	s.Models = models
	c := newCatalogue(s)
	c.MaxBeams, c.MaxLength = maxBeams, maxLength
	raw, hash := c.encode()
	keys = append(slices.Collect(maps.Keys(c.files(b.keys))), b.keys.catalogue(hash))
	return hash, keys, b.client.Set(ctx, b.keys.catalogue(hash), b.seals.seal(b.keys.catalogue(hash), raw), kept).Err()
}

// errFile means that a file here cannot be read, or is not what its manifest says.
var errFile = errors.New("the file is damaged")

// publishTokenizer puts the files of a version's tokenizer into Redis, or confirms that they are needed.
func (b *Broker) publishTokenizer(ctx context.Context, v repository.Version) error {
	for name, file := range v.Manifest.TokenizerFiles() {
		confirmed, err := b.client.Expire(ctx, b.keys.file(file.SHA256), kept).Result()
		if err != nil {
			return err
		}
		if confirmed {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(v.Dir, name))
		if err == nil && !isFile(raw, file) {
			err = errors.New("its checksum is not the manifest's")
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w", name, errFile, err)
		}
		if err := b.client.Set(ctx, b.keys.file(file.SHA256), raw, kept).Err(); err != nil {
			return err
		}
	}
	return nil
}

// isFile says whether some content is a file's.
func isFile(raw []byte, file model.File) bool {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]) == file.SHA256
}

// errCatalogue means that a catalogue cannot be read.
var errCatalogue = errors.New("the catalogue is damaged")

// catalogue reads one that a worker has published. The error is [redis.Nil] where it is not there,
// errForged where no member has, and wraps errCatalogue where it is none.
func (b *Broker) catalogue(ctx context.Context, hash string) (*Catalogue, error) {
	sealed, err := b.client.Get(ctx, b.keys.catalogue(hash)).Result()
	if err != nil {
		return nil, err
	}
	raw, err := b.open(b.keys.catalogue(hash), sealed)
	if err != nil {
		return nil, err
	}
	c := Catalogue{raw: raw}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", errCatalogue, err)
	}
	for m, v := range versionsOf(c.Models) {
		if v.Manifest == nil || v.Identity == "" {
			return nil, fmt.Errorf("%w: the model %s has no manifest", errCatalogue, m.Name)
		}
	}
	return &c, nil
}

// ErrNoFile means that Redis does not have a file of a tokenizer.
var ErrNoFile = errors.New("the broker has not got the tokenizer's files: start a worker that has the model")

// FetchTokenizer writes the files of a model's tokenizer to the folder dir, and none beside it.
func (b *Broker) FetchTokenizer(ctx context.Context, m *model.Manifest, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for name, file := range m.TokenizerFiles() {
		raw, err := b.client.Get(ctx, b.keys.file(file.SHA256)).Bytes()
		if errors.Is(err, redis.Nil) {
			return ErrNoFile
		}
		if err != nil {
			return err
		}
		if !isFile(raw, file) {
			return fmt.Errorf("the broker's %s is damaged", name)
		}
		if err := root.WriteFile(name, raw, 0o600); err != nil {
			return err
		}
	}
	return nil
}
