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

// Catalogue is the list of models and pipelines with which a worker translates. Redis keeps catalogues, and the files of the
// models' tokenizers, by the hash of their content. Gateways need nothing else.
type Catalogue struct {
	Models    []repository.Model
	Pipelines []repository.Pipeline
	Order     []string
	Pivots    []string
	// MaxBeams and MaxLength are the most that the worker's engines allow a sentence.
	MaxBeams, MaxLength int

	raw []byte // JSON
}

// kept is the time for which Redis keeps catalogues and files without renewal: for so long, gateways without workers know what
// the workers could translate.
const kept = 7 * 24 * time.Hour

// versionsOf iterates over the versions of models, each with its model.
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

// files returns the files of the tokenizers by key.
func (c *Catalogue) files(k keys) map[string]model.File {
	files := make(map[string]model.File)
	for _, v := range versionsOf(c.Models) {
		for _, file := range v.Manifest.TokenizerFiles() {
			files[k.file(file.SHA256)] = file
		}
	}
	return files
}

// encode returns the catalogue as Redis keeps it, and its hash.
func (c *Catalogue) encode() (raw []byte, hash string) {
	raw, _ = json.Marshal(c) // no error, because the catalogue is plain data
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:])
}

// merge returns what catalogues offer together. Where catalogues have different exports under one name and version, merge takes
// the export that most of them have, or the first of equally frequent ones.
func merge(catalogues []*Catalogue) (s repository.Snapshot) {
	type export struct {
		name     string
		number   int
		identity string // "": the count is that of the most frequent export
	}
	votes := make(map[export]int)
	for _, c := range catalogues {
		for m, v := range versionsOf(c.Models) {
			one, best := export{m.Name, v.Number, v.Identity}, export{m.Name, v.Number, ""}
			votes[one]++
			votes[best] = max(votes[best], votes[one])
		}
	}
	versions := make(map[string][]repository.Version)
	for _, c := range catalogues {
		for m, v := range versionsOf(c.Models) {
			if votes[export{m.Name, v.Number, v.Identity}] == votes[export{m.Name, v.Number, ""}] {
				versions[m.Name] = union(versions[m.Name], []repository.Version{*v}, func(v repository.Version) int { return v.Number })
			}
		}
		s.Models = union(s.Models, c.Models, modelOf)
		s.Pipelines = union(s.Pipelines, c.Pipelines, pipelineOf)
		s.Order = union(s.Order, c.Order, itself)
	}
	slices.SortFunc(s.Models, func(a, b repository.Model) int { return cmp.Compare(a.Name, b.Name) })
	for i := range s.Models {
		m := &s.Models[i]
		m.Versions = versions[m.Name]
		slices.SortFunc(m.Versions, func(a, b repository.Version) int { return cmp.Compare(a.Number, b.Number) })
	}
	if len(catalogues) > 0 {
		s.Pivots = catalogues[0].Pivots
	}
	return s
}

func modelOf(m repository.Model) string       { return m.Name }
func pipelineOf(p repository.Pipeline) string { return p.Name }
func itself(name string) string               { return name }

// union returns list and the elements of others whose key no earlier element has.
func union[T any, K comparable](list, others []T, key func(T) K) []T {
	has := make(map[K]bool)
	for _, one := range list {
		has[key(one)] = true
	}
	list = slices.Clip(list)
	for _, other := range others {
		if k := key(other); !has[k] {
			has[k] = true
			list = append(list, other)
		}
	}
	return list
}

// publish stores the catalogue of a snapshot and the files of its tokenizers, and returns the keys of both in Redis. Versions
// whose files cannot be read are left out.
func (b *Broker) publish(ctx context.Context, s repository.Snapshot, maxBeams, maxLength int) (hash string, keys []string, err error) {
	c := Catalogue{Order: s.Order, Pivots: s.Pivots, MaxBeams: maxBeams, MaxLength: maxLength}
	for _, m := range s.Models {
		versions := m.Versions
		m.Dir, m.Versions = "", nil // gateways have no folders
		for _, v := range versions {
			err := b.publishTokenizer(ctx, v)
			if errors.Is(err, errFile) {
				b.log.Error("a model's tokenizer cannot be read: gateways do not get it from here", "model", m.Name, "version", v.Number, "error", err)
				continue
			}
			if err != nil {
				return "", nil, err
			}
			v.Dir, v.Fingerprint = "", v.Identity
			m.Versions = append(m.Versions, v)
		}
		if len(m.Versions) > 0 {
			c.Models = append(c.Models, m)
		}
	}
	c.Pipelines = slices.DeleteFunc(slices.Clone(s.Pipelines), func(p repository.Pipeline) bool { return p.Err != nil })
	raw, hash := c.encode()
	key := b.keys.catalogue(hash)
	keys = append(slices.Collect(maps.Keys(c.files(b.keys))), key)
	return hash, keys, b.client.Set(ctx, key, b.seals.seal(key, raw), kept).Err()
}

// errFile means that a file of a worker cannot be read, or differs from its manifest.
var errFile = errors.New("the file is damaged")

// publishTokenizer stores the files of a version's tokenizer, or renews them.
func (b *Broker) publishTokenizer(ctx context.Context, v repository.Version) error {
	for name, file := range v.Manifest.TokenizerFiles() {
		key := b.keys.file(file.SHA256)
		if renewed, err := b.client.Expire(ctx, key, kept).Result(); err != nil || renewed {
			if err != nil {
				return err
			}
			continue
		}
		raw, err := os.ReadFile(filepath.Join(v.Dir, name))
		if err == nil && !isFile(raw, file) {
			err = errors.New("its checksum is not the manifest's")
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w", name, errFile, err)
		}
		if err := b.client.Set(ctx, key, raw, kept).Err(); err != nil {
			return err
		}
	}
	return nil
}

// isFile reports whether a file has some content.
func isFile(raw []byte, file model.File) bool {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]) == file.SHA256
}

// ErrNoFile means that Redis does not have a file of a tokenizer.
var ErrNoFile = errors.New("the broker has not got the tokenizer's files: start a worker that has the model")

// FetchTokenizer writes the files of a model's tokenizer to the folder dir, and none outside it.
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
