package documents

import (
	"context"
	"crypto/rand"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/guard/body"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// SubmitFile makes a job of a document that a drop-in API was sent: wanted has its languages and terms. The document
// has a secret, which the job that is returned knows.
func (s *Service) SubmitFile(call *dialect.Call, file body.File, wanted dialect.Job) (jobs.Job, error) {
	if err := call.Err(); err != nil {
		return jobs.Job{}, err
	}
	if err := s.Available(); err != nil {
		return jobs.Job{}, err
	}
	order := Order{Name: file.Name, MediaType: file.MediaType, File: file.Content, Glossaries: wanted.Glossaries, Secret: rand.Text()}
	order.Owner = access.Caller(call.Context)
	order.Request.Request = translate.Request{Model: call.Model, From: wanted.From, To: []string{wanted.To}, Terms: wanted.Terms}
	job, _, err := s.Submit(call.Context, order)
	return job, err
}

// TranslateFile is SubmitFile for an API that answers when the document is translated. That of
// who does not wait so long is cancelled.
func (s *Service) TranslateFile(call *dialect.Call, file body.File, wanted dialect.Job) (jobs.Job, error) {
	ctx, cancel, err := call.Server.Bounded(call.Context)
	if err != nil {
		return jobs.Job{}, err
	}
	defer cancel()
	job, err := s.SubmitFile(call, file, wanted)
	if err != nil {
		return job, err
	}
	if job, err = s.Wait(ctx, job.ID); err != nil {
		return job, err
	}
	if p := job.Problem; p != nil {
		return job, fault.Recall(p.Code, "", p.Message)
	}
	return job, nil
}

// SendOnce is TranslateFile for an API that answers with the document. Its job is deleted: nobody asks for it again.
func (s *Service) SendOnce(call *dialect.Call, file body.File, wanted dialect.Job) error {
	job, err := s.TranslateFile(call, file, wanted)
	if job.ID != "" {
		// What cannot be deleted now expires.
		defer func() { _, _, _ = s.cfg.Jobs.Delete(context.WithoutCancel(call.Context.Request.Context()), job.ID) }()
	}
	if err != nil {
		return err
	}
	return s.Send(call.Context, job)
}
