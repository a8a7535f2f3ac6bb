package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// maxBody is how long metrics may be, after decompression: four times those of a server with 64
// models of 8 workers each and 100 languages.
const maxBody = 8 << 20

// sample is what one poll of a server found.
type sample struct {
	time   time.Time // when the answer had been read, on this machine's clock
	series model.Vector
	values map[model.Fingerprint]float64 // of the same series
}

// scrape reads the metrics at a URL until ctx is done.
func scrape(ctx context.Context, client *http.Client, address string) (*sample, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	resp, err := client.Do(req)
	if err != nil {
		return nil, errors.Unwrap(err) // without the method and the URL
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", req.URL.Path, resp.Status)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("the answer broke off after %d bytes: %w", len(body), err)
	}
	return parse(string(body))
}

// parse reads metrics in Prometheus' text format. A histogram has the series _bucket, _sum and _count.
func parse(text string) (s *sample, err error) {
	// A label set without a name below a TYPE line makes the parser panic.
	defer func() {
		if caught := recover(); caught != nil {
			s, err = nil, fmt.Errorf("the metrics cannot be parsed: %v", caught)
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the metrics cannot be parsed: %w", err)
	}
	if families["dragoman_ready"] == nil {
		return nil, errors.New("these are not dragoman's metrics: is another service listening there?")
	}
	series, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	if err != nil {
		return nil, fmt.Errorf("the metrics cannot be parsed: %w", err)
	}
	s = &sample{time: time.Now(), series: series, values: make(map[model.Fingerprint]float64, len(series))}
	for _, one := range series {
		s.values[one.Metric.Fingerprint()] = float64(one.Value)
	}
	return s, nil
}
