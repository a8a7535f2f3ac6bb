package repository

import (
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"dragoman/model"
)

// Auto, as precision or device of a model, selects the best one, whatever the environment says.
const Auto = "auto"

// Config is the config.yaml of a model. The zero value of a field means the value of the environment variable that has the same
// setting for all models, if there is one.
type Config struct {
	// Versions selects the served versions; the newest by default.
	Versions Versions
	// Precision is the required precision of exports; `dragoman pull` makes exports in this precision. Auto or "" means any.
	Precision model.Precision
	Device    string // "", Auto, "cpu" or "cuda"
	Workers   int    // copies that decode in parallel (APP_WORKERS)
	Threads   int    // of each worker (THREADS)
	Beams     int    // of the search (NUM_BEAMS)
	MaxLength int    // of a sentence's translation, in tokens (MAX_LENGTH)
	KVMemory  int64  // bytes for a worker's KV cache (KV_MEMORY)
	// KeepAlive is the idle time after which the model is unloaded; 0: never, nil: the environment's value.
	KeepAlive *time.Duration
	Pinned    bool // never unloaded to make room
	Preload   bool // loaded at the start
	// Aliases are other names, as written; see Model.Aliases.
	Aliases []string
	// Pairs are the pairs for which the model is offered; none means all pairs of its languages.
	Pairs []Pair
	// OpenAI is the server of a language model, which has no exports; nil for an exported model.
	OpenAI *OpenAI
}

// Versions selects the served versions.
type Versions struct {
	All    bool
	Latest int   // number of the newest valid versions; 0 with All or List
	List   []int // version numbers, sorted
}

// Pair is a direction of translation. Codes are as written; "*" is any language.
type Pair struct{ From, To string }

// ParseConfig reads a model's config.yaml. ParseConfig is strict. Its error is one line with the line number, the fault and the
// allowed values.
func ParseConfig(raw []byte) (Config, error) {
	c := Config{Versions: Versions{Latest: 1}}
	err := parse(raw, fields{
		"versions":   c.Versions.read,
		"precision":  word(&c.Precision, Auto, model.INT8, model.FP32, model.FP16),
		"device":     word(&c.Device, Auto, "cpu", "cuda"),
		"workers":    number(&c.Workers, 0, 64),
		"threads":    number(&c.Threads, 0, 1<<12),
		"beams":      number(&c.Beams, 0, 1<<10),
		"max_length": c.readMaxLength,
		"kv_memory":  size(&c.KVMemory, 1<<20, 1<<40),
		"keep_alive": c.readKeepAlive,
		"pinned":     flag(&c.Pinned),
		"preload":    flag(&c.Preload),
		"aliases":    list(&c.Aliases, readName),
		"pairs":      list(&c.Pairs, readPair),
		"openai":     c.readOpenAI,
	})
	if err == nil {
		err = c.checkKind()
	}
	return c, err
}

// read reads `latest`, `all`, `{latest: n}` or a list of numbers.
func (v *Versions) read(n *yaml.Node) error {
	*v = Versions{}
	switch {
	case n.Kind == yaml.MappingNode:
		if err := (fields{"latest": number(&v.Latest, 1, maxVersion)}).read(n); err != nil {
			return err
		}
		if v.Latest == 0 {
			return wrong(n, "{latest: 2}")
		}
		return nil
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		if err := list(&v.List, func(n *yaml.Node) (i int, err error) { return i, number(&i, 1, maxVersion)(n) })(n); err != nil {
			return err
		}
		slices.Sort(v.List)
		v.List = slices.Compact(v.List)
		return nil
	case n.Kind == yaml.ScalarNode && n.Value == "latest":
		v.Latest = 1
		return nil
	case n.Kind == yaml.ScalarNode && n.Value == "all":
		v.All = true
		return nil
	}
	return wrong(n, "latest, {latest: 2}, all, or a list of numbers such as [1, 3]")
}

// choose marks the served versions. versions must be sorted.
func (v Versions) choose(versions []Version) {
	left := v.Latest
	for i := range slices.Backward(versions) {
		version := &versions[i]
		if version.Err != nil {
			continue
		}
		_, listed := slices.BinarySearch(v.List, version.Number)
		version.Served = v.All || left > 0 || listed
		left--
	}
}

func (c *Config) readMaxLength(n *yaml.Node) error {
	if err := number(&c.MaxLength, 0, 1<<20)(n); err != nil {
		return err
	}
	if c.MaxLength == 1 || c.MaxLength == 2 {
		return wrong(n, "0, or 3 and more: two tokens stand before the translation")
	}
	return nil
}

func (c *Config) readKeepAlive(n *yaml.Node) error {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d < 0 {
		return wrong(n, "a time with its unit, such as 10m, or 0 for ever")
	}
	c.KeepAlive = &d
	return nil
}

func readName(n *yaml.Node) (string, error) {
	name, err := text(n)
	if err == nil {
		err = CheckName(name)
	}
	if err != nil {
		return "", at(n, err)
	}
	return name, nil
}

// readPair reads `en-ja` or, for codes with hyphens, `{from: zh-Hant, to: en}`.
func readPair(n *yaml.Node) (p Pair, err error) {
	const usage = "a pair such as en-ja, en-*, *-ja or {from: zh-Hant, to: en}"
	if n.Kind == yaml.MappingNode {
		err = fields{"from": code(&p.From, true), "to": code(&p.To, true)}.read(n)
	} else if m := pairPattern.FindStringSubmatch(n.Value); n.Kind == yaml.ScalarNode && m != nil {
		p = Pair{m[1], m[2]}
	}
	if err == nil && (p.From == "" || p.To == "") {
		err = wrong(n, usage)
	}
	return p, err
}

// String returns the form used in a config.yaml.
func (p Pair) String() string { return fmt.Sprintf("%s-%s", p.From, p.To) }
