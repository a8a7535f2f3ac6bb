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
	// cacheHeader has the number of cached records of an answer and the number of records decoded for it, as a dictionary of
	// structured fields (RFC 9651):
	//
	//	Dragoman-Cache: hits=3, misses=1
	//
	// Records that needed neither the cache nor decoding, such as blank ones, are in neither number. The header has its own name
	// because X-Cache and Cache-Status belong to caches of whole answers in front of the service.
	cacheHeader = "Dragoman-Cache"

	// flagsHeader has the number of records of an answer with each flag, in the same form. The header is missing if there are no
	// flags.
	flagsHeader = "Dragoman-Flags"

	// Keys of the log attributes in gin's context, see LogAttrs.
	recordsKey = "records"
	cachedKey  = "cached" // number of records found in the cache
	flagsKey   = "flags"  // number of records with each flag
	modelKey   = "model"  // name:version, possibly several

	// mostModels is the maximum number of models named in a log line.
	mostModels = 8
)

// LogAttrs returns the log attributes of a request's translation.
func LogAttrs(c *gin.Context) []slog.Attr {
	var attrs []slog.Attr
	for _, key := range []string{modelKey, recordsKey, cachedKey, flagsKey} {
		if n, ok := c.Get(key); ok {
			attrs = append(attrs, slog.Any(key, n))
		}
	}
	return attrs
}

// tally counts results for the headers and the log.
type tally struct {
	hits, misses int
	flags        map[string]int
	models       []string // name:version, the first mostModels
	more         bool     // further models were used
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

// addModel adds the model of a result, if any.
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

// log stores the log attributes.
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

// header sets the headers.
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
