package compat

import (
	"crypto/rand"

	"dragoman/app/access"
	"dragoman/app/body"
	"dragoman/app/documents"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// Submit makes a job of a document, in languages that are codes of the models; from may be
// translate.Auto. Glossaries are ids of stored ones. The document has a secret, which the job that is returned knows.
func (call Call) Submit(service *documents.Service, file body.File, from, to string, glossaries ...string) (jobs.Job, error) {
	if err := service.Available(); err != nil {
		return jobs.Job{}, err
	}
	order := documents.Order{Name: file.Name, MediaType: file.MediaType, File: file.Content, Glossaries: glossaries, Secret: rand.Text()}
	order.Owner = access.Caller(call.Context)
	order.Request.Request = translate.Request{Model: call.model, From: from, To: []string{to}}
	job, _, err := service.Submit(call.Context, order)
	return job, err
}
