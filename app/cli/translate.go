package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"dragoman/app/client"
	"dragoman/app/config"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

const translateHelp = `Translates each argument or, without arguments, each line of the files or of
standard input, and prints a line for each. With --alternatives, it prints a line for each of the best
translations: the number of the text, the score and the translation, separated by tabs. With -o the
arguments are documents or folders of documents, and each translated document is written to the file
or folder that -o names. The model is the first one for the languages, or the one that --model names.
Warnings and errors go to standard error, with LOG_LEVEL=info also the progress.
A line or document that cannot be translated is reported there, with its number
or name, the others are translated, and the exit code is 3; for the line there
is an empty one. With --strict it ends the command.

With --job a running service translates, and no model is loaded here. The job goes on when this
command ends; dragoman jobs wait ID then prints the translations.`

const translateExamples = `  dragoman translate -f en -t fr "Where is the station?"
  dragoman translate -f en -t fr <lines.txt
  dragoman translate -f en -t fr report.docx -o rapport.docx
  dragoman translate -f en -t fr --format html -o - <page.html`

// chunkLines is the maximum number of lines that are translated together.
const chunkLines = 256

// translate returns the command that translates its arguments and exits.
func (p *Program) translate() *cobra.Command {
	f := translateFlags{Program: p, service: remote{Program: p}}
	cmd := &cobra.Command{
		Use: "translate -f en -t fr [TEXT]...", Short: "Translate arguments, files, standard input or documents",
		Long: translateHelp, Example: translateExamples,
		RunE: func(cmd *cobra.Command, texts []string) error { return f.run(cmd.Context(), texts) },
	}
	f.define(cmd.Flags())
	return cmd
}

func (f *translateFlags) run(ctx context.Context, texts []string) error {
	if err := f.check(texts); err != nil {
		return err
	}
	if f.documents() {
		return f.translateDocuments(ctx, texts)
	}
	if slices.Equal(texts, []string{stdio}) {
		texts = nil
	}
	source, out := lineSource{texts: texts, files: f.lines, stdin: f.Stdin}, printer{out: f.Stdout, json: f.json}
	if f.asJob {
		request := client.Request{From: f.from, To: f.to, Model: f.model, Format: f.format, Alternatives: f.alternatives, Glossary: f.glossary, Memory: f.memory, Options: f.options()}
		for _, term := range f.terms {
			request.Terms = append(request.Terms, client.Term(term))
		}
		return f.service.translateLines(ctx, request, source, out)
	}
	return f.withModel(ctx, len(texts), func(j *local) error {
		j.bar = newBar(f.Stderr, IsTerminal(f.Stderr) && (len(texts) > 0 || !IsTerminal(f.Stdout)), -1)
		defer func() { _ = j.bar.Clear() }() // a display that fails must not fail the job
		if err := source.each(ctx, j.translateLines); err != nil {
			return err
		}
		return j.partly.err()
	})
}

// translateDocuments translates the documents named by the arguments.
func (f *translateFlags) translateDocuments(ctx context.Context, names []string) error {
	if len(names) == 0 {
		names = []string{stdio}
	}
	if cfg, err := config.Parse(f.Environ); err == nil { // otherwise withModel reports it
		f.output.old = !f.asJob && cfg.DocumentOld != ""
	}
	list, err := f.output.tasks(names)
	if err != nil {
		return err
	}
	if f.asJob {
		request := client.Document{From: f.from, To: f.to, Model: f.model, Glossary: f.glossary, Memory: f.memory, Columns: f.columns, Header: f.header, Also: f.also, Wrapped: f.wrapped, As: f.output.as, Options: f.options()}
		return f.service.translateDocuments(ctx, *f, request, list)
	}
	return f.withModel(ctx, 0, func(j *local) error {
		j.partly.what = "documents"
		for _, d := range list {
			j.partly.all++
			err := j.translateDocument(ctx, d)
			if err == nil {
				continue
			}
			err = fmt.Errorf("%s: %w", d.from, err)
			if j.strict || len(list) == 1 || ctx.Err() != nil {
				return err
			}
			j.partly.report(j.Stderr, err)
		}
		return j.partly.err()
	})
}

