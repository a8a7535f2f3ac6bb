package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/admission/cost"
	"dragoman/app/body"
	"dragoman/app/dialect"
	"dragoman/app/engine"
	"dragoman/app/failure"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

const (
	jobsPath = "/jobs"

	// jobBodyTimeout is how long the body of a job may take to arrive.
	jobBodyTimeout = 5 * time.Minute
	// mostListed is how many jobs GET /jobs lists.
	mostListed = 100
	// mostJobStreams is how many clients may watch jobs at a time.
	mostJobStreams = 1024

	idempotencyHeader = "Idempotency-Key"
	longestKey        = 200
)

// JobsConfig is what an API needs to have jobs.
type JobsConfig struct {
	*jobs.Service
	MaxBodyBytes int64
	MaxRecords   int // records × languages of a job
	// MaxDocumentBytes is the most that a document may have, 0: none are translated; MaxChars is the most
	// that one of its texts may have, in characters.
	MaxDocumentBytes int64
	MaxTexts         int // of a document, those that come again included; 0: no bound here
	MaxChars         int
}

// jobsAPI serves the routes of jobs.
type jobsAPI struct {
	*API
	jobs    JobsConfig
	streams atomic.Int64 // that are open
}

// dialect has the routes.
func (j *jobsAPI) dialect() dialect.Dialect {
	const one = jobsPath + "/:id"
	return dialect.Dialect{
		Routes: []dialect.Route{
			{Methods: "POST", Path: jobsPath, Handler: j.handle(j.submit), Room: j.room},
			{Methods: "GET", Path: jobsPath, Handler: j.handle(j.list)},
			{Methods: "GET", Path: one, Handler: j.handle(j.get)},
			{Methods: "GET", Path: one + "/events", Handler: j.handle(j.events)},
			{Methods: "DELETE", Path: one, Handler: j.handle(j.remove)},
		},
		Render: render,
	}
}

// room fails where there is no place for a job of a request's sender, unless it is there already.
func (j *jobsAPI) room(c *gin.Context) error {
	return j.jobs.Room(c.Request.Context(), access.Caller(c), c.GetHeader(idempotencyHeader))
}

// limitBody is [API.limitBody] for bodies of jobs.
func (j *jobsAPI) limitBody(c *gin.Context) {
	if c.Request.Method == http.MethodPost {
		j.limitLarge(c, j.jobs.MaxBodyBytes, "send several jobs")
		return
	}
	j.API.limitBody(c)
}

// limitLarge is [API.limitBodyTo] for bodies that may be larger, and take longer, than others.
func (a *API) limitLarge(c *gin.Context, most int64, remedy string) {
	body.Widen(c.Request, most, jobBodyTimeout)
	a.limitBodyTo(c, most, remedy)
}

// handle makes a handler that lets callers in, and answers errors.
func (j *jobsAPI) handle(serve func(c *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := j.cfg.Gate.Enter(c, "")
		if err == nil {
			err = j.jobs.Available()
		}
		if err == nil {
			err = serve(c)
		}
		if err != nil {
			j.server.Fail(c, err)
		}
	}
}

// jobBody is the body of POST /jobs.
type jobBody struct {
	translationBody
	Webhook optional[string] `json:"webhook"`
}

