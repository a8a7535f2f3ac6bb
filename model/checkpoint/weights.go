package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
)

// MaxIndex is the maximum size of an index of shards in bytes.
const MaxIndex = 8 << 20

// weights are the tensors of a checkpoint's weight files, by the files' names.
type weights struct {
	path    string // the file, or the index of the shards
	tensors map[string]Tensor
	closers []io.Closer
}

// Indexed returns the name of the file whose shards an index lists, by the index's name; ok is false for other names.
func Indexed(index string) (name string, ok bool) { return strings.CutSuffix(index, ".index.json") }

// parsers read the headers of weight files, by extension.
var parsers = map[string]func(r io.ReaderAt, size int64) (map[string]Tensor, error){".safetensors": parseSafetensors, ".bin": parseTorch}

// openWeights opens the weights in dir. The caller must close them.
func openWeights(dir string) (*weights, error) {
	if w, err := openFirst(dir, model.WeightFiles); w != nil || err != nil {
		return w, err
	}
	if w, err := openUnpacked(dir); w != nil || err != nil {
		return w, err
	}
	return nil, WithOtherForm(fmt.Errorf("no weights in %s: expected one of %s", dir, strings.Join(model.WeightFiles, ", ")), filesBelow(dir))
}

// openFirst opens the first existing file in dir of these names, or the shards if it is an index. It returns nil if there is none.
func openFirst(dir string, names []string) (*weights, error) {
	for _, name := range names {
		w := &weights{path: filepath.Join(dir, name), tensors: make(map[string]Tensor)}
		if _, err := os.Stat(w.path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		files, shardOf := []string{name}, map[string]string(nil)
		if single, isIndex := Indexed(name); isIndex {
			var err error
			if shardOf, err = readIndex(w.path, filepath.Ext(single)); err != nil {
				return nil, err
			}
			files = distinct(shardOf)
		}
		if err := w.open(dir, files, shardOf); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		return w, nil
	}
	return nil, nil
}

// filesBelow returns the names of the files in a folder and in its folders.
func filesBelow(dir string) (names []string) {
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := fs.Glob(os.DirFS(dir), pattern) // no error, because the pattern is valid
		names = append(names, found...)
	}
	return names
}

// open opens the files, which must have each tensor of an index.
func (w *weights) open(dir string, files []string, shardOf map[string]string) error {
	for _, file := range files {
		if err := w.addFile(filepath.Join(dir, file)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shardOf)) {
		if _, ok := w.tensors[name]; !ok {
			return fmt.Errorf("%s: tensor %.100q is not in %s", w.path, name, shardOf[name])
		}
	}
	for _, prefix := range wrappers {
		w.unwrap(prefix)
	}
	return nil
}

// wrappers are the prefixes of the tensors of a model that was saved while wrapped: by torch.compile, or for training on several GPUs.
var wrappers = []string{"_orig_mod.", "module.", "_orig_mod."}

// unwrap removes a prefix from the names of the tensors, if all have it.
func (w *weights) unwrap(prefix string) {
	plain := make(map[string]Tensor, len(w.tensors))
	for name, t := range w.tensors {
		short, ok := strings.CutPrefix(name, prefix)
		if !ok {
			return
		}
		t.Name = short
		plain[short] = t
	}
	w.tensors = plain
}

// readIndex reads the shards of tensors.
func readIndex(path, ext string) (map[string]string, error) {
	raw, err := model.ReadSmall(path, MaxIndex)
	if err != nil {
		return nil, err
	}
	shardOf, err := parseIndex(raw, ext)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return shardOf, nil
}

// Shards returns the weight files in an index, which must have the extension ext.
func Shards(index []byte, ext string) ([]string, error) {
	shardOf, err := parseIndex(index, ext)
	return distinct(shardOf), err
}

func distinct(shardOf map[string]string) []string {
	return slices.Compact(slices.Sorted(maps.Values(shardOf)))
}

// plainName matches the names of shards, which become paths.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// parseIndex parses an index.
func parseIndex(raw []byte, ext string) (map[string]string, error) {
	o, err := object.Parse(raw)
	if err != nil {
		return nil, err
	}
	weightMap := o.Get("weight_map")
	if weightMap == nil {
		return nil, errors.New("\"weight_map\" is missing: this is not an index of weight files")
	}
	shardOf := make(map[string]string)
	err = object.Each(weightMap, func(name string, value json.RawMessage) error {
		var shard string
		if err := json.Unmarshal(value, &shard); err != nil || !plainName.MatchString(shard) || filepath.Ext(shard) != ext {
			return fmt.Errorf("tensor %.100q is in %s: expected the plain name of a %s file in the same folder", name, object.Shorten(value), ext)
		}
		shardOf[name] = shard
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("\"weight_map\": %w", err)
	}
	if len(shardOf) == 0 {
		return nil, errors.New("\"weight_map\" is empty")
	}
	return shardOf, nil
}

// addFile opens a file and adds its tensors.
func (w *weights) addFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("weight file missing or unreadable: %w", err)
	}
	w.closers = append(w.closers, file)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	tensors, err := parsers[filepath.Ext(path)](file, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for name, t := range tensors {
		if _, taken := w.tensors[name]; taken {
			return fmt.Errorf("%s: tensor %.100q is in another shard too", path, name)
		}
		w.tensors[name] = t
	}
	return nil
}

// Close closes the weight files. Tensors can no longer be read.
func (w *weights) Close() error {
	var errs []error
	for _, c := range w.closers {
		errs = append(errs, c.Close())
	}
	w.closers = nil
	return errors.Join(errs...)
}
