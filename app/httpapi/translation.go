package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/compat"
)

// translation serves POST /translation.
func (a *API) translation(c *gin.Context) {
	req, ctx, cancel, err := a.begin(c)
	if err != nil {
		a.fail(c, err)
		return
	}
	defer cancel()
	results, err := a.served.Load().translator.Translate(ctx, req.Request)
	if err != nil {
		a.fail(c, inPayload(err))
		return
	}
	var seen tally
	output := make([]recordOutput, len(results)) // not nil: no records are [] in JSON
	for i, r := range results {
		output[i] = req.output(r)
		seen.add(r)
	}
	seen.header(c)
	c.PureJSON(http.StatusOK, gin.H{"result": output})
}

// begin reads a request for translations, and returns it with the context that they
// have. The caller cancels it.
func (a *API) begin(c *gin.Context) (req translationRequest, ctx context.Context, cancel context.CancelFunc, err error) {
	if a.served.Load() == nil {
		return req, nil, nil, problem(codeNotReady, "", "the model is loading: try again in a moment")
	}
	if req, err = decodeTranslation(c.Request, a.cfg.MaxRecords); err != nil {
		return req, nil, nil, err
	}
	req.Caller = access.Caller(c)
	c.Set(recordsKey, len(req.Records))
	if err := a.charge(c, req); err != nil {
		return req, nil, nil, err
	}
	// The body is here; the deadline that bounded it must not end the translation.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Time{})
	ctx, cancel, err = a.deadline(c)
	return req, ctx, cancel, err
}

// deadline returns the context that a request's translation has: it ends with the
// client, after the service's timeout, and at the deadline that the client sets.
func (a *API) deadline(c *gin.Context) (context.Context, context.CancelFunc, error) {
	now := time.Now()
	at := now.Add(a.cfg.RequestTimeout)
	own, ok, err := access.Deadline(c.Request.Header, now)
	if err != nil {
		return nil, nil, err
	}
	if ok && own.Before(at) {
		at = own
		c.Set(deadlineKey, true)
	}
	ctx, cancel := context.WithDeadline(c.Request.Context(), at)
	return ctx, cancel, nil
}

// admit lets those in who may ask for translations.
func (a *API) admit(c *gin.Context) {
	if a.cfg.Gate == nil {
		return
	}
	if err := a.cfg.Gate.Enter(c, ""); err != nil {
		a.fail(c, err)
	}
}

// charge counts the characters that a request asks to translate, into each language.
func (a *API) charge(c *gin.Context, req translationRequest) error {
	if a.cfg.Gate == nil {
		return nil
	}
	characters := 0
	for _, r := range req.Records {
		characters += compat.Characters(r.Text, req.Format)
	}
	return a.cfg.Gate.Charge(c, characters*len(req.To))
}
