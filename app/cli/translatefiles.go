package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"dragoman/app/client"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/document/libreoffice"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/wrap"
	"dragoman/app/translate"
)

func (f *translateFlags) documentOptions() document.Options {
	o := document.Options{From: f.from, To: f.to, Columns: f.columns, Header: document.Header(f.header), Also: f.also, Wrapped: wrap.Mode(f.wrapped)}
	if f.from == translate.Auto {
		o.From = ""
	}
	return o
}

func (j *local) translateDocument(ctx context.Context, p documentTask) error {
	d, err := openDocument(p.from, j.format, j.Stdin, j.modern(ctx))
	if err != nil {
		return err
	}
	defer d.close()
	kind, err := kinds.As(d.kind, j.output.as)
	if err != nil {
		return err
	}
	in, size, options := d.file, d.size, j.documentOptions()
	about := client.JobDocument{Name: p.from}
	options.HeaderKept, options.Kept = func() { about.HeaderKept = true }, func() { about.Kept++ }
	options.Left = func(page, texts int, reason string) { about.Left = document.AddLeft(about.Left, page, texts, reason) }
	page := 0
	options.Page = func(n int) { page = n }
	var texts []string
	wrong := wrongTexts{pages: map[string]int{}, found: map[string]bool{}}
	err = document.Texts(ctx, kind, in, size, options, func(text string, isNew bool) error {
		if isNew {
			texts = append(texts, text)
			wrong.pages[text] = page
		}
		return nil
	})
	if err != nil {
		return err
	}
	options.Kept, options.Left, options.Flawed = nil, nil, wrong.add
	bar := newBar(j.Stderr, IsTerminal(j.Stderr), len(texts))
	bar.Describe(p.from)
	defer func() { _ = bar.Clear() }() // a display that fails must not fail the job
	translated, err := j.translateTexts(ctx, texts, translate.FormatOf(kind.Form), bar, wrong.add)
	if err != nil {
		return err
	}
	err = j.output.save(p, j.Stdout, func(out io.Writer) error {
		n := 0
		_, err := document.Put(ctx, out, kind, in, size, options, func(string) (string, error) {
			if n++; n > len(translated) {
				return "", errors.New("the file has changed since it was read")
			}
			return translated[n-1], nil
		})
		return err
	})
	if err == nil {
		_ = bar.Clear()
		tell(j.Stderr, about, len(wrong.found), len(texts))
		wrong.tell(j.Stderr, about.Name, texts)
	}
	return err
}

// wrongTexts are the texts of a document whose translations look wrong.
type wrongTexts struct {
	pages map[string]int // where each text is first; 0 for kinds without pages
	found map[string]bool
}

func (w wrongTexts) add(text string) { w.found[text] = true }

// maxWrong is the maximum number of texts that tell names.
const maxWrong = 10

// tell names the first texts, in their order.
func (w wrongTexts) tell(out io.Writer, name string, texts []string) {
	told := 0
	for _, text := range texts {
		if !w.found[text] {
			continue
		}
		if told++; told > maxWrong {
			fmt.Fprintf(out, "%s: and others\n", name)
			return
		}
		where := name
		if page := w.pages[text]; page > 0 {
			where = fmt.Sprintf("%s, page %d", name, page)
		}
		fmt.Fprintf(out, "%s: %s\n", where, excerpt.Quote(text))
	}
}

// tell reports texts of a document with flags, and what stays: a first row without a flag for it, texts of formulas, or all.
func tell(out io.Writer, d client.JobDocument, flagged, texts int) {
	if texts == 0 {
		fmt.Fprintf(out, "%s: there is no text to translate\n", d.Name)
	}
	if flagged > 0 {
		fmt.Fprintf(out, "%s: %d of %d texts look wrong after all retries: check the translation\n", d.Name, flagged, texts)
	}
	for _, left := range d.Left {
		fmt.Fprintf(out, "%s: not translated: %s\n", d.Name, left)
	}
	if d.HeaderKept {
		fmt.Fprintf(out, "%s: the first row stays, for it looks like names: --header translate translates it\n", d.Name)
	}
	if d.Kept > 0 {
		fmt.Fprintf(out, "%s: texts of %d cells and labels stay, for formulas, tables or lists refer to them\n", d.Name, d.Kept)
	}
}

// documentFile is an open document.
type documentFile struct {
	name  string // without folders, with an extension of its kind
	file  *os.File
	size  int64
	kind  *document.Kind
	close func()
}

// openDocument opens a document, which the caller must close; stdio is the content of stdin. extension determines the kind; if
// extension is "", the name does. A document of an old program is passed to old, unless that is nil.
func openDocument(path, extension string, stdin io.Reader, old func(d *documentFile) error) (d documentFile, err error) {
	d.name = filepath.Base(path)
	if path == stdio && extension != "" {
		d.name = "document." + extension
	} else if extension != "" {
		d.name = strings.TrimSuffix(d.name, filepath.Ext(d.name)) + "." + extension
	}
	d.close = func() { _ = d.file.Close() }
	if path == stdio && stdin != nil {
		if extension == "" {
			return d, usagef("say by --format what the document of standard input is, such as --format html")
		}
		if d.file, err = os.CreateTemp("", "dragoman-*."+extension); err != nil {
			return d, err
		}
		d.close = func() { _ = d.file.Close(); _ = os.Remove(d.file.Name()) }
		_, err = io.Copy(d.file, stdin)
	} else {
		var info fs.FileInfo
		if info, err = os.Stat(path); err == nil && !info.Mode().IsRegular() { // before opening: a pipe would wait for a writer
			err = errors.New("it is no file")
		}
		if err != nil {
			return d, err
		}
		if d.file, err = os.Open(path); err != nil {
			return d, err
		}
	}
	if err == nil {
		err = d.find(old)
	}
	if err != nil {
		d.close()
	}
	return d, err
}

