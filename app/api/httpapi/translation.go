package httpapi

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// translationAPI serves the routes of translations.
type translationAPI struct {
	server     *dialect.Server
	maxRecords int
}

// translation serves POST /translation.
func (a *translationAPI) translation(c *gin.Context) (any, error) {
	req, parts, err := a.read(c)
	if err != nil {
		return nil, err
	}
	results, err := a.server.TranslateAll(c, parts)
	output := make([]recordOutput, 0, len(req.Records)*len(req.To)) // not nil: an empty list is [] in JSON
	failed := 0
	for _, part := range results {
		for _, r := range part {
			output = append(output, req.output(r))
			if output[len(output)-1].Error != nil {
				failed++
			}
		}
	}
	if err == nil && failed > 0 && failed == len(output) {
		err = unfinished("payload.records[0].text")
	}
	return gin.H{"result": output}, err
}

// read reads a request for translations, and its parts: one for each target language if the request names a stored glossary.
func (a *translationAPI) read(c *gin.Context) (req translationRequest, parts []translate.Request, err error) {
	if _, err := a.server.Translator(); err != nil {
		return req, nil, err
	}
	if req, err = decodeTranslation(c, a.maxRecords); err != nil {
		return req, nil, err
	}
	if err := a.server.OwnMemory(c, &req.Request); err != nil {
		return req, nil, err
	}
	parts, err = a.server.WithGlossaries(c, req.glossaries, req.Request)
	return req, parts, err
}

// Media types of streams.
const (
	ndjsonType = "application/x-ndjson"
	eventsType = "text/event-stream"
)

// stream serves POST /translation/stream: each translation as soon as it is ready, as newline-delimited JSON or, if the client
// accepts them, as server-sent events.
//
// An error before the first translation is answered as on other routes; a later error is the stream's last event. A stream that
// ends with neither done nor error was cut off.
func (a *translationAPI) stream(c *gin.Context) (any, error) {
	req, parts, err := a.read(c)
	if err != nil {
		return nil, err
	}
	out := &eventWriter{c: c, events: strings.Contains(c.GetHeader("Accept"), eventsType)}
	err = a.server.StreamAll(c, parts, func(_ int, r translate.Result) error { return out.send("result", req.output(r)) })
	switch {
	case err == nil:
		_ = out.send("done", gin.H{"results": out.sent}) // fails if the client has left
	case out.sent == 0:
		return nil, err
	default:
		if f := a.server.Explain(c, err); f.Kind != fault.ClientGone {
			_ = out.send("error", detailOf(c, f))
		}
	}
	return nil, nil
}

// eventWriter writes the events of a stream.
type eventWriter struct {
	c      *gin.Context
	events bool // server-sent events instead of lines of JSON
	sent   int
}

// send writes an event and flushes it. It fails if the client has left or does not read.
func (w *eventWriter) send(name string, data any) error {
	if w.sent == 0 {
		w.begin()
	}
	w.sent++
	encoded, err := json.Marshal(data)
	if err != nil {
		return err
	}
	before, after := `{"`+name+`":`, "}\n"
	if w.events {
		before, after = "event: "+name+"\ndata: ", "\n\n"
	}
	return dialect.Send(w.c, slices.Concat([]byte(before), encoded, []byte(after)))
}

// comment writes an empty comment, so that the stream is not silent.
func (w *eventWriter) comment() error { return dialect.Send(w.c, []byte(":\n\n")) }

// begin writes the headers.
func (w *eventWriter) begin() {
	mediaType := ndjsonType
	if w.events {
		mediaType = eventsType
	}
	dialect.BeginStream(w.c, mediaType)
}
