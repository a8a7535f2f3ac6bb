package documents

import (
	"crypto/rand"

	"dragoman/app/api/dialect"
	"dragoman/app/guard/access"
	"dragoman/app/guard/body"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// SubmitFile makes a job of a document that a drop-in API was sent, in languages that are codes of the models; from may
// be translate.Auto. Glossaries are ids of stored ones. The document has a secret, which the job that is returned knows.
func (s *Service) SubmitFile(call *dialect.Call, file body.File, from, to string, glossaries ...string) (jobs.Job, error) {
	if err := call.Err(); err != nil {
		return jobs.Job{}, err
	}
	if err := s.Available(); err != nil {
		return jobs.Job{}, err
	}
	order := Order{Name: file.Name, MediaType: file.MediaType, File: file.Content, Glossaries: glossaries, Secret: rand.Text()}
	order.Owner = access.Caller(call.Context)
	order.Request.Request = translate.Request{Model: call.Model, From: from, To: []string{to}}
	job, _, err := s.Submit(call.Context, order)
	return job, err
}