// submit serves POST /jobs.
func (j *jobsAPI) submit(c *gin.Context) error {
	key, err := idempotencyKey(c.Request.Header)
	if err != nil {
		return err
	}
	var parsed jobBody
	raw, err := decodeBody(c, j.jobs.MaxRecords, &parsed)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	sub := jobs.Submission{Owner: access.Caller(c), Key: key, Fingerprint: hex.EncodeToString(sum[:])}
	if key != "" {
		known, err := j.jobs.Find(c.Request.Context(), sub.Owner, key, sub.Fingerprint)
		if !errors.Is(err, jobs.ErrUnknown) {
			return j.submitted(c, known, http.StatusOK, err)
		}
	}
	// What the parts of it take that are stored.
	if err := admission.Take(c.Request.Context(), cost.JobByte*int64(len(raw))); err != nil {
		return err
	}
	req, err := parsed.Payload.request()
	if err != nil {
		return err
	}
	if !parsed.Payload.Priority.set {
		req.Priority = engine.Low
	}
	sub.Records = req.Records
	sub.Request = jobs.Request{Request: req.Request, Detail: req.detail, Languages: req.languages, Webhook: parsed.Webhook.value}
	if parsed.Webhook.set && parsed.Webhook.value == "" {
		return failure.New(failure.InvalidValue, "webhook", "webhook is empty: leave it out for none")
	}
	if sub.Terms, err = j.terms(c, req); err != nil {
		return err
	}
	if sub.Terms != nil {
		sub.Request.Terms = nil // which are among them
	}
	if err := j.jobs.Check(c.Request.Context(), sub); err != nil {
		return err
	}
	if sub.Characters, err = j.server.ChargeJob(c, &req.Request); err != nil {
		return err
	}
	sub.Request.Caller, sub.Request.Records = req.Caller, nil
	job, created, err := j.jobs.Submit(c.Request.Context(), sub)
	status := http.StatusOK
	if created {
		status = http.StatusAccepted
	}
	return j.submitted(c, job, status, err)
}

// terms are those of each target language where a request names a stored glossary: what becomes of
// it later is nothing to the job.
func (j *jobsAPI) terms(c *gin.Context, req translationRequest) (terms [][]translate.Term, err error) {
	if len(req.glossaries) == 0 {
		return nil, nil
	}
	parts, err := j.server.WithGlossaries(c, req.glossaries, req.Request)
	for _, part := range parts {
		terms = append(terms, part.Terms)
	}
	return terms, err
}

// submitted answers with a job that was submitted now, or before.
func (j *jobsAPI) submitted(c *gin.Context, job jobs.Job, status int, err error) error {
	if err != nil {
		return err
	}
	c.Header("Location", jobURL(job))
	c.PureJSON(status, gin.H{"job": jobOf(job)})
	return nil
}

// idempotencyKey is the key of a request; "" for none.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values(idempotencyHeader)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	valid := len(values) == 1 && len(key) >= 1 && len(key) <= longestKey
	for i := range len(key) {
		valid = valid && key[i] > ' ' && key[i] < 0x7f
	}
	if !valid {
		return "", access.InvalidHeader(idempotencyHeader, key, "1 to 200 visible characters of ASCII, once")
	}
	return key, nil
}

// list serves GET /jobs: the caller's own.
func (j *jobsAPI) list(c *gin.Context) error {
	list, err := j.jobs.List(c.Request.Context(), access.Caller(c), mostListed)
	if err != nil {
		return err
	}
	output := make([]jobOutput, len(list)) // not nil: none are [] in JSON
	for i, job := range list {
		output[i] = jobOf(job)
	}
	c.PureJSON(http.StatusOK, gin.H{"jobs": output})
	return nil
}

// own is the job of a request's path, which its sender may see: with keys, that of its own key;
// without, whoever knows its id.
func (j *jobsAPI) own(c *gin.Context) (jobs.Job, error) {
	job, err := j.jobs.Get(c.Request.Context(), c.Param("id"))
	found := err == nil || errors.Is(err, jobs.ErrVanished)
	if found && j.cfg.Gate.NeedsKeys() && job.Owner != access.Caller(c) {
		return jobs.Job{}, jobs.ErrUnknown
	}
	if found && job.Document == nil && strings.HasPrefix(c.FullPath(), documentsPath) {
		return jobs.Job{}, jobs.ErrUnknown
	}
	return job, err
}

// remove serves DELETE /jobs/ID.
func (j *jobsAPI) remove(c *gin.Context) error {
	job, err := j.own(c)
	if err != nil {
		return err
	}
	job, removed, err := j.jobs.Delete(c.Request.Context(), job.ID)
	switch {
	case err != nil:
		return err
	case removed:
		c.Status(http.StatusNoContent)
	default:
		c.PureJSON(http.StatusOK, gin.H{"job": jobOf(job)})
	}
	return nil
}
