package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"dragoman/app/client"
)

// liveTextChars is the number of characters for a session of the command, so that input may continue for hours: after so many
// characters, another session is opened at the next line end.
const liveTextChars = 8000

// live returns the command that translates standard input while it is written.
func (p *Program) live() *cobra.Command {
	var request client.Request
	service := remote{Program: p}
	cmd := &cobra.Command{
		Use: "live -f en -t fr", Short: "Translate standard input while it is written",
		Long: `Translates standard input, such as captions, with a running service while it is written, and
prints each sentence as soon as it is final. All printed lines together are the translation of the
input. On a terminal the translation of the unfinished sentence is shown as well.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && !slices.Equal(args, []string{"-"}):
				return usagef("live takes no arguments, got %q: it reads standard input", args)
			case request.From == "" || request.To == "":
				return usagef("live needs --from and --to, such as -f en -t fr")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return service.translateLive(cmd.Context(), request) },
	}
	defineLanguages(cmd.Flags(), &request.From, &request.To, &request.Model)
	service.define(cmd.Flags())
	return cmd
}

// translateLive translates standard input in as many sessions as needed.
func (r *remote) translateLive(ctx context.Context, request client.Request) error {
	c, err := r.client(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	buffered := bufio.NewReader(r.Stdin)
	input := readAside(ctx, func() (string, error) { return readPart(buffered) })
	out := &livePrinter{out: r.Stdout, problems: r.Stderr, terminal: IsTerminal(r.Stdout)}
	for more := true; more && err == nil; {
		more, err = liveSession(ctx, c, request, input, out)
	}
	return err
}

// readPart reads the available part of a text, at least one character.
func readPart(in *bufio.Reader) (string, error) {
	var text strings.Builder
	for {
		c, _, err := in.ReadRune()
		if err == nil {
			text.WriteRune(c)
		}
		if err != nil || in.Buffered() == 0 || text.Len() >= 4096 {
			return text.String(), err
		}
	}
}

// liveSession translates input in one session, and reports whether there is more.
func liveSession(ctx context.Context, c *client.Client, req client.Request, input inputChunks[string], out *livePrinter) (more bool, err error) {
	session, err := c.Live(ctx, req)
	if err != nil {
		return false, err
	}
	defer func() { _ = session.Close() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for chars := 0; ; {
			text, end := input.next(ctx)
			if ctx.Err() != nil {
				return
			}
			chars += utf8.RuneCountInString(text)
			err := session.Append(ctx, text)
			last := end != nil || chars > liveTextChars && strings.HasSuffix(text, "\n")
			if err == nil && last {
				err = session.Finish(ctx)
			}
			if end != nil && end != io.EOF {
				err = errors.Join(err, fmt.Errorf("read: %w", end))
			}
			if err != nil {
				cancel(err)
			}
			if err != nil || last {
				more = end == nil
				return
			}
		}
	}()
	for reported := ""; err == nil; {
		if err = session.Next(ctx); err == nil {
			err = out.print(session, false)
		}
		if problem := session.Problem(); problem != nil && err == nil && problem.Error() != reported {
			reported = problem.Error()
			fmt.Fprintln(out.problems, "not translated yet:", reported)
		}
	}
	if errors.Is(err, io.EOF) {
		<-ended
		return more, out.print(session, true)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(err)
	<-ended
	return false, err
}

// livePrinter prints final sentences, in their order, each once.
type livePrinter struct {
	out      io.Writer
	problems io.Writer
	terminal bool
	printed  int // bytes of the session's translation
	draft    bool
}

// print prints new final sentences, or, if done is set, all sentences.
func (l *livePrinter) print(session *client.Live, done bool) error {
	text, end := session.Text(), 0
	var draft string
	for _, s := range session.Segments() {
		if !s.Final {
			draft = s.Before + s.Text
			break
		}
		end += len(s.Before) + len(s.Text)
	}
	if done {
		end, draft = len(text), ""
	}
	var line strings.Builder
	if l.draft {
		line.WriteString("\r\x1b[K")
		l.draft = false
	}
	line.WriteString(text[min(l.printed, end):end])
	l.printed = max(l.printed, end)
	if l.terminal && draft != "" {
		line.WriteString(draft)
		l.draft = true
	}
	if done {
		l.printed = 0
	}
	_, err := io.WriteString(l.out, line.String())
	return err
}
