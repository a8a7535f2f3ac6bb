package dialect

import (
	"context"
	"fmt"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/failure"
	"dragoman/app/translate"
)

// deadlineKey is where gin's context says that the client has set a deadline.
const deadlineKey = "dragoman/dialect.deadline"

// requestedKey is where gin's context has the model that the request names.
const requestedKey = "dragoman/dialect.requested"

// RequestedModel is the model that a request for translations names; "" where it names none.
func RequestedModel(c *gin.Context) string { return c.GetString(requestedKey) }

// Translate has the records of a request translated, and says in headers how that was done.
// The request's caller is filled in.
func (s *Server) Translate(c *gin.Context, req translate.Request) ([]translate.Result, error) {
	t, ctx, cancel, err := s.begin(c, &req)
	if err != nil {
		return nil, err
	}
	defer cancel()
	results, err := t.Translate(ctx, req)
	if err != nil {
		return nil, err
	}
	if want := len(req.Records) * len(req.To); len(results) != want {
		return nil, fmt.Errorf("%d results, expected %d", len(results), want)
	}
	var seen tally
	for _, r := range results {
		seen.add(r)
	}
	seen.log(c)
	seen.header(c)
	return results, nil
}

// Stream is [Server.Translate] for an API that sends each result as soon as it is there.
func (s *Server) Stream(c *gin.Context, req translate.Request, yield func(r translate.Result) error) error {
	t, ctx, cancel, err := s.begin(c, &req)
	if err != nil {
		return err
	}
	defer cancel()
	var seen tally
	err = t.Stream(ctx, req, func(_ int, r translate.Result) error {
		seen.add(r)
		return yield(r)
	})
	if err == nil {
		seen.log(c)
	}
	return err
}

// begin charges a request's caller for it, and returns the context that its translation
// has: it ends with the client, after the service's timeout, and at the deadline that the
// client sets. The caller cancels it.
func (s *Server) begin(c *gin.Context, req *translate.Request) (t Translator, ctx context.Context, cancel context.CancelFunc, err error) {
	if t, err = s.Translator(); err != nil {
		return nil, nil, nil, err
	}
	req.Caller = access.Caller(c)
	c.Set(recordsKey, len(req.Records))
	c.Set(requestedKey, req.Model)
	now := time.Now()
	at := now.Add(s.RequestTimeout)
	own, ok, err := access.Deadline(c.Request.Header, now)
	if err != nil {
		return nil, nil, nil, err
	}
	characters := 0
	for _, r := range req.Records {
		characters += Characters(r.Text, req.Format)
	}
	if err := s.Gate.Charge(c, characters*len(req.To)); err != nil {
		return nil, nil, nil, err
	}
	if ok && own.Before(at) {
		at = own
		c.Set(deadlineKey, true)
	}
	ctx, cancel = context.WithDeadline(c.Request.Context(), at)
	return t, ctx, cancel, nil
}

// ChargeDetection charges a request for texts whose language is to be detected. It fails
// where they are too many or too long, and charges nothing then.
func (s *Server) ChargeDetection(c *gin.Context, texts []string) error {
	if most := s.MaxRecords; most > 0 && len(texts) > most {
		return failure.New(failure.TooManyRecords, "", "there are %d texts, at most %d are allowed: send several requests", len(texts), most)
	}
	characters := 0
	for _, text := range texts {
		n := translate.Characters(text)
		if most := s.MaxChars; most > 0 && n > most {
			return failure.New(failure.TextTooLong, "", "a text has %d characters, at most %d are allowed", n, most)
		}
		characters += n
	}
	return s.Gate.Charge(c, characters)
}
