package httpapi

import (
	"io"

	"github.com/gin-gonic/gin"

	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/live"
)

// liveEdits are a client's edits. Names are short: they come with each key stroke.
type liveEdits struct {
	Number   optional[int64]      `json:"n"`
	Edits    optional[[]liveEdit] `json:"edits"`
	Complete optional[bool]       `json:"complete"`
	Settle   optional[bool]       `json:"settle"`
}

// liveEdit is an edit. Without from, it is at the end of the text; without to, it replaces nothing.
type liveEdit struct {
	From optional[int]   `json:"from"`
	To   optional[int]   `json:"to"`
	Text optional[prose] `json:"text"`
}

func tooManyEdits(field string, most int) error {
	return fault.New(fault.TooManyRecords, field, "at most %d edits may come together: send several messages", most)
}

// edits checks that no field is missing.
func (e liveEdits) edits() (live.Edits, error) {
	switch {
	case !e.Number.set:
		return live.Edits{}, missing("n")
	case e.Number.value < 1:
		return live.Edits{}, fault.New(fault.InvalidValue, "n", "n is %d: the first edits are number 1", e.Number.value)
	}
	out := live.Edits{Number: e.Number.value, Complete: e.Complete.value, Settle: e.Settle.value}
	for _, edit := range e.Edits.value {
		from, to := edit.From.value, edit.To.value
		switch {
		case !edit.From.set && edit.To.set:
			return live.Edits{}, missing("edits.from")
		case !edit.From.set:
			from = live.End
		case from < 0: // which is live.End
			return live.Edits{}, fault.New(fault.InvalidEdit, "edits.from", "from is %d: places are from 0 on, and without from an edit is at the end", from)
		case !edit.To.set:
			to = from
		}
		out.List = append(out.List, live.Edit{From: from, To: to, Text: string(edit.Text.value)})
	}
	return out, nil
}

// liveMessage is a client's message over a WebSocket: the message opens, resumes, edits or ends the session with the number s on
// this connection.
type liveMessage struct {
	Key     optional[string] `json:"key"` // in the first message, if the key is not in a header
	Session optional[int64]  `json:"s"`
	Payload *payloadInput    `json:"payload"` // opens a session
	Resume  optional[string] `json:"resume"`  // the session's id
	Seen    optional[int64]  `json:"seen"`    // the revision last seen by a client that resumes
	End     optional[bool]   `json:"end"`
	liveEdits
}

// decodeMessage reads a message.
func decodeMessage(raw []byte) (m liveMessage, err error) {
	if err := decodeInput(raw, 1, &m); err != nil {
		return m, err
	}
	if asked := count(m.Payload != nil, m.Resume.set, m.End.value, m.Number.set); asked > 1 {
		return m, fault.New(fault.InvalidValue, "", "a message has one of payload, resume, n and end")
	} else if asked == 1 && !m.Session.set {
		return m, missing("s")
	}
	return m, nil
}

// leasedReader takes memory for the bytes read.
type leasedReader struct {
	io.Reader
	lease *admission.Lease
}

func (r *leasedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if full := r.lease.Take(int64(n) * cost.BodyByte); full != nil {
		return 0, full
	}
	return n, err
}

// count returns the number of true values.
func count(holds ...bool) (n int) {
	for _, h := range holds {
		if h {
			n++
		}
	}
	return n
}

// liveUpdate is a session's update for clients. A missing field is unchanged, or 0. Because of omitzero, a text that has become
// empty is present, whichever library writes the JSON.
type liveUpdate struct {
	Session  *int64        `json:"s,omitzero"`
	ID       string        `json:"id,omitzero"`
	Taken    int64         `json:"taken"`
	Shown    *int64        `json:"shown,omitzero"` // if shown differs from taken
	Revision int64         `json:"revision"`
	From     string        `json:"fromLang,omitzero"`
	All      bool          `json:"all,omitzero"`
	Removed  []int64       `json:"removed,omitzero"`
	Segments []liveSegment `json:"segments,omitzero"`
	Tail     *string       `json:"tail,omitzero"`
	Error    *errorDetail  `json:"error,omitzero"`
	Done     bool          `json:"done,omitzero"`
	Ended    live.Reason   `json:"ended,omitzero"`
}

type liveSegment struct {
	ID       int64    `json:"segment"`
	Revision int64    `json:"revision,omitzero"` // if the segment's revision differs from the update's
	After    int64    `json:"after,omitzero"`
	Skip     int      `json:"skip,omitzero"`
	Length   int      `json:"length"`
	Before   string   `json:"before,omitzero"`
	Text     *string  `json:"text,omitzero"`
	Flags    []string `json:"flags,omitzero"`  // of the text
	Stable   *int     `json:"stable,omitzero"` // of the text, unless it is final
	Final    bool     `json:"final,omitzero"`
}

// updateOf converts an update for a client.
func (l *liveAPI) updateOf(c *gin.Context, u live.Update) liveUpdate {
	out := liveUpdate{Taken: u.Taken, Revision: u.Revision, From: u.From, All: u.All, Removed: u.Removed, Tail: u.Tail, Done: u.Done, Ended: u.Ended}
	if u.Shown != u.Taken {
		out.Shown = &u.Shown
	}
	if u.Problem != nil {
		detail := detailOf(c, fault.Explain(u.Problem, fault.Situation{ID: idOf(c), Timeout: l.cfg.RequestTimeout}))
		out.Error = &detail
	}
	for _, s := range u.Segments {
		segment := liveSegment{ID: s.ID, After: s.After, Skip: s.Skip, Length: s.Length, Before: s.Before, Text: s.Text, Flags: s.Flags.Names(), Final: s.Final}
		if s.Revision != u.Revision {
			segment.Revision = s.Revision
		}
		if s.Text != nil && !s.Final {
			segment.Stable = &s.Stable
		}
		out.Segments = append(out.Segments, segment)
	}
	return out
}
