package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// files are those of its tokenizers, by their keys.
func (c *Catalogue) files(b *Broker) map[string]model.File {
	files := make(map[string]model.File)
	for _, m := range c.Models {
		for _, v := range m.Versions {
			for _, file := range v.Manifest.TokenizerFiles() {
				files[b.fileKey(file.SHA256)] = file
			}
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
		m := &c.Models[i]
		m.Dir, m.Versions = "", slices.Clone(m.Versions)
		for j := range m.Versions {
			m.Versions[j].Dir, m.Versions[j].Fingerprint = "", m.Versions[j].Identity
		}
	}
	for _, p := range s.Pipelines {
		if p.Err == nil {
			c.Pipelines = append(c.Pipelines, p)
		}
	}
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
	type place struct {
		name   string
		number int
	}
	votes := make(map[place]map[string]int) // for identities
	models := make(map[string]*repository.Model)
	for _, c := range catalogues {
		for _, m := range c.Models {
			if models[m.Name] == nil {
				first := m
				first.Versions = nil
				models[m.Name] = &first
			}
			for _, v := range m.Versions {
				at := place{m.Name, v.Number}
				if votes[at] == nil {
					votes[at] = make(map[string]int)
				}
				votes[at][v.Identity]++
			}
		}
	}
	for _, c := range catalogues {
		for _, m := range c.Models {
			for _, v := range m.Versions {
				of := votes[place{m.Name, v.Number}]
				has := slices.ContainsFunc(models[m.Name].Versions, func(other repository.Version) bool { return other.Number == v.Number })
				if !has && of[v.Identity] == slices.Max(slices.Collect(maps.Values(of))) {
					models[m.Name].Versions = append(models[m.Name].Versions, v)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		m := models[name]
		slices.SortFunc(m.Versions, func(a, b repository.Version) int { return cmp.Compare(a.Number, b.Number) })
		s.Models = append(s.Models, *m)
	}
	for i, c := range catalogues {
		if i == 0 {
			s.Pivots = c.Pivots
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
	return s
}

// queueOf names the queue of a model: workers whose models have the same identity share it.
func queueOf(identity string) string { return identity[:min(len(identity), 16)] }

func (b *Broker) catalogueKey(hash string) string { return b.fleetKey("catalogue:" + hash) }
func (b *Broker) fileKey(sha256 string) string    { return b.fleetKey("file:" + sha256) }

// knownKey lists the hashes of the catalogues that gateways used last.
func (b *Broker) knownKey() string { return b.fleetKey("known") }

// publish puts what a snapshot serves into Redis, and the files of its tokenizers; keys are all of
// these. What cannot be read is left out.
func (b *Broker) publish(ctx context.Context, s repository.Snapshot, maxBeams, maxLength int) (hash string, keys []string, err error) {
	c := newCatalogue(s)
	c.MaxBeams, c.MaxLength = maxBeams, maxLength
	for i, m := range s.Models {
		keep := c.Models[i].Versions[:0]
		for j, v := range m.Versions {
			err := b.publishTokenizer(ctx, v)
			switch {
			case err == nil:
				keep = append(keep, c.Models[i].Versions[j])
			case errors.Is(err, errFile):
				b.log.Error("a model's tokenizer cannot be read: gateways do not get it from here", "model", m.Name, "version", v.Number, "error", err)
			default:
				return "", nil, err
			}
		}
		c.Models[i].Versions = keep
	}
	c.Models = slices.DeleteFunc(c.Models, func(m repository.Model) bool { return len(m.Versions) == 0 })
	raw, hash := c.encode()
	keys = append(slices.Collect(maps.Keys(c.files(b))), b.catalogueKey(hash))
	return hash, keys, b.do(ctx, func(p redis.Pipeliner) {
		p.Set(ctx, b.catalogueKey(hash), b.seals.seal(b.catalogueKey(hash), raw), kept)
	})
}

// publishTokenizer puts the files of a version's tokenizer into Redis.
func (b *Broker) publishTokenizer(ctx context.Context, v repository.Version) error {
	for name, file := range v.Manifest.TokenizerFiles() {
		if err := b.publishFile(ctx, filepath.Join(v.Dir, name), file); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// errFile means that a file here cannot be read, or is not what its manifest says.
var errFile = errors.New("the file is damaged")

// publishFile puts a file into Redis, or confirms that it is needed.
func (b *Broker) publishFile(ctx context.Context, path string, file model.File) error {
	confirmed, err := b.client.Expire(ctx, b.fileKey(file.SHA256), kept).Result()
	if err != nil || confirmed {
		return err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %w", errFile, err)
	}
	if !isFile(raw, file) {
		return fmt.Errorf("%w: its checksum is not the manifest's", errFile)
	}
	return b.client.Set(ctx, b.fileKey(file.SHA256), raw, kept).Err()
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
	sealed, err := b.client.Get(ctx, b.catalogueKey(hash)).Result()
	if err != nil {
		return nil, err
	}
	raw, err := b.open(b.catalogueKey(hash), sealed)
	if err != nil {
		return nil, err
	}
	c := Catalogue{raw: raw}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", errCatalogue, err)
	}
	for _, m := range c.Models {
		for _, v := range m.Versions {
			if v.Manifest == nil || v.Identity == "" {
				return nil, fmt.Errorf("%w: the model %s has no manifest", errCatalogue, m.Name)
			}
		}
	}
	return &c, nil
}

// ErrNoFile means that Redis does not have a file of a tokenizer.
var ErrNoFile = errors.New("the broker has not got the tokenizer's files: start a worker that has the model")

// FetchTokenizer writes the files of a model's tokenizer to the folder dir.
func (b *Broker) FetchTokenizer(ctx context.Context, m *model.Manifest, dir string) error {
	for name, file := range m.TokenizerFiles() {
		raw, err := b.client.Get(ctx, b.fileKey(file.SHA256)).Bytes()
		if errors.Is(err, redis.Nil) {
			return ErrNoFile
		}
		if err != nil {
			return err
		}
		if !isFile(raw, file) {
			return fmt.Errorf("the broker's %s is damaged", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			return err
		}
	}
	return nil
}
