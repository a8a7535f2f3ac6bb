package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/api/upload"
	"dragoman/app/budget"
	"dragoman/app/document/libreoffice"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/guard/bound"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

const (
	jobsPath = "/jobs"

	// largeBodyTimeout is the maximum time for the body of a job to arrive.
	largeBodyTimeout = 5 * time.Minute
	// mostListed is the maximum number of jobs listed by GET /jobs.
	mostListed = 100
	// mostJobStreams is the maximum number of clients watching jobs.
	mostJobStreams = 1024

	idempotencyHeader = "Idempotency-Key"
)

// JobsConfig is the configuration of jobs in an API.
type JobsConfig struct {
	*jobs.Service
	MaxBodyBytes int64
	MaxRecords   int // of a job, as records × languages
	// MaxDocumentBytes is the maximum size of a document, 0: documents are disabled; MaxChars is the maximum length of one of its
	// texts, in characters.
	MaxDocumentBytes int64
	MaxTexts         int // of a document, including repeated ones; 0: no limit here
	MaxChars         int
	Old              *libreoffice.Converter // see [documents.Config]
}

// jobsAPI serves the routes of jobs and documents.
type jobsAPI struct {
	server    *dialect.Server
	gate      *access.Gate
	jobs      *JobsConfig
	documents *upload.Service // nil: disabled
	ending    context.Context // when ending is done, streams end
	streams   atomic.Int64    // open streams
}

func (j *jobsAPI) routes() []dialect.Route {
	const one = jobsPath + "/:id"
	return []dialect.Route{
		{Methods: "POST", Path: jobsPath, Handler: j.keyed(j.submit), Room: j.room},
		{Methods: "GET", Path: jobsPath, Handler: j.keyed(j.list)},
		{Methods: "GET", Path: one, Handler: j.keyed(j.get)},
		{Methods: "GET", Path: one + "/events", Handler: j.keyed(j.events)},
		{Methods: "DELETE", Path: one, Handler: j.keyed(j.remove)},
	}
}

// room fails if there is no room for another job of the sender, unless the job exists already.
func (j *jobsAPI) room(c *gin.Context) error {
	return j.jobs.Room(c.Request.Context(), access.Caller(c.Request), c.GetHeader(idempotencyHeader))
}

// limitJob returns the limit of bodies of jobs.
func (a *API) limitJob() gin.HandlerFunc {
	if a.cfg.Jobs == nil {
		return a.limits.small
	}
	return a.limits.large(a.cfg.Jobs.MaxBodyBytes, "send several jobs")
}

// keyed returns the handler of a route that requires a key and available jobs.
func (j *jobsAPI) keyed(h dialect.Handler) dialect.Handler {
	return j.server.Keyed(func(c *gin.Context) (any, error) {
		if err := j.jobs.Available(); err != nil {
			return nil, err
		}
		return h(c)
	})
}

// jobBody is the body of POST /jobs.
type jobBody struct {
	translationBody
	Webhook optional[string] `json:"webhook"`
}

// submit serves POST /jobs.
func (j *jobsAPI) submit(c *gin.Context) (any, error) {
	key, err := idempotencyKey(c.Request.Header)
	if err != nil {
		return nil, err
	}
	var parsed jobBody
	raw, err := decodeBody(c, j.jobs.MaxRecords, &parsed)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	sub := jobs.Submission{Owner: access.Caller(c.Request), Key: key, Fingerprint: hex.EncodeToString(sum[:])}
	return j.submitOnce(c, sub, func() (jobs.Job, bool, error) {
		// Memory for the stored parts of the body.
		if err := budget.Take(c.Request.Context(), cost.JobByte*int64(len(raw))); err != nil {
			return jobs.Job{}, false, err
		}
		if err := j.checkAndCharge(c, parsed, &sub); err != nil {
			return jobs.Job{}, false, err
		}
		return j.jobs.Submit(c.Request.Context(), sub)
	})
}

