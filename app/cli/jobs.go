package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

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
		Long: `Waits for a job of dragoman translate --job or of another client, and prints its
translations, a line each. A translated document is written to the file that -o names; - is
standard output.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.path == "" && o.force {
				return usagef("jobs wait takes --force only with -o")
			}
			return oneArgument("the id of a job")(cmd, args)
		},
		RunE: service.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			one := documentTask{to: o.path}
			switch {
			case o.path == "":
				return service.await(ctx, c.Job(args[0]), printer{out: p.Stdout})
			case o.path != stdio:
				if err := o.mayWrite(one); err != nil {
					return err
				}
			}
			return service.awaitDocument(ctx, c.Job(args[0]), o, one)
		}),
	}
	o.define(wait.Flags(), "file for the translated document; - is standard output")
	cmd.AddCommand(wait, &cobra.Command{
		Use: "cancel ID", Short: "End a job, or remove an ended one", Args: oneArgument("the id of a job"),
		RunE: service.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			return c.Job(args[0]).Cancel(ctx)
		}),
	})
	return cmd
}

// follow waits for the end of a job, and draws its progress if visible is set.
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
		progressbar.OptionThrottle(100*time.Millisecond), // otherwise each text draws the bar
		progressbar.OptionSetSpinnerChangeInterval(0),    // otherwise the bar starts a goroutine
	)
}

// moment returns a time in the format of tables; "" if the time is not known.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}
