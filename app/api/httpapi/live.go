package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/live"
	"dragoman/app/translate"
)

const livePath = "/live"

// LiveConfig is the configuration of live text in an API.
type LiveConfig struct {
	*live.Service
	MaxSessions int
	MaxChars    int // of a session's text
}

// liveAPI serves live text.
type liveAPI struct {
	server  *dialect.Server
	cfg     Config
	live    *LiveConfig
	sockets *sockets
	ending  context.Context // when ending is done, connections end
}

func (l *liveAPI) routes() []dialect.Route {
	return []dialect.Route{{Methods: "GET", Path: livePath, Handler: l.serveSocket}}
}

func (l *liveAPI) openSession(c *gin.Context, payload *payloadInput) (*live.Session, error) {
	if payload != nil && payload.Records == nil {
		payload.Records = new([]recordInput)
	} else if payload != nil {
		return nil, fault.New(fault.UnknownField, "payload.records", "live text has no records: send it in edits")
	}
	req, err := payload.request()
	switch {
	case err != nil:
		return nil, err
	case len(req.To) != 1:
		return nil, fault.New(fault.InvalidValue, "payload.toLangs", "live text is translated into one language: open a session for each")
	}
	if field := refusedOption(payload); field != "" {
		return nil, fault.New(fault.InvalidOption, "payload."+field, "live text has no %s: leave it out, or use POST %s", field, translationPath)
	}
	if err := l.server.OwnMemory(c, &req.Request); err != nil {
		return nil, err
	}
	return l.live.Open(c.Request.Context(), access.Caller(c.Request), req.Request, l.cfg.Gate.Account(c.Request).Charge)
}

// refusedOption returns an option of translations that live text does not support, if p uses one, or "".
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

// ownSession returns a session if the sender of the request may use it: with keys, only sessions of the sender's own key; without
// keys, any session whose id the sender knows.
func (l *liveAPI) ownSession(c *gin.Context, id string) (*live.Session, error) {
	x, err := l.live.Find(id)
	if err == nil && l.cfg.Gate.NeedsKeys() && x.Owner() != access.Caller(c.Request) {
		return nil, live.ErrUnknown
	}
	return x, err
}
