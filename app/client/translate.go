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
	detectPath      = "/language/translate/v2/detect" // Google's, which takes several texts
	readyPath       = "/readyz"
	indexPath       = "/"
)

// readyPause is the time between two questions of WaitReady.
const readyPause = 250 * time.Millisecond

// Translate returns the translations of all records: len(r.Records) results in their
// order, or those into the first of r.ToLangs, then those into the second, and so on.
// It succeeds as a whole or fails as a whole.
//
// It makes several tries where that may help, see the package's description, and none
// after the deadline of ctx, which the service is told. The error is an [*Error] where
// the service turned the request down; it is, or wraps, that of ctx where ctx is done.
func (c *Client) Translate(ctx context.Context, r Request) ([]Result, error) {
	q, err := newQuery(translationPath, jsonType, r, "")
	if err != nil {
		return nil, err
	}
	return ask(ctx, c, q.call, q.results)
}

// Language is a language that the service translates.
type Language struct {
	Code       string   `json:"code"`       // such as "fr"
	Name       string   `json:"name"`       // in English
	NativeName string   `json:"nativeName"` // in the language itself
	Targets    []string `json:"targets"`    // codes of the languages that it is translated into
}

// Languages returns the languages of a model, which is named as in [Request.Model], or with ""
// of all. It makes several tries, as Translate does; while the service is loading there are none
// and the error says so.
func (c *Client) Languages(ctx context.Context, model string) ([]Language, error) {
	return get[[]Language](ctx, c, languagesPath+queryString(url.Values{"model": {model}}))
}

// Detection is the language that a text is in.
type Detection struct {
	Language   string  `json:"language"`   // its code; "" where there is none
	Confidence float64 `json:"confidence"` // from 0 to 1
}

// Detect returns the languages of texts, in their order. It makes several tries, as Translate does.
func (c *Client) Detect(ctx context.Context, texts []string) ([]Detection, error) {
	body, err := json.Marshal(map[string][]string{"q": texts})
	if err != nil {
		return nil, fmt.Errorf("client: the texts cannot be written as JSON: %w", err)
	}
	call := newCall(detectPath)
	call.method, call.body, call.media = http.MethodPost, body, jsonType
	return ask(ctx, c, call, func(raw []byte) ([]Detection, error) {
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

// Info says what serves.
type Info struct {
	Name    string `json:"name"` // dragoman
	Version string `json:"version"`
	Model   *Model `json:"model"` // nil while it is loading; of several, the one that is tried first
	// Models are all models and pipelines in all versions that are served, in the order in which
	// they are tried; nil where there is only Model. The first version of each is the one that
	// its name alone means.
	Models []Model `json:"models"`
}

// Model is a model, or a pipeline of some, that translates.
type Model struct {
	Name      string `json:"name"` // for Request.Model, alone or as name:version
	Version   string `json:"version"`
	Source    string `json:"source"` // such as facebook/m2m100_418M; "" of pipelines
	Revision  string `json:"revision"`
	Precision string `json:"precision"` // such as int8
	License   string `json:"license"`   // what the model card says, such as apache-2.0; "": nothing
}

// Info returns what serves. It makes several tries, as Translate does.
func (c *Client) Info(ctx context.Context) (Info, error) {
	return get[Info](ctx, c, indexPath)
}

// Ready asks once whether the service takes requests. nil: it does; an [*Error] of code
// [CodeNotReady], [CodeShuttingDown] or [CodeStuck]: it is there, and does not; anything
// else: it could not be asked.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.fetch(ctx, newCall(readyPath))
	return err
}

// WaitReady asks four times a second until the service takes requests, or ctx is done.
// A service that is not there yet is waited for. It fails at once where waiting does not
// help, such as on a wrong path. The error has ctx's, where ctx is done, and the last answer.
func (c *Client) WaitReady(ctx context.Context) error {
	var last error // worth waiting for another
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
