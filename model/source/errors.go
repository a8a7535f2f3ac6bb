package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"dragoman/model/family"
)

// Failures of a pull, for errors.Is. The errors that wrap these have the numbers and the remedy.
var (
	ErrRepoNotFound     = errors.New("repository not found")
	ErrRevisionNotFound = errors.New("revision not found")
	ErrFileNotFound     = errors.New("file not found")
	ErrGated            = errors.New("repository is gated")
	ErrUnauthorized     = errors.New("access refused")
	ErrRateLimited      = errors.New("too many requests")
	ErrIncomplete       = family.ErrIncomplete
	ErrOffline          = errors.New("offline mode")
	ErrChecksum         = errors.New("checksum differs")
	ErrNoSpace          = errors.New("not enough disk space")
	ErrTooLarge         = errors.New("larger than a checkpoint can be")
)

// errChanged means that the file on the server is no longer the version of head.
var errChanged = errors.New("file changed on the server while it was fetched")

// The errors of the Hub's codes, and of statuses without a code.
var (
	errOfCode = map[string]error{
		"RepoNotFound":     ErrRepoNotFound,
		"RevisionNotFound": ErrRevisionNotFound,
		"EntryNotFound":    ErrFileNotFound,
		"GatedRepo":        ErrGated,
	}
	errOfStatus = map[int]error{
		http.StatusUnauthorized:    ErrUnauthorized,
		http.StatusForbidden:       ErrUnauthorized,
		http.StatusNotFound:        ErrFileNotFound,
		http.StatusGone:            ErrFileNotFound,
		http.StatusTooManyRequests: ErrRateLimited,
	}
)

// statusError is a failure that a server answers.
type statusError struct {
	url     string // without user and query
	status  int    // HTTP status
	code    string // X-Error-Code of the Hub, such as GatedRepo; "" if none
	message string // X-Error-Message of the Hub; "" if none
	// retryAfter is the wait that the server asks for, or 0.
	retryAfter time.Duration
	// redirected reports that the answer came from another host, after a redirect.
	redirected bool
}

func newStatusError(resp *http.Response, target *url.URL) *statusError {
	message := resp.Header.Get("X-Error-Message")
	if len(message) > 300 {
		message = message[:300] + "…"
	}
	return &statusError{
		url:        redact(resp.Request.URL),
		status:     resp.StatusCode,
		code:       resp.Header.Get("X-Error-Code"),
		message:    message,
		retryAfter: retryAfter(resp.Header),
		redirected: !sameOrigin(resp.Request.URL, target),
	}
}

// Error returns one line: status, the Hub's message and the URL.
func (e *statusError) Error() string {
	text := fmt.Sprintf("%d %s", e.status, http.StatusText(e.status))
	if e.message != "" {
		text += fmt.Sprintf(" (%q)", e.message)
	}
	return text + " from " + e.url
}

// Unwrap returns the Err variable of the answer, or nil.
func (e *statusError) Unwrap() error { return cmp.Or(errOfCode[e.code], errOfStatus[e.status]) }

// temporary reports whether the same request may succeed later. A storage host that refuses has usually got an expired signature;
// the next try gets a new signature from the source.
func (e *statusError) temporary() bool {
	switch e.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented:
		return false
	case http.StatusForbidden:
		return e.redirected
	}
	return e.status >= 500
}

// rateLimitPattern matches the header RateLimit: "name";r=requests left;t=seconds until new ones.
var rateLimitPattern = regexp.MustCompile(`;\s*r=0\s*;\s*t=(\d{1,6})\b`)

// retryAfter returns the wait that a server asks for: Retry-After in seconds, or as a date relative to the answer's, or the Hub's header
// RateLimit.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if match := rateLimitPattern.FindStringSubmatch(header.Get("RateLimit")); value == "" && match != nil {
		value = match[1]
	}
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	sent, sentErr := http.ParseTime(header.Get("Date"))
	if err != nil || sentErr != nil {
		return 0
	}
	return max(0, until.Sub(sent))
}

// transientError marks an error that may not recur.
type transientError struct{ error }

func (e transientError) Unwrap() error { return e.error }

// retriable reports whether another try may succeed, after a failure of the network or a temporary answer.
func retriable(err error) bool {
	if _, ok := errors.AsType[transientError](err); ok {
		return true
	}
	status, ok := errors.AsType[*statusError](err)
	return ok && status.temporary()
}

// explain adds the name of the checkpoint and the remedy to an error.
func (c *Client) explain(ref Ref, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("fetching %s was interrupted, the next pull resumes it: %w", ref, err)
	}
	advice := ""
	if status, ok := errors.AsType[*statusError](err); ok && ref.kind == kindRepo {
		advice = c.adviceRepo(ref, status)
	} else if ok && ref.kind == kindPair {
		advice = adviceIndex
	} else if ok {
		advice = adviceURL(status)
	}
	if advice == "" {
		return fmt.Errorf("cannot fetch %s: %w", ref, err)
	}
	return fmt.Errorf("cannot fetch %s: %w: %s", ref, err, advice)
}

// adviceRepo returns the remedy for an answer of the Hub.
func (c *Client) adviceRepo(ref Ref, e *statusError) string {
	page := redact(c.endpoint) + "/" + ref.repo
	// The Hub gives the same answer for a private repository.
	notFound := errors.Is(e, ErrRepoNotFound) || e.status == http.StatusUnauthorized
	switch {
	case errors.Is(e, ErrGated) && c.cfg.Token == "":
		return fmt.Sprintf("the repository is gated: accept its licence on %s and set HF_TOKEN to a token of that account", page)
	case errors.Is(e, ErrGated):
		return fmt.Sprintf("the repository is gated: accept its licence on %s with the account of HF_TOKEN", page)
	case errors.Is(e, ErrRevisionNotFound):
		return fmt.Sprintf("there is no revision %q: check the branch, tag or commit", ref.revision)
	case e.message == "Invalid credentials in Authorization header":
		return "HF_TOKEN is wrong or has expired: set a valid one, or none for a public repository"
	case notFound && c.cfg.Token == "":
		return "there is no such repository or it is private: check the spelling of the name, or set HF_TOKEN"
	case notFound:
		return "there is no such repository or HF_TOKEN may not read it: check the spelling of the name and the token's rights"
	case errors.Is(e, ErrFileNotFound):
		return "the repository lacks this file: it is not a checkpoint of a supported family, or HF_ENDPOINT is not a mirror of the Hub"
	}
	return adviceURL(e)
}

// adviceURL returns the remedy for an answer of any server.
func adviceURL(e *statusError) string {
	switch {
	case errors.Is(e, ErrUnauthorized):
		return "the server refuses access: check the name and the rights"
	case errors.Is(e, ErrFileNotFound):
		return "check the URL: the files of the checkpoint must be directly under it"
	case errors.Is(e, ErrRateLimited):
		return "the server limits requests: wait some minutes, or set HF_TOKEN for a higher limit"
	case e.status >= 500:
		return "the server has a problem: try again later"
	}
	return ""
}
