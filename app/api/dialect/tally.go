package dialect

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/translate"
)

const (
	// cacheHeader says how many records of an answer were there already and how many
	// were decoded for it, as a dictionary of structured fields (RFC 9651):
	//
	//	Dragoman-Cache: hits=3, misses=1
	//
	// Records that needed neither, such as blank ones, are in neither number. It has
	// a name of its own because X-Cache and Cache-Status belong to the caches of
	// whole answers that may stand before the service.
	cacheHeader = "Dragoman-Cache"

	// flagsHeader says for each flag how many records of an answer have it, in the same
	// form. It is missing where there are none.
	flagsHeader = "Dragoman-Flags"

	// Keys of what is left in gin's context for the log, see LogAttrs.
	recordsKey = "records"
	cachedKey  = "cached" // of the records, those that were in the cache
	flagsKey   = "flags"  // how many records have which
	modelKey   = "model"  // name:version, or several of them

	// mostModels is how many models are named in a line of the log.
	mostModels = 8
)

// LogAttrs are what the log says of a request's translation.
func LogAttrs(c *gin.Context) []slog.Attr {
	var attrs []slog.Attr
	for _, key := range []string{modelKey, recordsKey, cachedKey, flagsKey} {
		if n, ok := c.Get(key); ok {
			attrs = append(attrs, slog.Any(key, n))
		}
	}
	return attrs
}

// tally counts what the headers and the log say of an answer.
type tally struct {
	hits, misses int
	flags        map[string]int
	models       []string // name:version, the first mostModels
	more         bool     // there are others
}

func (t *tally) add(r translate.Result) {
	if r.Decoded {
		t.misses++
	} else if r.Cached {
		t.hits++
	}
	t.addModel(r)
	for _, name := range r.Flags.Names() {
		if t.flags == nil {
			t.flags = map[string]int{}
		}
		t.flags[name]++
	}
}

// addModel adds the model of a result, if it had one.
func (t *tally) addModel(r translate.Result) {
	if r.Model == "" {
		return
	}
	switch name := r.Model + ":" + r.Version; {
	case slices.Contains(t.models, name):
	case len(t.models) == mostModels:
		t.more = true
	default:
		t.models = append(t.models, name)
	}
}

// log leaves what the log says.
func (t *tally) log(c *gin.Context) {
	c.Set(cachedKey, t.hits)
	if names := strings.Join(t.models, " "); t.more {
		c.Set(modelKey, names+" …")
	} else if names != "" {
		c.Set(modelKey, names)
	}
	if len(t.flags) > 0 {
		c.Set(flagsKey, t.flagged(" "))
	}
}

// header sets the headers that say how the answer was made.
func (t *tally) header(c *gin.Context) {
	c.Header(cacheHeader, fmt.Sprintf("hits=%d, misses=%d", t.hits, t.misses))
	if len(t.flags) > 0 {
		c.Header(flagsHeader, t.flagged(", "))
	}
}

// flagged lists the flags with their numbers.
func (t *tally) flagged(separator string) string {
	var flags []string
	for _, name := range translate.FlagNames() {
		if n := t.flags[name]; n > 0 {
			flags = append(flags, fmt.Sprintf("%s=%d", name, n))
		}
	}
	return strings.Join(flags, separator)
}
