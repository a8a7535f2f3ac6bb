package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dragoman/model/repository"
)

// Find asks a server for a model, or for its only model if name is "", and returns what the server tells about it. The error is a
// [*CallError] if the server does not tell its models.
func Find(ctx context.Context, c *Client, name string) (o repository.OpenAI, err error) {
	raw, err := c.Call(ctx, "/models", nil)
	if err != nil {
		return o, err
	}
	var list struct {
		Data []struct {
			ID      string `json:"id"`
			Context int    `json:"max_model_len"` // of vLLM
			Meta    struct {
				Context int `json:"n_ctx"` // of llama.cpp
			} `json:"meta"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return o, &CallError{Err: fmt.Errorf("the answer to /models is no list of models: %.200q", raw)}
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	at := slices.Index(names, name)
	switch {
	case len(names) == 0:
		return o, &CallError{Err: errors.New("the server lists no models")} // transformers serve lists only those of its cache
	case at < 0:
		return o, fmt.Errorf("name one of the server's models after #: %s", strings.Join(names[:min(len(names), 20)], ", "))
	}
	o.Model = name
	o.Context = cmp.Or(list.Data[at].Context, list.Data[at].Meta.Context)
	return o, nil
}
