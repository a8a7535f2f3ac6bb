package dialect

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"dragoman/app/budget"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/translate"
)

const (
	// deadlineKey is the key in gin's context for whether the client has set a deadline.
	deadlineKey = "dragoman/dialect.deadline"
	// patienceKey is the key in gin's context for the client's timeout, see Within.
	patienceKey = "dragoman/dialect.patience"
)

// Within sets the client's timeout of a request, for an API that has it outside the headers.
func Within(c *gin.Context, patience time.Duration) { c.Set(patienceKey, patience) }

// requestedKey is the key in gin's context for the model named in the request.
const requestedKey = "dragoman/dialect.requested"

// RequestedModel returns the model named in a request for translations, or "".
func RequestedModel(c *gin.Context) string { return c.GetString(requestedKey) }

// together is the number of parts of a request that are translated concurrently.
const together = 8

// TranslateAll translates the records of a request, and sets the headers and log attributes of the answer. TranslateAll fills in
// the caller. A request may have several parts, such as one for each pair of languages: the parts share one charge, one deadline
// and one limit of records, and succeed or fail together.
func (s *Server) TranslateAll(c *gin.Context, parts []translate.Request) ([][]translate.Result, error) {
	t, ctx, cancel, err := s.begin(c, parts)
	if err != nil {
		return nil, err
	}
	defer cancel()
	results, err := translateAll(ctx, t, parts)
	if err != nil {
		return nil, err
	}
	var seen tally
	for _, part := range results {
		for _, r := range part {
			seen.add(r)
		}
	}
	seen.log(c)
	seen.header(c)
	return results, nil
}

func translateAll(ctx context.Context, t Translator, parts []translate.Request) ([][]translate.Result, error) {
	results := make([][]translate.Result, len(parts))
	for try := 1; ; try++ {
		var mu sync.Mutex // guards made
		made, mixed := make(exports), false
		err := inParts(ctx, len(parts), func(ctx context.Context, i int) (err error) {
			results[i], err = translatePart(ctx, t, parts[i])
			mu.Lock()
			defer mu.Unlock()
			for _, r := range results[i] {
				mixed = mixed || !made.add(r)
			}
			return err
		})
		switch {
		case err != nil || !mixed:
			return results, err
		case try == mostTries:
			return nil, translate.ErrGone
		}
	}
}

// mostTries is the maximum number of tries for an answer whose parts turn out to come from different exports of a model.
const mostTries = 3

// exports are the identities of an answer's models, by name:version. An answer never mixes identities of one model.
type exports map[string]string

// add reports whether a result's exports are consistent with the others.
func (e exports) add(r translate.Result) bool {
	for model, identity := range r.Exports {
		if other, known := e[model]; known && other != identity {
			return false
		}
		e[model] = identity
	}
	return true
}

