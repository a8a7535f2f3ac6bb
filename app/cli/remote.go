package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dragoman/app/client"
	"dragoman/model/source"
)

// remote is a running service, from flags.
type remote struct {
	*Program
	url, key string
}

func (r *remote) define(flags *pflag.FlagSet) {
	flags.StringVar(&r.url, "url", "", "address of the service (this machine, at APP_HOST and APP_PORT)")
	flags.StringVar(&r.key, "key", "", "API key, if the service needs one")
}

// serviceCommands adds the flags that name a service, and makes the command and its subcommand list print a list of a running
// service: as a table, whose rows the function row writes, or as JSON. It returns the service that the flags name.
func serviceCommands[T any](p *Program, cmd *cobra.Command, get func(*client.Client, context.Context) ([]T, error), header string, row func(io.Writer, T)) *remote {
	service := remote{Program: p}
	var asJSON bool
	service.define(cmd.PersistentFlags())
	listing := &cobra.Command{Use: "list", Short: "List them"}
	for _, c := range []*cobra.Command{cmd, listing} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
		c.Args = noArguments
		c.RunE = service.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := get(c, ctx)
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(p.Stdout, list)
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

// withClient returns a command's function that calls do with a client of the service that the parsed flags name.
func (r *remote) withClient(do func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := r.client(cmd.Context())
		if err != nil {
			return err
		}
		defer c.Close()
		return userError(do(cmd.Context(), c, args))
	}
}

func (r *remote) client(ctx context.Context) (*client.Client, error) {
	_, log, err := Configure(warningsOnly(r.Environ), r.Stderr)
	if err != nil {
		return nil, err
	}
	target, err := serviceURL(r.Environ, r.url)
	if err != nil {
		return nil, &UsageError{err}
	}
	c, err := client.New(client.Config{
		URL: target.String(), Key: r.key, UserAgent: "dragoman/" + r.Version, Log: log,
		MaxResponseBytes: math.MaxInt64, // the client requests only answers to its own input
	})
	if err != nil {
		return nil, &UsageError{err}
	}
	if err := r.resolves(ctx, target); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// resolves fails if the service's name has no address, which the client would try several times. A proxy finds the address itself.
func (r *remote) resolves(ctx context.Context, target *url.URL) error {
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: target}); proxy != nil || err != nil {
		return nil
	}
	return source.Lookup(ctx, target.Hostname())
}

// translateLines submits all lines as one job, and prints the translations when it is done.
func (r *remote) translateLines(ctx context.Context, request client.Request, source lineSource, out printer) error {
	c, err := r.client(ctx)
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
	// Printed at once, so that the job can be found again, however this command ends.
	fmt.Fprintf(r.Stderr, "job %s: `%s` picks it up again\n", job.ID(), r.command("wait", job))
	return r.await(ctx, job, out)
}

// command returns a command line for a job.
func (r *remote) command(verb string, job *client.Job) string {
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
func (r *remote) await(ctx context.Context, job *client.Job, out printer) error {
	status, err := follow(ctx, job, r.Stderr, IsTerminal(r.Stderr))
	if err == nil && status.Document.Name != "" {
		return usagef("job %s is a document: name a file for it, such as -o %s", job.ID(), status.Document.Name)
	}
	var results []client.Result
	if err == nil {
		results, err = job.Wait(ctx)
	}
	if err != nil {
		return r.explain(ctx, job, err)
	}
	partly := partlyError{what: "texts", all: len(results)}
	for i, result := range results {
		if result.Err != nil {
			partly.report(r.Stderr, fmt.Errorf("text %d: %w", i+1, userError(result.Err)))
		}
	}
	return errors.Join(out.print(results), partly.err())
}

// explain returns the error of waiting for a job, with advice.
func (r *remote) explain(ctx context.Context, job *client.Job, err error) error {
	_, refused := errors.AsType[*client.Error](err)
	switch {
	case ctx.Err() != nil:
		return interrupted(fmt.Sprintf("interrupted: job %s goes on; `%s` picks it up again, `%s` ends it",
			job.ID(), r.command("wait", job), r.command("cancel", job)))
	case errors.Is(err, client.ErrCancelled):
		return fmt.Errorf("job %s was cancelled", job.ID())
	case refused:
		return userError(err)
	}
	return fmt.Errorf("job %s: %w; `%s` picks it up again", job.ID(), err, r.command("wait", job))
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