// checkAndCharge checks a request, charges it and adds it to its submission.
func (j *jobsAPI) checkAndCharge(c *gin.Context, parsed jobBody, sub *jobs.Submission) error {
	req, err := parsed.Payload.request()
	if err != nil {
		return err
	}
	if !parsed.Payload.Priority.set {
		req.Priority = translate.Low
	}
	if err := j.server.OwnMemory(c, &req.Request); err != nil {
		return err
	}
	sub.Records = req.Records
	sub.Request = jobs.Request{Request: req.Request, Detail: req.detail, Languages: req.languages, Webhook: parsed.Webhook.value}
	if parsed.Webhook.set && parsed.Webhook.value == "" {
		return fault.New(fault.InvalidValue, "webhook", "webhook is empty: leave it out for none")
	}
	if sub.Terms, err = j.terms(c, req); err != nil {
		return err
	}
	if sub.Terms != nil {
		sub.Request.Terms = nil // included in sub.Terms
	}
	if err := j.jobs.Check(c.Request.Context(), *sub); err != nil {
		return err
	}
	if sub.Characters, err = j.server.ChargeJob(c, &req.Request); err != nil {
		return err
	}
	sub.Request.Caller, sub.Request.Records = req.Caller, nil
	return nil
}

// submitOnce answers with the job that has the submission's key, or else with the job that submit makes.
func (j *jobsAPI) submitOnce(c *gin.Context, sub jobs.Submission, submit func() (job jobs.Job, created bool, err error)) (any, error) {
	var created bool
	job, err := jobs.Job{}, jobs.ErrUnknown
	if sub.Key != "" {
		job, err = j.jobs.Find(c.Request.Context(), sub.Owner, sub.Key, sub.Fingerprint)
	}
	if errors.Is(err, jobs.ErrUnknown) {
		job, created, err = submit()
	}
	if err != nil {
		return nil, err
	}
	c.Header("Location", jobURL(job))
	reply := dialect.Reply{Body: gin.H{"job": jobOf(job)}}
	if created {
		reply.Status = http.StatusAccepted
	}
	return reply, nil
}

// terms returns the terms of each target language if a request names a stored glossary. The job keeps them, so that later changes
// of the glossary do not affect it.
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

// idempotencyKey returns the key of a request, or "".
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values(idempotencyHeader)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	valid := len(values) == 1 && len(key) >= 1 && len(key) <= bound.IdempotencyKey
	for i := range len(key) {
		valid = valid && key[i] > ' ' && key[i] < 0x7f
	}
	if !valid {
		return "", access.InvalidHeader(idempotencyHeader, key, fmt.Sprintf("1 to %d visible characters of ASCII, once", bound.IdempotencyKey))
	}
	return key, nil
}

// list serves GET /jobs: the caller's own jobs.
func (j *jobsAPI) list(c *gin.Context) (any, error) {
	list, err := j.jobs.List(c.Request.Context(), access.Caller(c.Request), mostListed)
	return gin.H{"jobs": dialect.Each(list, jobOf)}, err
}

// ownJob returns the job of a request's path if its sender may see it: with keys, only jobs of the sender's own key; without
// keys, any job whose id the sender knows.
func (j *jobsAPI) ownJob(c *gin.Context) (jobs.Job, error) {
	job, err := j.jobs.Get(c.Request.Context(), c.Param("id"))
	found := err == nil || errors.Is(err, jobs.ErrVanished)
	if found && j.gate.NeedsKeys() && job.Owner != access.Caller(c.Request) {
		return jobs.Job{}, jobs.ErrUnknown
	}
	if found && job.Document == nil && strings.HasPrefix(c.FullPath(), documentsPath) {
		return jobs.Job{}, jobs.ErrUnknown
	}
	return job, err
}

// remove serves DELETE /jobs/ID.
func (j *jobsAPI) remove(c *gin.Context) (any, error) {
	job, err := j.ownJob(c)
	if err != nil {
		return nil, err
	}
	job, removed, err := j.jobs.Delete(c.Request.Context(), job.ID)
	if err == nil && removed {
		return dialect.Reply{Status: http.StatusNoContent}, nil
	}
	return gin.H{"job": jobOf(job)}, err
}
