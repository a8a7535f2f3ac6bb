package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
)

// Routes of the service.
const (
	translationPath = "/translation"
	streamPath      = "/translation/stream"
	languagesPath   = "/languages"
	detectPath      = "/language/translate/v2/detect" // Google's route, because it takes several texts
	readyPath       = "/readyz"
	indexPath       = "/"
)

// readyPause is the time between two requests of WaitReady.
const readyPause = 250 * time.Millisecond

// Translate returns the translations of all records: len(r.Records) results in the order of the records, or first the results in
// the first language of r.ToLangs, then those in the second, and so on. On error it returns no results. If some records alone fail,
// there is no error: their results have an Err, whose Field has the record's number.
//
// Translate makes several tries if that may help, see the package comment, but no try after the deadline of ctx, which is sent to
// the service. The error is an [*Error] if the service refused the request; if ctx is done, the error is, or wraps, ctx's.
func (c *Client) Translate(ctx context.Context, r Request) ([]Result, error) {
	q, err := newQuery(translationPath, jsonType, r, "")
	if err != nil {
		return nil, err
	}
	return ask(ctx, c.transport, q.call, q.results)
}

// Language is a language that the service translates.
type Language struct {
	Code       string   `json:"code"`       // such as "fr"
	Name       string   `json:"name"`       // in English
	NativeName string   `json:"nativeName"` // in the language itself
	Targets    []string `json:"targets"`    // codes of its target languages
}

// Languages returns the languages of a model, named as in [Request.Model], or, if model is "", of all models. It makes several
// tries, like Translate; while the service is loading it fails.
func (c *Client) Languages(ctx context.Context, model string) ([]Language, error) {
	return get[[]Language](ctx, c.transport, languagesPath+queryString(url.Values{"model": {model}}))
}

// Detection is the detected language of a text.
type Detection struct {
	Language   string  `json:"language"`   // code of the language; "" if none was detected
	Confidence float64 `json:"confidence"` // from 0 to 1
}

// Detect returns the languages of texts, in their order. It makes several tries, like Translate.
func (c *Client) Detect(ctx context.Context, texts []string) ([]Detection, error) {
	body, err := json.Marshal(map[string][]string{"q": texts})
	if err != nil {
		return nil, fmt.Errorf("client: the texts cannot be written as JSON: %w", err)
	}
	call := newCall(detectPath)
	call.method, call.body, call.media = http.MethodPost, body, jsonType
	return ask(ctx, c.transport, call, func(raw []byte) ([]Detection, error) {
		answer, err := decode[struct {
			Data struct {
				Detections [][]Detection `json:"detections"`
			} `json:"data"`
		}](raw)
		if err != nil {
			return nil, err
		}
		if len(answer.Data.Detections) != len(texts) {
			return nil, invalid("it has %d languages, expected %d", len(answer.Data.Detections), len(texts))
		}
		found := make([]Detection, len(texts))
		for i, all := range answer.Data.Detections {
			if len(all) > 0 && all[0].Language != "und" {
				found[i] = all[0]
			}
		}
		return found, nil
	})
}

// Info describes the service.
type Info struct {
	Name    string `json:"name"` // dragoman
	Version string `json:"version"`
	Model   *Model `json:"model"` // nil while the model is loading; of several models, the first in the order of preference
	// Models are all served versions of models and pipelines, in the order of preference; nil if there is only Model. The first
	// version of each model is the one that the name without a version means.
	Models []Model `json:"models"`
}

// Model is a model, or a pipeline of several.
type Model struct {
	Name      string `json:"name"` // for Request.Model, alone or as name:version
	Version   string `json:"version"`
	Source    string `json:"source"` // such as facebook/m2m100_418M; "" for pipelines
	Revision  string `json:"revision"`
	Precision string `json:"precision"` // such as int8
	License   string `json:"license"`   // from the model card, such as apache-2.0; "": unknown
}

// Info returns the description of the service. It makes several tries, like Translate.
func (c *Client) Info(ctx context.Context) (Info, error) {
	return get[Info](ctx, c.transport, indexPath)
}

// Ready asks once whether the service accepts requests. The error is nil if it does, and an [*Error] of code [CodeNotReady],
// [CodeShuttingDown] or [CodeStuck] if the service is running but does not; any other error means that the service is
// unreachable.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.fetch(ctx, newCall(readyPath))
	return err
}

// WaitReady asks four times a second until the service accepts requests, or ctx is done. WaitReady also waits for a service that
// is not running yet, and fails at once if waiting does not help, for example on a wrong path. The error wraps ctx's, if ctx is
// done, and the last answer.
func (c *Client) WaitReady(ctx context.Context) error {
	var last error // a temporary error
	for {
		err := c.Ready(ctx)
		if err == nil {
			return nil
		}
		if retryable(err) {
			last, err = err, wait(ctx, readyPause)
		}
		switch {
		case err != nil && last != nil:
			return fmt.Errorf("the service is not ready: %w, after: %w", err, last)
		case err != nil:
			return err
		}
	}
}
