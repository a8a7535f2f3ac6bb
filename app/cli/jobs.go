package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dragoman/app/client"
)

func (p *Program) jobs() *cobra.Command {
	cmd := &cobra.Command{
		Use: "jobs", Short: "List, await or end jobs of a running service",
		Long: "Jobs of a running service. Without a command, lists the jobs that the caller may see, the newest first.",
	}
	service := serviceCommands(p, cmd, (*client.Client).Jobs, "ID\tSTATE\tDONE\tCREATED\tKEPT UNTIL", func(w io.Writer, j client.JobStatus) {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%s\n", j.ID, j.State, j.Progress.Done, j.Progress.Records, moment(j.Created), moment(j.Expires))
	})
	var o output
	wait := &cobra.Command{
		Use: "wait ID", Short: "Wait for a job and print its translations",
		Long: `Waits for a job of ` + "`dragoman translate --job`" + ` or of another client, and prints its
translations, a line each. A translated document is written to the file that -o names; - is
standard output.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.path == "" && o.force {
				return usagef("jobs wait takes --force only with -o")
			}
			return oneArgument("the id of a job")(cmd, args)
		},
		RunE: p.withClient(service, func(ctx context.Context, c *client.Client, args []string) error {
			one := documentTask{to: o.path}
			switch {
			case o.path == "":
				return p.await(ctx, *service, c.Job(args[0]), printer{out: p.Stdout})
			case o.path != stdio:
				if err := o.mayWrite(one); err != nil {
					return err
				}
			}
			return p.awaitDocument(ctx, *service, c.Job(args[0]), o, one)
		}),
	}
	o.define(wait.Flags(), "file for the translated document; - is standard output")
	cmd.AddCommand(wait, &cobra.Command{
		Use: "cancel ID", Short: "End a job, or remove an ended one", Args: oneArgument("the id of a job"),
		RunE: p.withClient(service, func(ctx context.Context, c *client.Client, args []string) error {
			return c.Job(args[0]).Cancel(ctx)
		}),
	})
	return cmd
}

// remote is a running service, from flags.
type remote struct{ url, key string }

func (r *remote) define(flags *pflag.FlagSet) {
	flags.StringVar(&r.url, "url", "", "address of the service (this machine, at APP_HOST and APP_PORT)")
	flags.StringVar(&r.key, "key", "", "API key, if the service needs one")
}

// serviceCommands adds the flags that name a service, and makes the command and its subcommand list print a list of a running
// service: as a table, whose rows row writes, or as JSON. It returns the service of the flags.
func serviceCommands[T any](p *Program, cmd *cobra.Command, get func(*client.Client, context.Context) ([]T, error), header string, row func(io.Writer, T)) *remote {
	var service remote
	var asJSON bool
	service.define(cmd.PersistentFlags())
	listing := &cobra.Command{Use: "list", Short: "List them"}
	for _, c := range []*cobra.Command{cmd, listing} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
		c.Args = noArguments
		c.RunE = p.withClient(&service, func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := get(c, ctx)
			switch {
			case err != nil:
				return err
			case asJSON:
				return p.printJSON(list)
			}
			w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, header)
			for _, one := range list {
				row(w, one)
			}
			return w.Flush()
		})
	}
	cmd.AddCommand(listing)
	return &service
}

// withClient returns a command's function that calls do with a client of the service, as named by its flags by then.
func (p *Program) withClient(service *remote, do func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := p.client(*service)
		if err != nil {
			return err
		}
		defer c.Close()
		return userError(do(cmd.Context(), c, args))
	}
}

func (p *Program) client(service remote) (*client.Client, error) {
	_, log, err := Configure(warningsOnly(p.Environ), p.Stderr)
	if err != nil {
		return nil, err
	}
	target, err := p.serviceURL(service.url)
	if err != nil {
		return nil, &UsageError{err}
	}
	c, err := client.New(client.Config{
		URL: target.String(), Key: service.key, UserAgent: "dragoman/" + p.Version, Log: log,
		MaxResponseBytes: math.MaxInt64, // the client requests only answers to its own input
	})
	if err != nil {
		return nil, &UsageError{err}
	}
	return c, nil
}

// translateAsJob submits all lines as one job, and prints the translations when it is done.
func (p *Program) translateAsJob(ctx context.Context, service remote, request client.Request, source lineSource, out printer) error {
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
		return userError(err)
	}
	// Printed at once: however this command ends, the job can be found again.
	fmt.Fprintf(p.Stderr, "job %s: `%s` picks it up again\n", job.ID(), service.command("wait", job))
	return p.await(ctx, service, job, out)
}

// command returns a command line for a job.
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

// await prints the translations of a job when it is done. Until then a terminal shows its progress.
func (p *Program) await(ctx context.Context, service remote, job *client.Job, out printer) error {
	status, err := follow(ctx, job, p.Stderr, IsTerminal(p.Stderr))
	if err == nil && status.Document.Name != "" {
		return usagef("job %s is a document: name a file for it, such as -o %s", job.ID(), status.Document.Name)
	}
	var results []client.Result
	if err == nil {
		results, err = job.Wait(ctx)
	}
	if err != nil {
		return explainJob(ctx, service, job, err)
	}
	return out.print(results)
}

// explainJob returns the error of waiting for a job, with advice.
func explainJob(ctx context.Context, service remote, job *client.Job, err error) error {
	_, refused := errors.AsType[*client.Error](err)
	switch {
	case ctx.Err() != nil:
		return interrupted(fmt.Sprintf("interrupted: job %s goes on; `%s` picks it up again, `%s` ends it",
			job.ID(), service.command("wait", job), service.command("cancel", job)))
	case errors.Is(err, client.ErrCancelled):
		return fmt.Errorf("job %s was cancelled", job.ID())
	case refused:
		return userError(err)
	}
	return fmt.Errorf("job %s: %w; `%s` picks it up again", job.ID(), err, service.command("wait", job))
}

// follow waits for the end of a job, and draws its progress if it is visible.
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

// newBar returns a bar for some number of texts; -1: unknown.
func newBar(out io.Writer, visible bool, texts int) *progressbar.ProgressBar {
	if texts == 0 {
		texts = 1
	}
	return progressbar.NewOptions(texts,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetVisibility(visible),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond), // otherwise each text draws it
		progressbar.OptionSetSpinnerChangeInterval(0),    // otherwise it starts a goroutine
	)
}

// moment returns a time in the format of tables; "" if it is not known.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// userError returns the message of a service's error, without the parts for programs.
func userError(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == client.CodeUnknownLanguage:
		return usagef("%s", e.Message)
	}
	return errors.New(e.Message)
}