// withModel calls do with a local translation service.
func (f *translateFlags) withModel(ctx context.Context, texts int, do func(*local) error) (err error) {
	cfg, log, err := Configure(warningsOnly(f.Environ), f.Stderr)
	if err != nil {
		return err
	}
	if err := f.bound(cfg); err != nil {
		return err
	}
	cfg.Beams, cfg.AutoPull = cmp.Or(f.beams, cfg.Beams), nil // a service fetches models
	// The limits protect a service from strangers' requests; a command line needs none.
	cfg.MaxRecords, cfg.MaxChars = max(cfg.MaxRecords, chunkLines, chunkCharacters, texts), math.MaxInt
	cfg.MaxSentences, cfg.MaxTokens = math.MaxInt, math.MaxInt
	service, closeAll, err := f.LoadModels(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if _, err := service.Select(f.model); err != nil { // before input is read
		if refused, ok := errors.AsType[*translate.Error](err); ok {
			err = &UsageError{errors.New(refused.Message)}
		}
		return err
	}
	return do(&local{translateFlags: *f, translator: service, out: printer{out: f.Stdout, json: f.json}, libreOffice: cfg.DocumentOld})
}

// local translates lines and documents by local models, with the options of the flags.
type local struct {
	translateFlags
	translator *translate.Service
	out        printer
	bar        *progressbar.ProgressBar // of sentences; nil: none
	sentences  int                      // of the lines so far
	partly     partlyError

	libreOffice string // converts documents of old programs; "": they are refused
}

// partlyError is the error of input that was translated only in part.
type partlyError struct {
	what        string // lines or documents
	failed, all int
}

func (e *partlyError) Error() string {
	return fmt.Sprintf("%d of %d %s were not translated: see above", e.failed, e.all, e.what)
}

// report prints why a part of the input is not translated.
func (e *partlyError) report(to io.Writer, err error) {
	e.failed++
	fmt.Fprintf(to, "dragoman: %s\n", OneLine(err))
}

// err returns e if a part of the input was not translated.
func (e *partlyError) err() error {
	if e.failed == 0 {
		return nil
	}
	return e
}

// request returns a request with the options of the flags, without records.
func (j *local) request() translate.Request {
	return translate.Request{Model: j.model, From: j.from, To: []string{j.to}, Format: translate.Format(j.format), Terms: j.terms}
}

// explain converts an error of the service to the words of the command line.
func (j *local) explain(err error) error {
	refused, ok := errors.AsType[*translate.Error](err)
	switch {
	case !ok:
		return err
	case refused.Code == translate.CodeUnknownLanguage:
		var languages []string
		if models, err := j.translator.Select(j.model); err == nil {
			languages = models.Languages()
		}
		return usagef("%s: use one of %s", refused.Message, strings.Join(languages, " "))
	}
	return errors.New(refused.Message)
}

// lineSource is the source of lines: texts, or else files, or else standard input.
type lineSource struct {
	texts, files []string
	stdin        io.Reader
}

// takeLines processes successive lines; first is the number of the first line, and name is the word for a line in messages.
type takeLines func(ctx context.Context, name string, first int, lines []string) error

func (s lineSource) each(ctx context.Context, take takeLines) error {
	switch {
	case len(s.texts) > 0:
		return take(ctx, "argument", 1, s.texts)
	case len(s.files) == 0:
		return take.readAll(ctx, "line", s.stdin)
	}
	for _, name := range s.files {
		if name == stdio {
			if err := take.readAll(ctx, "line", s.stdin); err != nil {
				return err
			}
			continue
		}
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

// readAll processes the lines of in. Available lines are processed together; a terminal's line is processed as soon as it is
// entered.
func (take takeLines) readAll(ctx context.Context, name string, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	buffered := bufio.NewReaderSize(in, 1<<16)
	input := readAside(ctx, func() ([]string, error) { return readLines(buffered) })
	for first := 1; ; {
		lines, end := input.next(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := take(ctx, name, first, lines); err != nil {
			return err
		}
		first += len(lines)
		if end == io.EOF {
			return nil
		}
		if end != nil {
			return fmt.Errorf("read %s %d: %w", name, first, end)
		}
	}
}

// readLines reads a line, and all further lines that are available. The error is the end of the input after these lines.
func readLines(in *bufio.Reader) (lines []string, err error) {
	for err == nil {
		var line string
		if line, err = in.ReadString('\n'); err == nil || line != "" {
			lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
		if in.Buffered() == 0 || len(lines) >= chunkLines {
			break
		}
	}
	return lines, err
}

// translateLines translates and prints lines. It is of type takeLines. A line that cannot be translated is reported, and an empty
// line is printed for it.
func (j *local) translateLines(ctx context.Context, name string, first int, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	j.partly.what = "lines"
	j.partly.all += len(lines)
	request := j.request()
	request.Alternatives, request.Unfinished = j.alternatives, !j.strict
	var at []int // the lines of the records
	for i, line := range lines {
		request.Records = append(request.Records, translate.Record{ID: fmt.Sprintf("%s %d", name, first+i), Text: line})
		at = append(at, i)
	}
	before := j.sentences
	request.Progress = func(done, all int) {
		j.sentences = before + all
		if j.bar != nil {
			j.bar.ChangeMax(before + all)
			_ = j.bar.Set(before + done) // a display that fails must not fail the job
		}
	}
	results := make([]client.Result, len(lines))
	for len(at) > 0 {
		translated, err := j.translator.Translate(ctx, request)
		if err == nil {
			for i, r := range translated {
				results[at[i]] = j.line(r)
			}
			break
		}
		from, to := faultyRecords(err, len(at))
		if from == to || j.strict {
			return j.explain(err)
		}
		for _, bad := range request.Records[from:to] {
			j.partly.report(j.Stderr, lineError(bad.ID, err))
		}
		request.Records, at = slices.Delete(request.Records, from, to), slices.Delete(at, from, to)
	}
	if j.bar != nil {
		_ = j.bar.Clear()
	}
	return j.out.print(results)
}

// line returns the result of a line; it reports a translation without an end, and returns an empty result instead.
func (j *local) line(r translate.Result) (out client.Result) {
	if r.Flags.Has(translate.Truncated) {
		j.partly.report(j.Stderr, fmt.Errorf("%s: the translation reached the limit of tokens before its end: send shorter sentences", r.ID))
		return out
	}
	out.Text = r.Text
	for _, a := range r.Alternatives {
		out.Alternatives = append(out.Alternatives, client.Alternative{Text: a.Text, Score: a.Score})
	}
	return out
}

// faultyRecords returns the range of the records, of so many, that an error is about; an empty range for other errors.
func faultyRecords(err error, records int) (from, to int) {
	refused, ok := errors.AsType[*translate.Error](err)
	if !ok {
		return 0, 0
	}
	if refused.Code == translate.CodeUnsupportedSource { // of all of them
		return 0, records
	}
	if n, _ := fmt.Sscanf(refused.Field, "records[%d]", &from); n == 1 && from < records {
		return from, from + 1
	}
	return 0, 0
}

// lineError returns an error that begins with the name of a line instead of the record's.
func lineError(line string, err error) error {
	refused, _ := errors.AsType[*translate.Error](err)
	message, _ := strings.CutPrefix(refused.Message, "record "+excerpt.Quote(line)+": ")
	return fmt.Errorf("%s: %s", line, message)
}
