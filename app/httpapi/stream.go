package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"dragoman/app/telemetry"
	"dragoman/app/translate"
)

// The media types of streams.
const (
	ndjsonType = "application/x-ndjson"
	eventsType = "text/event-stream"
)

// eventTimeout is how long a client may take to read what was sent to it.
const eventTimeout = 30 * time.Second

// stream serves POST /translation/stream: each translation as soon as it is there, as
// newline-delimited JSON or, where the client accepts them, as server-sent events.
//
// An error before the first translation is answered as everywhere; one after it is the
// stream's last event. A stream that ends with neither done nor error was cut off.
func (a *API) stream(c *gin.Context) {
	req, ctx, cancel, err := a.begin(c)
	if err != nil {
		a.fail(c, err)
		return
	}
	defer cancel()
	out := &eventWriter{c: c, events: strings.Contains(c.GetHeader("Accept"), eventsType)}
	var seen tally
	err = a.served.Load().translator.Stream(ctx, req.Request, func(_ int, r translate.Result) error {
		seen.add(r)
		return out.send("result", req.output(r))
	})
	switch {
	case err == nil:
		c.Set(cachedKey, seen.hits)
		_ = out.send("done", gin.H{"results": out.sent}) // to a client that left
	case out.sent == 0:
		a.fail(c, inPayload(err))
	default:
		_ = c.Error(err) // for the access log
		if errors.Is(err, context.Canceled) && c.Request.Context().Err() != nil {
			a.cfg.Metrics.Cancelled(telemetry.ClientGone)
			return
		}
		e := a.public(c, inPayload(err))
		a.count(c, e.Code)
		_ = out.send("error", errorDetail{e.Code, e.Field, e.Message})
	}
}

// eventWriter writes the events of a stream.
type eventWriter struct {
	c      *gin.Context
	events bool // server-sent events instead of lines of JSON
	sent   int
}

// send writes an event and waits until it is on its way. It fails when the client has
// gone or does not read.
func (w *eventWriter) send(name string, data any) error {
	if w.sent == 0 {
		w.begin()
	}
	w.sent++
	encoded, err := json.Marshal(data)
	if err != nil {
		return err
	}
	var event bytes.Buffer
	if w.events {
		event.WriteString("event: " + name + "\ndata: ")
		event.Write(encoded)
		event.WriteString("\n\n")
	} else {
		event.WriteString(`{"` + name + `":`)
		event.Write(encoded)
		event.WriteString("}\n")
	}
	control := http.NewResponseController(w.c.Writer)
	// Not every server under test has deadlines; the real one has.
	_ = control.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := w.c.Writer.Write(event.Bytes()); err != nil {
		return err
	}
	return control.Flush()
}

// begin writes the headers.
func (w *eventWriter) begin() {
	w.c.Header("Content-Type", ndjsonType)
	if w.events {
		w.c.Header("Content-Type", eventsType)
	}
	w.c.Header("Cache-Control", "no-store")
	w.c.Header("X-Accel-Buffering", "no") // nginx would keep events until it has many
	w.c.Status(http.StatusOK)
}
