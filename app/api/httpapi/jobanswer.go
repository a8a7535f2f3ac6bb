package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/documents"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// jobOutput is a job in answers, events and webhooks.
type jobOutput struct {
	ID       string          `json:"id"`
	State    jobs.State      `json:"state"`
	Created  time.Time       `json:"created"`
	Started  *time.Time      `json:"started,omitempty"`
	Finished *time.Time      `json:"finished,omitempty"`
	Expires  *time.Time      `json:"expires,omitempty"`
	Progress progressOutput  `json:"progress"`
	URL      string          `json:"url"`
	Error    *errorDetail    `json:"error,omitempty"`
	Document *documentOutput `json:"document,omitempty"`
}

type progressOutput struct {
	Records    int `json:"records"`
	Done       int `json:"done"`
	Flagged    int `json:"flagged,omitzero"` // of the completed translations
	Characters int `json:"characters"`
}

func jobURL(job jobs.Job) string { return jobsPath + "/" + job.ID }

func jobOf(job jobs.Job) jobOutput {
	out := jobOutput{
		ID: job.ID, State: job.State, Created: job.Created, Started: timeOf(job.Started), Finished: timeOf(job.Finished), Expires: timeOf(job.Expires),
		Progress: progressOutput(job.Progress), URL: jobURL(job),
	}
	if p := job.Problem; p != nil {
		out.Error = &errorDetail{p.Code, p.Field, p.Message}
	}
	if job.Document != nil {
		out.Document = documentOf(job)
		if out.Error != nil {
			out.Error.Field = documents.Field(out.Error.Field)
		}
	}
	return out
}

// timeOf returns nil for a zero time.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// JobRenderer implements [jobs.Renderer].
type JobRenderer struct{}

// Results implements [jobs.Renderer]: in the format of POST /translation.
func (JobRenderer) Results(r jobs.Request, results []translate.Result) ([]byte, error) {
	req := translationRequest{detail: r.Detail, languages: r.Languages}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, result := range results {
		if err := encoder.Encode(req.output(result)); err != nil {
			return nil, err
		}
		out.Bytes()[out.Len()-1] = ',' // replaces the encoder's line feed
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{','}), nil
}

// Job implements [jobs.Renderer].
func (JobRenderer) Job(job jobs.Job) ([]byte, error) { return json.Marshal(jobOf(job)) }

// get serves GET /jobs/ID. The results are sent as they were stored, chunk by chunk: there may be far more than the body of a
// request could hold.
func (j *jobsAPI) get(c *gin.Context) (any, error) {
	job, err := j.ownJob(c)
	if err != nil || job.State != jobs.Done || job.Document != nil {
		return gin.H{"job": jobOf(job)}, err
	}
	encoded, err := json.Marshal(jobOf(job))
	if err != nil {
		return nil, err
	}
	c.Header("Content-Type", "application/json; charset=utf-8")
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return nil, nil
	}
	if err := j.sendResults(c, job, encoded); err != nil {
		dialect.CutOff(c, err)
	}
	return nil, nil
}

// sendResults writes the answer of a completed job.
func (j *jobsAPI) sendResults(c *gin.Context, job jobs.Job, encoded []byte) error {
	if err := dialect.Write(c, slices.Concat([]byte(`{"job":`), encoded, []byte(`,"result":[`))); err != nil {
		return err
	}
	between := []byte(nil)
	for n := range job.ResultChunks() {
		chunk, err := j.jobs.Results(c.Request.Context(), job.ID, n)
		if err != nil {
			return fmt.Errorf("chunk %d of %d: %w", n, job.ResultChunks(), err)
		}
		if len(chunk) == 0 {
			continue
		}
		if err := dialect.Write(c, slices.Concat(between, chunk)); err != nil {
			return err
		}
		between = []byte{','}
	}
	return dialect.Write(c, []byte("]}\n"))
}