// inParts calls do for each of n parts, some concurrently, until one fails.
func inParts(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	if n == 1 {
		return do(ctx, 0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	for i := range n {
		group.Go(func() (err error) {
			defer func() {
				if caught := recover(); caught != nil { // because the server's recovery covers another goroutine only
					err = fmt.Errorf("panic: %v\n%s", caught, debug.Stack())
				}
			}()
			return do(ctx, i)
		})
	}
	return group.Wait()
}

func translatePart(ctx context.Context, t Translator, req translate.Request) ([]translate.Result, error) {
	results, err := t.Translate(ctx, req)
	if want := len(req.Records) * len(req.To); err == nil && len(results) != want {
		return nil, fmt.Errorf("%d results, expected %d", len(results), want)
	}
	return results, err
}

// StreamAll is [Server.TranslateAll] for an API that sends each result as soon as it is ready. yield is never called
// concurrently; i is the result's index in its part.
func (s *Server) StreamAll(c *gin.Context, parts []translate.Request, yield func(i int, r translate.Result) error) error {
	t, ctx, cancel, err := s.begin(c, parts)
	if err != nil {
		return err
	}
	defer cancel()
	var (
		mu   sync.Mutex // guards the others; held by yield
		seen tally
		made = make(exports)
	)
	err = inParts(ctx, len(parts), func(ctx context.Context, part int) error {
		return t.Stream(ctx, parts[part], func(i int, r translate.Result) error {
			mu.Lock()
			defer mu.Unlock()
			if !made.add(r) {
				return translate.ErrGone
			}
			seen.add(r)
			return yield(i, r)
		})
	})
	if err == nil {
		seen.log(c)
	}
	return err
}

// begin fills in and charges the caller of a request for all its parts, and returns the context of its translation: the context
// ends when the client leaves, after the service's timeout, and at the client's deadline. The caller must call cancel.
func (s *Server) begin(c *gin.Context, parts []translate.Request) (t Translator, ctx context.Context, cancel context.CancelFunc, err error) {
	if t, err = s.Translator(); err != nil {
		return nil, nil, nil, err
	}
	at, err := s.deadline(c, time.Now())
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, end := context.WithDeadline(c.Request.Context(), at)
	defer func() {
		if err != nil {
			end()
		}
	}()
	c.Set(requestedKey, parts[0].Model)
	records, results, characters := 0, 0, 0
	for i := range parts {
		req := &parts[i]
		records, results = records+len(req.Records), results+len(req.Records)*len(req.To)
		n, err := sum(ctx, c, req, s.MaxChars)
		if err != nil {
			return nil, nil, nil, err
		}
		characters += n
	}
	c.Set(recordsKey, records)
	if most := s.MaxRecords; len(parts) > 1 && most > 0 && results > most { // for a single part, package translate checks the limit
		return nil, nil, nil, fault.New(fault.TooManyRecords, "", "there are %d texts, at most %d are allowed: send several requests", results, most)
	}
	if err := s.Gate.Charge(c.Request, characters); err != nil {
		return nil, nil, nil, err
	}
	return t, ctx, end, nil
}

// ChargeJob fills in and charges the caller of a job, and returns the number of characters: the same as for a synchronous
// request.
func (s *Server) ChargeJob(c *gin.Context, req *translate.Request) (characters int, err error) {
	if characters, err = sum(c.Request.Context(), c, req, 0); err != nil {
		return 0, err
	}
	return characters, s.ChargeDocument(c, req, characters)
}

// ChargeDocument is ChargeJob for a request whose characters are already counted.
func (s *Server) ChargeDocument(c *gin.Context, req *translate.Request, characters int) error {
	req.Caller = access.Caller(c.Request)
	c.Set(requestedKey, req.Model)
	c.Set(recordsKey, len(req.Records))
	return s.Gate.Charge(c.Request, characters)
}

// sum fills in the caller of a request, and returns its number of charged characters. sum parses markup in turn with the work of
// other callers. It does not parse texts of more than most characters (0: no limit), because they are refused later.
func sum(ctx context.Context, c *gin.Context, req *translate.Request, most int) (characters int, err error) {
	req.Caller = access.Caller(c.Request)
	_, err = admission.Do(ctx, req.Caller, func(ctx context.Context) error {
		for _, r := range req.Records {
			format := req.Format
			if translate.TooLong(r.Text, most) {
				format = translate.Text
			}
			n, err := format.Characters(ctx, r.Text)
			if err == nil {
				err = budget.Work(ctx, len(r.Text))
			}
			if err != nil {
				return err
			}
			characters += n * len(req.To)
		}
		return nil
	})
	return characters, err
}

// deadline returns the deadline of a request's translation, and notes in gin's context whether the client set it.
func (s *Server) deadline(c *gin.Context, now time.Time) (time.Time, error) {
	at := now.Add(s.RequestTimeout)
	own, ok, err := access.Deadline(c.Request.Header, now)
	if err != nil {
		return at, err
	}
	if end, has := c.Request.Context().Deadline(); has && (!ok || end.Before(own)) { // deadline of a gRPC call
		own, ok = end, true
	}
	if patience := c.GetDuration(patienceKey); patience > 0 && (!ok || now.Add(patience).Before(own)) {
		own, ok = now.Add(patience), true
	}
	if ok && own.Before(at) {
		at = own
		c.Set(deadlineKey, true)
	}
	return at, nil
}

// Bounded returns the context of a request that waits: the context ends like that of a translation. The caller must call cancel.
func (s *Server) Bounded(c *gin.Context) (context.Context, context.CancelFunc, error) {
	at, err := s.deadline(c, time.Now())
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithDeadline(c.Request.Context(), at)
	return ctx, cancel, nil
}

// ChargeDetection charges a request for language detection in texts of a format. If there are too many texts, a text is too long,
// or ctx ends, it fails and charges nothing.
func (s *Server) ChargeDetection(ctx context.Context, c *gin.Context, texts []string, format translate.Format) error {
	if most := s.MaxRecords; most > 0 && len(texts) > most {
		return fault.New(fault.TooManyRecords, "", "there are %d texts, at most %d are allowed: send several requests", len(texts), most)
	}
	characters := 0
	for _, text := range texts {
		if translate.TooLong(text, s.MaxChars) {
			return fault.New(fault.TextTooLong, "", "a text has %d characters, at most %d are allowed", translate.Characters(text), s.MaxChars)
		}
		n, err := format.Characters(ctx, text)
		if err != nil {
			return err
		}
		characters += n
	}
	return s.Gate.Charge(c.Request, characters)
}
