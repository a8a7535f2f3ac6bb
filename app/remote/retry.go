package remote

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"dragoman/model/prompt"
)

// Tries of a call. A server that is busy is asked again for longer than one that fails, for it says that it has not begun.
const (
	busyTries   = 6
	unsentTries = 3
	failedTries = 2

	busyPause, shortPause = 500 * time.Millisecond, 100 * time.Millisecond // double with each try
	longestBusy           = 30 * time.Second                               // a server that asks for more is away
)

// busy reports whether the server refuses calls for the moment, before it works on them.
func (e *CallError) busy() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// retry returns the pause after which a call that has failed for the try-th time is made again; ok is false if it is not. With
// charged, no call is repeated on which the server may have worked.
func (e *CallError) retry(try int, charged bool) (pause time.Duration, ok bool) {
	switch {
	case e.busy():
		pause = max(e.RetryAfter, busyPause<<(try-1))
		return pause, try < busyTries && pause <= longestBusy
	case errors.Is(e.Err, context.DeadlineExceeded):
		return 0, false
	case !e.Sent && e.Status == 0:
		return shortPause << (try - 1), try < unsentTries
	case e.Status == 0 || e.Status >= 500:
		return shortPause << (try - 1), !charged && try < failedTries
	}
	return 0, false
}

// lasting reports whether the fault does not pass by itself: a wrong key, URL or name of the model.
func (e *CallError) lasting() bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	}
	return e.Status >= 300 && e.Status < 400
}

// refusesSeveral reports whether the server refuses a call because it asks for several answers: llama.cpp gives one for each slot at
// most.
func (e *CallError) refusesSeveral() bool {
	return (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity) && severalField.MatchString(e.Error())
}

// severalField matches the name of the field n in an error.
var severalField = regexp.MustCompile(`['"\x60]n['"\x60]|\bn (?:must|should|is|cannot|>)|\bbest_of\b`)

// refuses reports whether the server refuses this call and not others, and what that means for the sentence: the call is too long
// for the model, or its content is unwanted.
func (e *CallError) refuses() (fault prompt.Fault, tooLong, ok bool) {
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusUnavailableForLegalReasons:
	default:
		return "", false, false
	}
	text := strings.ToLower(e.Error())
	for _, word := range []string{"context", "too long", "too large", "maximum length", "max_tokens", "exceed"} {
		if strings.Contains(text, word) {
			return "", true, true
		}
	}
	return prompt.Refused, false, true
}
