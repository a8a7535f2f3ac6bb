package openinference

import (
	"context"
	"errors"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/catalog"
	"dragoman/app/fault"
)

// indexEntry is a version of a model in /v2/repository/index.
type indexEntry struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`
	Reason  string `json:"reason"`
}

// index serves /v2/repository/index.
func index(c *gin.Context, models Models) (any, error) {
	var wanted struct {
		Ready bool `json:"ready"`
	}
	if err := readJSON(c, &wanted); err != nil {
		return nil, err
	}
	return indexOf(models, wanted.Ready), nil
}

// indexOf lists the versions of models, all or only the ready ones.
func indexOf(models Models, onlyReady bool) []indexEntry {
	list := []indexEntry{}
	for _, s := range models.Index() {
		if !onlyReady || ready(s) {
			state, reason := stateOf(s)
			list = append(list, indexEntry{s.Name, s.Version, state, reason})
		}
	}
	return list
}

// stateOf returns a model's state in Triton's words, and a reason.
func stateOf(s catalog.Status) (state, reason string) {
	switch {
	case ready(s) && s.State == catalog.Ready:
		return "READY", s.Reason
	case ready(s):
		return "READY", "the first request loads it" // the request loads the model, or waits until it is loaded
	case s.State == catalog.Loading:
		return "LOADING", s.Reason
	case s.State == catalog.Draining:
		return "UNLOADING", s.Reason
	}
	return "UNAVAILABLE", s.Reason
}

// load serves /v2/repository/models/NAME/load.
func (a *api) load(c *gin.Context, models Models) (any, error) {
	var wanted struct {
		Parameters struct {
			Config jsontext.Value `json:"config"`
		} `json:"parameters"`
	}
	if err := a.Gate.Admin(c.Request); err != nil {
		return nil, err
	}
	if err := readJSON(c, &wanted); err != nil {
		return nil, err
	}
	return gin.H{}, a.loadNamed(c, models, wanted.Parameters.Config != nil)
}

// loadNamed loads the model named by a request. It refuses a configuration.
func (a *api) loadNamed(c *gin.Context, models Models, configured bool) error {
	if configured {
		return refuse("a model is configured by config.yaml in its folder: send no config and no files")
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), a.RequestTimeout)
	defer cancel()
	return explain(models.Load(ctx, realName(models, c.Param("model"))))
}

// unload serves /v2/repository/models/NAME/unload.
func (a *api) unload(c *gin.Context, models Models) (any, error) {
	if err := a.Gate.Admin(c.Request); err != nil {
		return nil, err
	}
	if err := readJSON(c, &struct{}{}); err != nil {
		return nil, err
	}
	return gin.H{}, explain(models.Unload(realName(models, c.Param("model"))))
}

// explain returns an error with details that only admins are told.
func explain(err error) error {
	if errors.Is(err, ErrNoRepository) {
		return fault.New(fault.NotOffered, "", "%s", ErrNoRepository)
	}
	if broken, ok := errors.AsType[*catalog.BrokenError](err); ok {
		return fault.New(fault.ModelBroken, "", "%s", broken)
	}
	return err
}

// realName returns the name of the model with a name or an alias.
func realName(models Models, name string) string {
	index := models.Index()
	if i := slices.IndexFunc(index, func(s catalog.Status) bool { return named(s, name) }); i >= 0 {
		return index[i].Name
	}
	return name
}

// readJSON reads a small body; an empty one has no fields.
func readJSON(c *gin.Context, into any) error {
	raw, err := readBody(c)
	if err != nil || len(raw) == 0 {
		return err
	}
	return unmarshal(raw, into)
}
