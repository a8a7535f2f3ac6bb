package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"dragoman/app/client"
	"dragoman/app/translate"
)

const translateUsage = `dragoman translate --from en --to fr [text]...

Translates each argument or, without arguments, each line of the files or of
standard input, and prints a line for each. With --alternatives, it prints a line for each of the best
translations: the number of the text, the score, and the translation, with tabs between. The first model that translates between
the languages is used, or the one that --model names. Warnings and errors go to standard
error; LOG_LEVEL=info shows there what happens.

With --job no model is loaded: a running service translates, as a job that it finishes also
when this command ends. ` + "`dragoman jobs wait ID`" + ` then prints the translations.`

// chunkLines are translated together at most.
const chunkLines = 256

// translate translates what the command line names and exits.
func (p *program) translate(ctx context.Context, args []string) (err error) {
	flags := pflag.NewFlagSet("translate", pflag.ContinueOnError)
	from := flags.String("from", "", "language of the texts")
	to := flags.String("to", "", "language to translate into")
	model := flags.String("model", "", "model of MODEL_REPOSITORY to translate with, NAME or NAME:VERSION (any that can)")
	beams := flags.Int("beams", 0, "beams of the search (NUM_BEAMS)")
	alternatives := flags.Int("alternatives", 0, "translations of each text to print, the best one included (the best alone)")
	termFile := flags.String("terms", "", "file of terms: on each line a term, a tab, and what it becomes; a term alone stays as it is")
	files := flags.StringArray("file", nil, "file of lines to translate; can be repeated")
	glossaryID := flags.String("glossary", "", "with --job: id of a glossary of the service whose terms are used")
	asJob := flags.Bool("job", false, "let a running service translate, as a job")
	var service remote
	service.define(flags)
	texts, err := p.parse(flags, args, translateUsage)
	switch {
	case err != nil:
		return err
	case *from == "" || *to == "":
		return &usageError{errors.New("translate needs --from and --to, such as --from en --to fr")}
	case len(texts) > 0 && len(*files) > 0:
		return &usageError{errors.New("translate takes texts or files, not both")}
	case !*asJob && *glossaryID != "":
		return &usageError{errors.New("translate takes --glossary only with --job: a service has the glossaries; --terms reads a file")}
	case !*asJob && service != remote{}:
		return &usageError{errors.New("translate takes --url and --key only with --job: without it, a model translates here")}
	}
	terms, err := readTerms(*termFile)
	if err != nil {
		return &usageError{fmt.Errorf("--terms: %w", err)}
	}
	source := lineSource{texts: texts, files: *files, stdin: p.stdin}
	if *asJob {
		request := client.Request{From: *from, To: *to, Model: *model, Alternatives: *alternatives, Glossary: *glossaryID}
		for _, term := range terms {
			request.Terms = append(request.Terms, client.Term(term))
		}
		if *beams != 0 {
			request.Options = &client.Options{Beams: *beams}
		}
		return p.translateAsJob(ctx, service, request, source)
	}
	environ := quiet(p.environ)
	if flags.Changed("beams") {
		environ = override(environ, map[string]string{"NUM_BEAMS": strconv.Itoa(*beams)})
	}
	cfg, log, err := configure(environ, p.stderr)
	if err != nil {
		return err
	}
	// The limits are for strangers' requests, not for a command line.
	cfg.MaxRecords, cfg.MaxChars = max(cfg.MaxRecords, chunkLines, len(texts)), math.MaxInt
	cfg.MaxSentences, cfg.MaxTokens = math.MaxInt, math.MaxInt
	t, err := p.loader(cfg, log).load(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()

	job := &lineJob{service: t.service, model: *model, from: *from, to: *to, alternatives: *alternatives, terms: terms, out: printer{out: p.stdout}}
	if err := job.check(); err != nil {
		return err
	}
	return source.each(ctx, job.translate)
}

// lineJob translates lines and prints the translations.
type lineJob struct {
	service  *translate.Service
	model    string // "": any
	from, to string
	// alternatives is how many translations of each line are printed; 0: the best alone.
	alternatives int
	terms        []translate.Term
	out          printer
}

// check fails where there is no such model, before any line is read.
func (j *lineJob) check() error {
	_, err := j.service.Select(j.model)
	if refused, ok := errors.AsType[*translate.Error](err); ok {
		return &usageError{errors.New(refused.Message)}
	}
	return err
}

// languages are those that texts can be in, and translated into.
func (j *lineJob) languages() []string {
	models, err := j.service.Select(j.model)
	if err != nil {
		return nil
	}
	return models.Languages()
}

// lineSource is where lines come from: texts, or else files, or else standard input.
type lineSource struct {
	texts, files []string
	stdin        io.Reader
}

// takeLines takes some lines that follow each other; their numbers begin at first, and name says
// what of.
type takeLines func(ctx context.Context, name string, first int, lines []string) error

// each reads all lines.
func (s lineSource) each(ctx context.Context, take takeLines) error {
	switch {
	case len(s.texts) > 0:
		return take(ctx, "argument", 1, s.texts)
	case len(s.files) == 0:
		return take.readAll(ctx, "line", s.stdin)
	}
	for _, name := range s.files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = take.readAll(ctx, name+" line", f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// chunk is some lines that follow each other.
type chunk struct {
	first int // number of the first, from 1
	lines []string
	err   error // what ended the reading, io.EOF at the end
}

// readAll takes the lines of in. Lines that are there already are taken together; a terminal's
// line is taken as soon as it is entered.
func (take takeLines) readAll(ctx context.Context, name string, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks := make(chan chunk)
	// A read of a terminal or pipe cannot be interrupted, so the reader may
	// outlive this function; it ends with the read.
	go readChunks(ctx, bufio.NewReaderSize(in, 1<<16), chunks)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c := <-chunks:
			if err := take(ctx, name, c.first, c.lines); err != nil {
				return err
			}
			if c.err == io.EOF {
				return nil
			}
			if c.err != nil {
				return fmt.Errorf("read %s %d: %w", name, c.first+len(c.lines), c.err)
			}
		}
	}
}

// readChunks sends the lines of in until its end or until ctx is done.
func readChunks(ctx context.Context, in *bufio.Reader, chunks chan<- chunk) {
	c := chunk{first: 1}
	for c.err == nil {
		var line string
		if line, c.err = in.ReadString('\n'); c.err == nil || line != "" {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			c.lines = append(c.lines, line)
		}
		if c.err == nil && in.Buffered() > 0 && len(c.lines) < chunkLines {
			continue
		}
		select {
		case chunks <- c:
		case <-ctx.Done():
			return
		}
		c.first, c.lines = c.first+len(c.lines), nil
	}
}

// translate translates and prints lines. It is a takeLines.
func (j *lineJob) translate(ctx context.Context, name string, first int, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	records := make([]translate.Record, len(lines))
	for i, line := range lines {
		records[i] = translate.Record{ID: fmt.Sprintf("%s %d", name, first+i), Text: line}
	}
	translated, err := j.service.Translate(ctx, translate.Request{Model: j.model, From: j.from, To: []string{j.to}, Records: records, Alternatives: j.alternatives, Terms: j.terms})
	var refused *translate.Error
	switch {
	case errors.As(err, &refused) && refused.Code == translate.CodeUnknownLanguage:
		return &usageError{fmt.Errorf("%s: use one of %s", refused.Message, strings.Join(j.languages(), " "))}
	case errors.As(err, &refused):
		return errors.New(refused.Message)
	case err != nil:
		return err
	}
	results := make([]client.Result, len(translated))
	for i, r := range translated {
		results[i].Text = r.Text
		for _, a := range r.Alternatives {
			results[i].Alternatives = append(results[i].Alternatives, client.Alternative(a))
		}
	}
	return j.out.print(results)
}