// find reads the size and the kind of a document.
func (d *documentFile) find(old func(d *documentFile) error) error {
	info, err := d.file.Stat()
	if err == nil && info.Size() == 0 {
		err = errors.New("the document is empty")
	}
	if err != nil {
		return err
	}
	d.size = info.Size()
	head := make([]byte, min(d.size, kinds.Head))
	if _, err := d.file.ReadAt(head, 0); err != nil {
		return err
	}
	if old != nil && libreoffice.Becomes(d.name, "", head) != "" {
		return old(d)
	}
	d.kind, err = kinds.Find(d.name, "", head)
	return err
}

// modern returns the function that converts a document of an old program by LibreOffice, or nil if that is not configured.
func (j *local) modern(ctx context.Context) func(d *documentFile) error {
	if j.libreOffice == "" {
		return nil
	}
	return func(d *documentFile) error {
		converter, err := libreoffice.New(j.libreOffice)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(io.NewSectionReader(d.file, 0, d.size))
		if err != nil {
			return err
		}
		if d.name, content, err = converter.Convert(ctx, d.name, "", content, math.MaxInt64); err != nil {
			return err
		}
		d.close()
		if d.file, err = os.CreateTemp("", "dragoman-*"); err != nil {
			return err
		}
		d.close = func() { _ = d.file.Close(); _ = os.Remove(d.file.Name()) }
		if _, err := d.file.Write(content); err != nil {
			return err
		}
		return d.find(nil)
	}
}

// chunkCharacters is the maximum number of characters of texts that are translated together, enough to keep a batch full for a
// long time.
const chunkCharacters = 200_000

// translateTexts translates the texts of a document, and calls flag for those that look wrong.
func (j *local) translateTexts(ctx context.Context, texts []string, form translate.Format, bar *progressbar.ProgressBar, flag func(text string)) (translated []string, err error) {
	request := j.request()
	request.From, request.Format, request.Flagged, request.Connected = j.source(ctx, texts, form), form, true, true
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
		err := j.translator.Stream(ctx, request, func(i int, r translate.Result) error {
			translated[first+i] = r.Text
			if r.Flags != 0 {
				flag(request.Records[i].Text)
			}
			_ = bar.Add(1)
			return nil
		})
		if err != nil {
			return nil, j.explain(err)
		}
		texts = texts[n:]
	}
	return translated, nil
}

// source returns the language of a document.
func (j *local) source(ctx context.Context, texts []string, form translate.Format) string {
	if j.from != translate.Auto {
		return j.from
	}
	models, err := j.translator.Select(j.model)
	if err != nil || models.Detector() == nil {
		return j.from // the request that follows reports the error
	}
	if code, ok, err := translate.Detect(ctx, models.Detector(), slices.Values(texts), form); ok && err == nil {
		return code
	}
	return j.from // also if ctx has ended, which the request that follows reports
}

// translateDocuments translates documents by the service, one after the other.
func (r *remote) translateDocuments(ctx context.Context, f translateFlags, request client.Document, list []documentTask) error {
	c, err := r.client(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, one := range list {
		d, err := openDocument(one.from, f.format, r.Stdin, func(*documentFile) error { return nil }) // the service may convert it
		if err != nil {
			return fmt.Errorf("%s: %w", one.from, err)
		}
		request.Name = d.name
		request.Content, err = io.ReadAll(io.NewSectionReader(d.file, 0, d.size))
		d.close()
		if err != nil {
			return err
		}
		job, err := c.SubmitDocument(ctx, request, client.SubmitOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", one.from, userError(err))
		}
		fmt.Fprintf(r.Stderr, "%s is job %s: `%s -o FILE` picks it up again\n", one.from, job.ID(), r.command("wait", job))
		if err := r.awaitDocument(ctx, job, f.output, one); err != nil {
			return err
		}
	}
	return nil
}

// awaitDocument saves the document of a job when it is done. Until then a terminal shows its progress.
func (r *remote) awaitDocument(ctx context.Context, job *client.Job, o output, one documentTask) error {
	status, err := follow(ctx, job, r.Stderr, IsTerminal(r.Stderr))
	var content []byte
	if err == nil {
		content, err = job.Document(ctx)
	}
	if err != nil {
		return r.explain(ctx, job, err)
	}
	err = o.save(one, r.Stdout, func(out io.Writer) error {
		_, err := out.Write(content)
		return err
	})
	if err == nil {
		tell(r.Stderr, status.Document, status.Progress.Flagged, status.Progress.Records)
	}
	return err
}
