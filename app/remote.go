package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"

	"dragoman/app/client"
)

const jobsUsage = `dragoman jobs [wait ID | cancel ID]

Without arguments, lists the jobs of a running service that its client may see, the newest first.
wait prints the translations of a job as soon as it has ended, a line each: those of
` + "`dragoman translate --job`" + `, or of any other client. A translated document is written to the file
that -o names. cancel ends a job; one that has ended is removed.`

// jobs lists jobs of a running service, or does what the arguments say with one.
func (p *program) jobs(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("jobs", pflag.ContinueOnError)
	var service remote
	service.define(flags)
	var o output
	flags.StringVarP(&o.path, "output", "o", "", "file for the translated document that wait waits for")
	flags.BoolVar(&o.force, "force", false, "replace the file if it is there")
	rest, err := p.parse(flags, args, jobsUsage)
	if err != nil {
		return err
	}
	var do func(*client.Client) error
	switch {
	case len(rest) == 0 && o == output{}:
		do = func(c *client.Client) error { return p.listJobs(ctx, c) }
	case o.path == "" && o.force:
		return &usageError{errors.New("jobs takes --force only with -o")}
	case o.path != "" && len(rest) == 2 && rest[0] == "wait":
		one := paper{to: o.path}
		if err := o.free(one); err != nil {
			return err
		}
		do = func(c *client.Client) error { return p.awaitDocument(ctx, service, c.Job(rest[1]), o, one) }
	case o.path != "":
		return &usageError{errors.New("jobs takes -o only with wait ID")}
	case len(rest) == 2 && rest[0] == "wait":
		do = func(c *client.Client) error { return p.await(ctx, service, c.Job(rest[1])) }
	case len(rest) == 2 && rest[0] == "cancel":
		do = func(c *client.Client) error { return said(c.Job(rest[1]).Cancel(ctx)) }
	default:
		return &usageError{fmt.Errorf("jobs takes nothing, or wait ID, or cancel ID, got %q", rest)}
	}
	c, err := p.client(service)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// remote is a running service, as flags name it.
type remote struct{ url, key string }

func (r *remote) define(flags *pflag.FlagSet) {
	flags.StringVar(&r.url, "url", "", "address of the service; empty: this machine, at APP_HOST and APP_PORT")
	flags.StringVar(&r.key, "key", "", "API key of the service, where it needs one")
}

// client makes a client of a running service.
func (p *program) client(service remote) (*client.Client, error) {
	_, log, err := configure(quiet(p.environ), p.stderr)
	if err != nil {
		return nil, err
	}
	target, err := p.serviceURL(service.url)
	if err != nil {
		return nil, &usageError{err}
	}
	c, err := client.New(client.Config{
		URL: target.String(), Key: service.key, UserAgent: "dragoman/" + version, Log: log,
		MaxResponseBytes: math.MaxInt64, // what is asked for is what was sent
	})
	if err != nil {
		return nil, &usageError{err}
	}
	return c, nil
}

// translateAsJob submits all lines as one job, and prints the translations when it is done.
func (p *program) translateAsJob(ctx context.Context, service remote, request client.Request, source lineSource) error {
	c, err := p.client(service)
	if err != nil {
		return err
	}
	defer c.Close()
	err = source.each(ctx, func(_ context.Context, name string, first int, lines []string) error {
		for i, line := range lines {
			request.Records = append(request.Records, client.Record{ID: fmt.Sprintf("%s %d", name, first+i), Text: line})
		}
		return nil
	})
	if err != nil || len(request.Records) == 0 {
		return err
	}
	job, err := c.Submit(ctx, request, client.SubmitOptions{})
	if err != nil {
		return said(err)
	}
	// Told at once: whatever ends this command, the job can be found again.
	fmt.Fprintf(p.stderr, "job %s: `%s` picks it up again\n", job.ID(), service.command("wait", job))
	return p.await(ctx, service, job)
}

// command is the command line that does something with a job.
func (r remote) command(verb string, job *client.Job) string {
	line := "dragoman jobs " + verb + " " + job.ID()
	if r.url != "" {
		line += " --url " + r.url
	}
	if r.key != "" {
		line += " --key KEY"
	}
	return line
}

// await prints the translations of a job when it is done. Until then a terminal shows how far it is.
func (p *program) await(ctx context.Context, service remote, job *client.Job) error {
	status, err := follow(ctx, job, p.stderr, isTerminal(p.stderr))
	if err == nil && status.Document.Name != "" {
		return &usageError{fmt.Errorf("job %s is a document: name a file for it, such as -o %s", job.ID(), status.Document.Name)}
	}
	var results []client.Result
	if err == nil {
		results, err = job.Wait(ctx)
	}
	if err != nil {
		return explainJob(ctx, service, job, err)
	}
	out := printer{out: p.stdout}
	return out.print(results)
}

// explainJob is the error of waiting for a job, with what can be done about it.
func explainJob(ctx context.Context, service remote, job *client.Job, err error) error {
	_, refused := errors.AsType[*client.Error](err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted: job %s goes on; `%s` picks it up again, `%s` ends it",
			job.ID(), service.command("wait", job), service.command("cancel", job))
	case errors.Is(err, client.ErrCancelled):
		return fmt.Errorf("job %s was cancelled", job.ID())
	case refused:
		return said(err)
	}
	return fmt.Errorf("job %s: %w; `%s` picks it up again", job.ID(), err, service.command("wait", job))
}

// follow waits for the end of a job, and draws its progress where it is visible.
func follow(ctx context.Context, job *client.Job, out io.Writer, visible bool) (last client.JobStatus, err error) {
	var bar *progressbar.ProgressBar
	for status, err := range job.Events(ctx) {
		if err != nil {
			return last, err
		}
		last = status
		if bar == nil {
			bar = newBar(out, visible, status.Progress.Records)
			defer func() { _ = bar.Clear() }() // a display that fails must not fail the job
		}
		bar.Describe(string(status.State))
		_ = bar.Set(status.Progress.Done)
	}
	return last, nil
}

// newBar makes a bar of so many texts.
func newBar(out io.Writer, visible bool, texts int) *progressbar.ProgressBar {
	return progressbar.NewOptions(max(1, texts),
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetVisibility(visible),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetSpinnerChangeInterval(0), // or it starts a goroutine
	)
}

// listJobs prints a table of jobs.
func (p *program) listJobs(ctx context.Context, c *client.Client) error {
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return said(err)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tDONE\tCREATED\tKEPT UNTIL")
	for _, j := range jobs {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%s\n", j.ID, j.State, j.Progress.Done, j.Progress.Records, moment(j.Created), moment(j.Expires))
	}
	return w.Flush()
}

// moment is a time as tables have it; "" where it is not known.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// said is what the service says of an error, without what is for programs.
func said(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == client.CodeUnknownLanguage:
		return &usageError{errors.New(e.Message)}
	}
	return errors.New(e.Message)
}
