package server

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	"dragoman/model"
	"dragoman/tokenizer"
)

// tokenizers are the tokenizers in use: models whose tokenizers have the same files share one. The zero value is ready for use.
type tokenizers struct {
	mu   sync.Mutex                                   // guards the rest
	open map[string]weak.Pointer[tokenizer.Tokenizer] // by the content of their files
}

// get returns the tokenizer of a model of a family. get calls open if there is none yet.
func (t *tokenizers) get(family string, m *model.Manifest, open func() (*tokenizer.Tokenizer, error)) (*tokenizer.Tokenizer, error) {
	key := family
	files := m.TokenizerFiles()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		key += " " + name + " " + files[name].SHA256
	}
	for _, side := range [][]string{m.Languages, m.Sources, m.Targets} { // because the files do not always contain the languages
		key += " " + strings.Join(side, ",")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.open[key].Value(); known != nil {
		return known, nil
	}
	opened, err := open()
	if err != nil {
		return nil, err
	}
	if t.open == nil {
		t.open = make(map[string]weak.Pointer[tokenizer.Tokenizer])
	}
	t.open[key] = weak.Make(opened)
	runtime.AddCleanup(opened, t.forget, key)
	return opened, nil
}

// forget removes an unused tokenizer.
func (t *tokenizers) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[key].Value() == nil {
		delete(t.open, key)
	}
}

// tokenizerBytes returns the approximate memory of a tokenizer: its vocabulary, and the indexes of the vocabulary.
func tokenizerBytes(m *model.Manifest) (bytes int64) {
	const indexes = 4
	for _, file := range m.TokenizerFiles() {
		bytes += indexes * file.Size
	}
	return bytes
}
