package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"dragoman/app/client"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/documents"
	"dragoman/app/translate"
)

// fileJob translates documents.
type fileJob struct {
	*lineJob
	output
	columns []string
	stderr  io.Writer
}

// translateAll translates documents, one after the other, and tells of the texts that look wrong.
func (j *fileJob) translateAll(ctx context.Context, list []paper) error {
	for _, p := range list {
		if err := j.translatePaper(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.from, err)
		}
	}
	return nil
}

// translatePaper translates a document.
func (j *fileJob) translatePaper(ctx context.Context, p paper) error {
	in, kind, size, err := openDocument(p.from)
	if err != nil {
		return err
	}
	defer in.Close()
	options := document.Options{From: j.from, To: j.to, Columns: j.columns}
	if j.from == translate.Auto {
		options.From = ""
	}
	var texts []string
	err = document.Texts(ctx, kind, in, size, options, func(text string, isNew bool) error {
		if isNew {
			texts = append(texts, text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	bar := j.bar(p.from, len(texts))
	defer func() { _ = bar.Clear() }() // a display that fails must not fail the job
	translated, flagged, err := j.translateTexts(ctx, texts, kind.Form(), bar)
	if err != nil {
		return err
	}
	err = j.save(p, func(out io.Writer) error {
		n := 0
		kept, err := document.Put(ctx, out, kind, in, size, options, func(string) (string, error) {
			if n++; n > len(translated) {
				return "", errors.New("the file has changed since it was read")
			}
			return translated[n-1], nil
		})
		flagged = max(flagged, kept) // those that are kept are flagged for most reasons
		return err
	})
	if err == nil && flagged > 0 {
		_ = bar.Clear()
		warnFlagged(j.stderr, p.from, flagged, len(texts))
	}
	return err
}

// warnFlagged tells of texts of a document that look wrong.
func warnFlagged(out io.Writer, name string, flagged, texts int) {
	fmt.Fprintf(out, "%s: %d of %d texts look wrong after all retries: check the translation\n", name, flagged, texts)
}

// openDocument opens a document. The caller closes it.
func openDocument(path string) (in *os.File, kind document.Kind, size int64, err error) {
	info, err := os.Stat(path) // before it is opened: a pipe would wait for somebody to write
	switch {
	case err != nil:
		return nil, nil, 0, err
	case !info.Mode().IsRegular():
		return nil, nil, 0, errors.New("it is no file")
	case info.Size() == 0:
		return nil, nil, 0, errors.New("the document is empty")
	}
	if in, err = os.Open(path); err != nil {
		return nil, nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	head := make([]byte, min(info.Size(), kinds.Head))
	if _, err := in.ReadAt(head, 0); err != nil {
		return nil, nil, 0, err
	}
	kind, err = kinds.Find(path, "", head)
	return in, kind, info.Size(), err
}

// Texts are translated together up to so many characters, which keeps a batch full for a long time.
const chunkCharacters = 200_000

// translateTexts translates the texts of a document, and says how many look wrong.
func (j *fileJob) translateTexts(ctx context.Context, texts []string, form translate.Format, bar *progressbar.ProgressBar) (translated []string, flagged int, err error) {
	request := translate.Request{Model: j.model, From: j.source(texts, form), To: []string{j.to}, Format: form, Flagged: true, Terms: j.terms}
	for len(texts) > 0 {
		n, characters := 0, 0
		for n < len(texts) && (n == 0 || characters < chunkCharacters) {
			characters += utf8.RuneCountInString(texts[n])
			n++
		}
		request.Records = make([]translate.Record, n)
		for i, text := range texts[:n] {
			request.Records[i].Text = text
		}
		first := len(translated)
		translated = slices.Grow(translated, n)[:first+n]
		err := j.service.Stream(ctx, request, func(i int, r translate.Result) error {
			translated[first+i] = r.Text
			if r.Flags != 0 {
				flagged++
			}
			_ = bar.Add(1)
			return nil
		})
		if err != nil {
			return nil, 0, j.explain(err)
		}
		texts = texts[n:]
	}
	return translated, flagged, nil
}

// source is the language of a document.
func (j *fileJob) source(texts []string, form translate.Format) string {
	if j.from != translate.Auto {
		return j.from
	}
	models, err := j.service.Select(j.model)
	if err != nil || models.Detector() == nil {
		return j.from // which the request explains
	}
	if code, ok := documents.Detect(models.Detector(), slices.Values(texts), form); ok {
		return code
	}
	return j.from
}

// bar shows how much of a document is translated.
func (j *fileJob) bar(name string, texts int) *progressbar.ProgressBar {
	bar := newBar(j.stderr, isTerminal(j.stderr), texts)
	bar.Describe(name)
	return bar
}

// translateFilesAsJobs has a running service translate documents, one after the other.
func (p *program) translateFilesAsJobs(ctx context.Context, service remote, request client.Document, o output, list []paper) error {
	c, err := p.client(service)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, one := range list {
		request.Name = one.from[strings.LastIndexByte(one.from, os.PathSeparator)+1:]
		if request.Content, err = os.ReadFile(one.from); err != nil {
			return err
		}
		job, err := c.SubmitDocument(ctx, request, client.SubmitOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", one.from, said(err))
		}
		fmt.Fprintf(p.stderr, "%s is job %s: `%s -o FILE` picks it up again\n", one.from, job.ID(), service.command("wait", job))
		if err := p.awaitDocument(ctx, service, job, o, one); err != nil {
			return err
		}
	}
	return nil
}

// awaitDocument saves the document of a job when it is done. Until then a terminal shows how far it is.
func (p *program) awaitDocument(ctx context.Context, service remote, job *client.Job, o output, one paper) error {
	status, err := follow(ctx, job, p.stderr, isTerminal(p.stderr))
	var content []byte
	if err == nil {
		content, err = job.Document(ctx)
	}
	if err != nil {
		return explainJob(ctx, service, job, err)
	}
	err = o.save(one, func(out io.Writer) error {
		_, err := out.Write(content)
		return err
	})
	if err == nil && status.Progress.Flagged > 0 {
		warnFlagged(p.stderr, status.Document.Name, status.Progress.Flagged, status.Progress.Records)
	}
	return err
}
