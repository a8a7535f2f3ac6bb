package repository

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"dragoman/model"
	"dragoman/model/prompt/profile"
)

// OpenAI describes a language model behind an OpenAI-compatible server: the mapping openai of a model's config.yaml.
type OpenAI struct {
	URL     string // of the API, such as http://127.0.0.1:8080/v1
	Model   string // its name there
	KeyFile string // the file of the key, absolute or relative to the model's folder; "": none
	Profile string // the name of a prompt profile, or of a file in the model's folder
	// Languages are the codes of the languages that the model knows, sorted, each once; none: all of the profile.
	Languages   []string
	Concurrency int           // calls at a time
	Context     int           // tokens of prompt and answer together
	Timeout     time.Duration // of a call
	Price       Price

	Hash string // of the profile's file
}

// Price is the price of a million tokens, in any currency. With a price, no call is repeated that may have been charged.
type Price struct{ Input, Output float64 }

// FamilyOpenAI is the family of the manifests of language models.
const FamilyOpenAI = "openai"

// Defaults of an [OpenAI].
const (
	DefaultConcurrency = 8
	DefaultContext     = 4096
	MostContext        = 1 << 20
	defaultTimeout     = 2 * time.Minute
)

// readOpenAI reads the mapping openai. The profile is read by [readConfig], which knows the folder.
func (c *Config) readOpenAI(n *yaml.Node) error {
	o := OpenAI{Concurrency: DefaultConcurrency, Context: DefaultContext, Timeout: defaultTimeout}
	err := fields{
		"url":         o.readURL,
		"model":       line(&o.Model),
		"key_file":    line(&o.KeyFile),
		"profile":     line(&o.Profile),
		"languages":   list(&o.Languages, func(n *yaml.Node) (to string, err error) { return to, code(&to, false)(n) }),
		"concurrency": number(&o.Concurrency, 1, 4096),
		"context":     number(&o.Context, 512, MostContext),
		"timeout":     duration(&o.Timeout, time.Second, time.Hour),
		"price": func(n *yaml.Node) error {
			return fields{"input": amount(&o.Price.Input, 1e6), "output": amount(&o.Price.Output, 1e6)}.read(n)
		},
	}.read(n)
	if err == nil && (o.URL == "" || o.Model == "") {
		err = wrong(n, "at least url, such as http://127.0.0.1:8080/v1, and model, the model's name there")
	}
	o.Profile = cmp.Or(o.Profile, profile.For(o.Model))
	slices.Sort(o.Languages)
	o.Languages = slices.Compact(o.Languages)
	c.OpenAI = &o
	return err
}

func (o *OpenAI) readURL(n *yaml.Node) error {
	u, err := ParseServer(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		return at(n, cmp.Or(err, errors.New("url: use an http(s) URL, such as http://127.0.0.1:8080/v1")))
	}
	o.URL = u
	return nil
}

// ParseServer checks the URL of an OpenAI-compatible API, and returns it without a slash at its end.
func ParseServer(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("the server's URL cannot be parsed: use an http(s) URL, such as http://127.0.0.1:8080/v1")
	case u.User != nil:
		return "", errors.New("the server's URL has a password: put the key into a file, and name it in key_file")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the server's URL has a query or fragment: leave them out, and name the model in model")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// line reads a text without control characters.
func line(to *string) field {
	return func(n *yaml.Node) (err error) {
		if *to, err = text(n); err == nil && (strings.TrimSpace(*to) != *to || strings.ContainsFunc(*to, func(r rune) bool { return r < ' ' })) {
			err = wrong(n, "one line without spaces at its ends")
		}
		return err
	}
}

// checkKind refuses fields that a language model does not have, always the same one first: an error is part of a fingerprint.
func (c *Config) checkKind() error {
	if c.OpenAI == nil {
		return nil
	}
	for _, setting := range []struct {
		name string
		set  bool
	}{
		{"versions", c.Versions.All || c.Versions.Latest != 1 || len(c.Versions.List) > 0}, {"precision", c.Precision != ""}, {"device", c.Device != ""},
		{"workers", c.Workers > 0}, {"threads", c.Threads > 0}, {"beams", c.Beams > 0}, {"kv_memory", c.KVMemory > 0},
	} {
		if setting.set {
			return fmt.Errorf("%s is a setting of exported models: leave it out beside openai", setting.name)
		}
	}
	return nil
}

// openProfile reads the profile of a language model whose folder is dir, and checks the model's languages.
func (o *OpenAI) openProfile(dir string) error {
	p, err := profile.Open(o.Profile, dir)
	if err != nil {
		return err
	}
	o.Hash = p.Hash
	if len(o.Languages) == 0 {
		for _, l := range p.Languages {
			o.Languages = append(o.Languages, l.Code)
		}
		slices.Sort(o.Languages)
	}
	for _, code := range o.Languages {
		if !slices.ContainsFunc(p.Languages, func(l profile.Language) bool { return l.Code == code }) {
			return fmt.Errorf("languages: %s is none of the profile %s: add it with its name to a profile of your own", code, o.Profile)
		}
	}
	if len(o.Languages) < 2 {
		return errors.New("languages: name at least two")
	}
	if o.KeyFile != "" && !filepath.IsAbs(o.KeyFile) {
		o.KeyFile = filepath.Join(dir, o.KeyFile)
	}
	return nil
}

// promptTokens are kept free for the instructions around a text.
const promptTokens = 256

// version returns the only version of a language model.
func (o *OpenAI) version(dir string) Version {
	// A prompt has the text, and an answer may have twice as many tokens.
	positions := max(32, (o.Context-min(promptTokens, o.Context/2))/3)
	raw, _ := json.Marshal(struct { // plain values, which cannot fail
		URL, Model, Profile string
		Context             int
		Languages           []string
	}{o.URL, o.Model, o.Hash, o.Context, o.Languages})
	identity := fmt.Sprintf("%x", sha256.Sum256(raw))
	return Version{
		Number: 1, Dir: dir, Served: true, Identity: identity, Fingerprint: identity,
		Manifest: &model.Manifest{
			Format: model.ManifestFormat, Source: o.URL + "#" + o.Model, Family: FamilyOpenAI, Languages: o.Languages,
			Spec: model.Spec{VocabSize: len(o.Languages), MaxPositions: positions, Generation: model.Generation{Beams: 1, MaxLength: positions}},
		},
	}
}

// AddOpenAI writes the config.yaml of a language model into a repository, and creates folders as needed. It does nothing if the
// model is there already, and fails if the name belongs to another. The price, key and other settings can be added by hand.
func AddOpenAI(dir, name string, o OpenAI) (path string, err error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	folder := filepath.Join(dir, name)
	path = filepath.Join(folder, ConfigFile)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("add %s: %w: name a repository that can be written", name, err)
	}
	for _, m := range Scan([]string{dir}).Models {
		switch known := m.Config.OpenAI; {
		case m.Name != name:
		case m.Err == nil && known != nil && known.URL == o.URL && known.Model == o.Model:
			return path, nil
		default:
			return "", fmt.Errorf("%s is another model already: give this one another name with --name", folder)
		}
	}
	raw, err := yaml.Marshal(map[string]any{"openai": map[string]any{
		"url": o.URL, "model": o.Model, "profile": o.Profile, "concurrency": o.Concurrency, "context": o.Context,
	}})
	if err != nil {
		return "", err
	}
	return path, model.ReplaceFile(path, raw)
}
