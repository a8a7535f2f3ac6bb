package httpapi

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/dialect"
	"dragoman/app/failure"
	"dragoman/app/live"
	"dragoman/app/translate"
)

const (
	livePath = "/live"

	// lastEventHeader is where a client says which event it has seen last.
	lastEventHeader = "Last-Event-ID"
	// mostEdits is how many edits may come together.
	mostEdits = 256
	// mostLanguages is how many may be named where there can be only one, for a clear answer.
	mostLanguages = 8
)

// LiveConfig is what an API needs to have live text.
type LiveConfig struct {
	*live.Service
	MaxSessions int
	MaxChars    int // of a session's text
}

// liveAPI serves the routes of live text.
type liveAPI struct {
	*API
	live LiveConfig
}

// dialect has the routes.
func (l *liveAPI) dialect() dialect.Dialect {
	const one = livePath + "/:id"
	return dialect.Dialect{
		Routes: []dialect.Route{
			{Methods: "GET", Path: livePath, Handler: l.serveSocket},
			{Methods: "POST", Path: livePath, Handler: l.handle(l.open)},
			{Methods: "GET", Path: one, Handler: l.handle(l.get)},
			{Methods: "PATCH", Path: one, Handler: l.handle(l.edit)},
			{Methods: "DELETE", Path: one, Handler: l.handle(l.remove)},
			{Methods: "GET", Path: one + "/events", Handler: l.handle(l.events)},
		},
		Render: render,
	}
}

// handle makes a handler that lets callers in, and answers errors.
func (l *liveAPI) handle(serve func(c *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := l.cfg.Gate.Enter(c, "")
		if err == nil {
			err = serve(c)
		}
		if err != nil {
			l.server.Fail(c, err)
		}
	}
}

// open serves POST /live.
func (l *liveAPI) open(c *gin.Context) error {
	var parsed struct {
		Payload *payloadInput `json:"payload"`
	}
	if _, err := decodeBody(c, mostLanguages, &parsed); err != nil {
		return err
	}
	x, err := l.openSession(c, parsed.Payload)
	if err != nil {
		return err
	}
	c.Header("Location", livePath+"/"+x.ID())
	c.PureJSON(http.StatusCreated, gin.H{"id": x.ID()})
	return nil
}

// openSession opens a session.
func (l *liveAPI) openSession(c *gin.Context, payload *payloadInput) (*live.Session, error) {
	if payload != nil && payload.Records == nil {
		payload.Records = new([]recordInput)
	} else if payload != nil {
		return nil, failure.New(failure.UnknownField, "payload.records", "live text has no records: send it in edits")
	}
	req, err := payload.request()
	switch {
	case err != nil:
		return nil, err
	case len(req.To) != 1:
		return nil, failure.New(failure.InvalidValue, "payload.toLangs", "live text is translated into one language: open a session for each")
	}
	if field := refusedOption(payload); field != "" {
		return nil, failure.New(failure.InvalidOption, "payload."+field, "live text has no %s: leave it out, or use POST %s", field, translationPath)
	}
	return l.live.Open(c.Request.Context(), access.Caller(c), req.Request, l.cfg.Gate.Account(c).Charge)
}

// refusedOption is an option of a translation that live text does not have, where one is used; else "".
func refusedOption(p *payloadInput) string {
	for _, option := range []struct {
		name string
		used bool
	}{
		{"format", p.Format.set && p.Format.value != string(translate.Text)}, {"split", p.Split.set}, {"xml", p.XML.set}, {"detail", p.Detail.set},
		{"alternatives", p.Alternatives.set}, {"glossary", p.Terms.set}, {"glossaryId", p.Glossary.set},
	} {
		if option.used {
			return option.name
		}
	}
	return ""
}

// own is a session that the sender of a request may use: with keys, that of its own key; without,
// whoever knows its id.
func (l *liveAPI) own(c *gin.Context, id string) (*live.Session, error) {
	x, err := l.live.Find(id)
	if err == nil && l.cfg.Gate.NeedsKeys() && x.Owner() != access.Caller(c) {
		return nil, live.ErrUnknown
	}
	return x, err
}

// edit serves PATCH /live/ID.
func (l *liveAPI) edit(c *gin.Context) error {
	x, err := l.own(c, c.Param("id"))
	if err != nil {
		return err
	}
	var parsed liveEdits
	if _, err := decodeBody(c, 1, &parsed); err != nil {
		return err
	}
	edits, err := parsed.edits()
	if err != nil {
		return err
	}
	taken, err := x.Edit(edits, func() error { return nil }) // the request was counted
	if err != nil {
		return err
	}
	c.PureJSON(http.StatusOK, gin.H{"taken": taken})
	return nil
}

// get serves GET /live/ID: all that there is, at once.
func (l *liveAPI) get(c *gin.Context) error {
	x, err := l.own(c, c.Param("id"))
	if err != nil {
		return err
	}
	u, err := x.Wait(c.Request.Context(), 0, 0)
	if err != nil {
		return err
	}
	c.PureJSON(http.StatusOK, l.updateOf(c, u))
	return nil
}

// remove serves DELETE /live/ID.
func (l *liveAPI) remove(c *gin.Context) error {
	x, err := l.own(c, c.Param("id"))
	if err != nil {
		return err
	}
	x.End(live.ReasonDeleted)
	c.Status(http.StatusNoContent)
	return nil
}

// events serves GET /live/ID/events: what is new, until the session has ended or all is done. The id of
// an event is its revision.
func (l *liveAPI) events(c *gin.Context) error {
	leave, err := l.sockets.enter(access.Caller(c))
	if err != nil {
		return err
	}
	defer leave()
	x, err := l.own(c, c.Param("id"))
	if err != nil {
		return err
	}
	seen, err := lastEvent(c.Request.Header)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.Request.Context())
	defer cancel()
	stop := context.AfterFunc(l.ending, cancel)
	defer stop()
	out := &eventWriter{c: c, events: true}
	if c.Request.Method == http.MethodHead {
		out.begin()
		return nil
	}
	l.follow(ctx, out, x, seen)
	return nil
}

// follow sends what is new in a session, until it has ended or nobody listens any more.
func (l *liveAPI) follow(ctx context.Context, out *eventWriter, x *live.Session, seen int64) {
	for {
		// What was taken is in the answers to the edits.
		u, err := waitFor(ctx, x, seen, math.MaxInt64)
		switch {
		case err == nil:
			seen = u.Revision
			out.id = strconv.FormatInt(seen, 10)
			if out.send("update", l.updateOf(out.c, u)) != nil || u.Done || u.Ended != "" {
				return
			}
		case ctx.Err() != nil:
			return
		case out.sent == 0:
			out.begin()
			out.sent++
			fallthrough
		default:
			if out.comment() != nil {
				return
			}
		}
	}
}

// waitFor waits for news as long as a stream may be silent; the error is then one, and ctx is not done.
func waitFor(ctx context.Context, x *live.Session, seen, shown int64) (live.Update, error) {
	ctx, cancel := context.WithTimeout(ctx, keepAlive)
	defer cancel()
	return x.Wait(ctx, seen, shown)
}

// lastEvent is the revision that a client has seen last; 0 for none.
func lastEvent(h http.Header) (int64, error) {
	value := h.Get(lastEventHeader)
	if value == "" {
		return 0, nil
	}
	seen, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seen < 0 {
		return 0, &access.HeaderError{Header: lastEventHeader, Value: value, Want: "the id of an event of this session"}
	}
	return seen, nil
}
