package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"dragoman/model/family"
)

// What can go wrong in a pull, for errors.Is. The errors themselves carry the
// numbers and say what to do.
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
	ErrUnsafeName       = errors.New("unsafe file name")
	ErrNoSpace          = errors.New("not enough disk space")
	ErrTooLarge         = errors.New("larger than a checkpoint can be")
)

var (
	// errChanged: the file on the server is no longer the one that was asked about.
	errChanged = errors.New("file changed on the server while it was fetched")
	// errStalled: a connection was silent for Config.StallTimeout.
	errStalled = errors.New("connection stalled")
)

// StatusError is an answer of a server that is not a success.
type StatusError struct {
	URL     string // without user and query
	Status  int    // HTTP status
	Code    string // X-Error-Code of the Hub, such as GatedRepo; "" if none
	Message string // X-Error-Message of the Hub; "" if none
	// RetryAfter is how long the server asks to wait, 0 where it does not say.
	RetryAfter time.Duration
	// elsewhere: a host that the source redirected to gave this answer.
	elsewhere bool
}

// Error is one line: status, the Hub's own words and the URL.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += fmt.Sprintf(" (%q)", e.Message)
	}
	return text + " from " + e.URL
}

// Unwrap is the Err variable that the answer amounts to, if there is one.
func (e *StatusError) Unwrap() error {
	switch e.Code {
	case "RepoNotFound":
		return ErrRepoNotFound
	case "RevisionNotFound":
		return ErrRevisionNotFound
	case "EntryNotFound":
		return ErrFileNotFound
	case "GatedRepo":
		return ErrGated
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrUnauthorized
	case http.StatusNotFound, http.StatusGone:
		return ErrFileNotFound
	case http.StatusTooManyRequests:
		return ErrRateLimited
	}
	return nil
}

// temporary reports whether the same request may succeed later. A storage host
// that refuses has as a rule been given a signature that ran out: the next try
// starts at the source and gets a new one.
func (e *StatusError) temporary() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented:
		return false
	case http.StatusForbidden:
		return e.elsewhere
	}
	return e.Status >= 500
}

// transientError marks an error that a later try may not meet.
type transientError struct{ error }

func (e transientError) Unwrap() error { return e.error }

// retriable reports whether another try is of use. Only failures of the network
// and temporary answers are; a full disk, say, is not.
func retriable(err error) bool {
	if _, ok := errors.AsType[transientError](err); ok {
		return true
	}
	status, ok := errors.AsType[*StatusError](err)
	return ok && status.temporary()
}

// explain names the checkpoint in an error and adds what to do about it.
func (c *Client) explain(ref Ref, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("fetching %s was interrupted, the next pull goes on from there: %w", ref, err)
	}
	status, ok := errors.AsType[*StatusError](err)
	if !ok {
		return fmt.Errorf("cannot fetch %s: %w", ref, err)
	}
	advice := c.adviceURL(status)
	if ref.kind == kindRepo {
		advice = c.adviceRepo(ref, status)
	}
	if advice == "" {
		return fmt.Errorf("cannot fetch %s: %w", ref, err)
	}
	return fmt.Errorf("cannot fetch %s: %w: %s", ref, err, advice)
}

// adviceRepo says what to do about an answer of the Hub.
func (c *Client) adviceRepo(ref Ref, e *StatusError) string {
	page := redact(c.endpoint) + "/" + ref.repo
	switch {
	case errors.Is(e, ErrGated) && c.cfg.Token == "":
		return fmt.Sprintf("the repository is gated: accept its licence on %s and set HF_TOKEN to a token of that account", page)
	case errors.Is(e, ErrGated):
		return fmt.Sprintf("the repository is gated: accept its licence on %s with the account that HF_TOKEN belongs to", page)
	case errors.Is(e, ErrRevisionNotFound):
		return fmt.Sprintf("there is no revision %q: check the branch, tag or commit", ref.revision)
	case e.Message == "Invalid credentials in Authorization header":
		return "HF_TOKEN is wrong or has run out: set a valid one, or none for a public repository"
	case errors.Is(e, ErrRepoNotFound), e.Status == http.StatusUnauthorized:
		// The Hub hides private repositories behind the same answer.
		if c.cfg.Token == "" {
			return "there is no such repository or it is private: check the spelling of the name, or set HF_TOKEN"
		}
		return "there is no such repository or HF_TOKEN may not read it: check the spelling of the name and the token's rights"
	case errors.Is(e, ErrFileNotFound):
		return "the repository lacks this file: it is not a checkpoint of a supported family, or HF_ENDPOINT is not a mirror of the Hub"
	}
	return c.adviceURL(e)
}

// adviceURL says what to do about an answer of any server.
func (c *Client) adviceURL(e *StatusError) string {
	switch {
	case errors.Is(e, ErrUnauthorized):
		return "the server refuses access: check the name and the rights"
	case errors.Is(e, ErrFileNotFound):
		return "check the URL: the files of the checkpoint must lie directly under it"
	case errors.Is(e, ErrRateLimited):
		return "the server limits requests: wait some minutes, or set HF_TOKEN for a higher limit"
	case e.Status >= 500:
		return "the server has trouble: try again later"
	}
	return ""
}
