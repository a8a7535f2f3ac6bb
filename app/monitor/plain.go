package monitor

import (
	"fmt"
	"io"
	"strings"
)

// Plain writes a line of text for each server and interval: what the live view shows,
// for places that are no terminal.
type Plain struct{ out io.Writer }

// NewPlain writes to out.
func NewPlain(out io.Writer) *Plain { return &Plain{out} }

// Put writes a round. The base has no differences and is left out.
func (p *Plain) Put(round Round) error {
	if round.Base {
		return nil
	}
	var text strings.Builder
	at := round.Time.Format("15:04:05")
	for _, note := range round.Notes {
		fmt.Fprintf(&text, "%s %s\n", at, note)
	}
	for i := range round.Rows {
		r := &round.Rows[i]
		fmt.Fprintf(&text, "%s %s %s\n", at, r.Server, summary(r))
	}
	if _, err := io.WriteString(p.out, text.String()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// summary says in a line what happened at a server.
func summary(r *Row) string {
	if r.Err != nil {
		return "down: " + r.Err.Error()
	}
	text := fmt.Sprintf("%s | %s req/s, p50 %s, p95 %s | tokens/s %s in, %s out | queue %s tokens, wait %s | batch %s, busy %s | failed %s, refused %s | memory %s",
		state(r), rate(r.perSecond(answered)), span(r.requests.quantile(.5)), span(r.requests.quantile(.95)),
		rate(r.perSecond(tokensIn)), rate(r.perSecond(tokensOut)), whole(r.levels[waitingTokens]), span(r.levels[waitingTime]),
		percent(r.each(stepRows, stepRoom)), percent(r.busy()), whole(r.counts[failed]), whole(r.counts[refused]), size(r.levels[memory]))
	if r.Restarted {
		text += " | restarted"
	}
	return text
}

// state says in a word how a server is.
func state(r *Row) string {
	switch {
	case r.Err != nil:
		return "down"
	case r.levels[ready] > 0:
		return "ready"
	}
	return "not ready"
}
