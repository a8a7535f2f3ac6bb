package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

const (
	// maxBody is how long metrics may be, in bytes after decompression. A server with
	// 64 models of 8 workers each and 100 languages has less than a quarter of it.
	maxBody = 8 << 20

	// maxErrorRunes is how much of an error is shown.
	maxErrorRunes = 200

	// textFormat is asked for in place of what is smaller: it is one that people can
	// check with curl.
	textFormat = "text/plain;version=0.0.4"
)

// scraper reads metrics. It is safe for concurrent use.
type scraper struct {
	client *http.Client
	key    string
}

// newScraper makes a scraper; a nil client is one of its own.
func newScraper(client *http.Client, key string) scraper {
	if client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConns = maxPolls
		transport.MaxIdleConnsPerHost = 1
		client = &http.Client{Transport: transport}
	}
	own := *client
	// The key is for this server only, not for where it redirects to.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return scraper{client: &own, key: key}
}

// scrape reads the metrics at a URL until ctx is done. The error is one short line.
func (s scraper) scrape(ctx context.Context, address string) (*sample, error) {
	begin := time.Now()
	body, err := s.fetch(ctx, address)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("no complete answer within %s", time.Since(begin).Round(time.Millisecond))
	}
	if err != nil {
		return nil, oneLine(err)
	}
	now, err := readSample(body)
	if err != nil {
		return nil, oneLine(err)
	}
	now.time = time.Now()
	return now, nil
}

// fetch returns the body of the answer to a GET.
func (s scraper) fetch(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", textFormat)
	req.Header.Set("User-Agent", "dragoman-monitor")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var failed *url.Error // repeats the method and the URL
		if errors.As(err, &failed) {
			return "", failed.Err
		}
		return "", err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return "", fmt.Errorf("%s answered %d %s: use --key", req.URL.Path, resp.StatusCode, http.StatusText(resp.StatusCode))
	default:
		return "", fmt.Errorf("%s answered %d %s", req.URL.Path, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return "", fmt.Errorf("the answer broke off after %d bytes: %w", len(body), err)
	}
	if len(body) > maxBody {
		return "", fmt.Errorf("the answer is longer than %d bytes: these are not dragoman's metrics", maxBody)
	}
	return string(body), nil
}

// oneLine makes an error one that a terminal can be shown: a line of printable characters.
// Parts of it may come from a server.
func oneLine(err error) error {
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	if len(text) > maxErrorRunes {
		text = append(text[:maxErrorRunes], '…')
	}
	return errors.New(printable(string(text)))
}

// printable is a text with a question mark for each character that a terminal could
// take for a command.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
