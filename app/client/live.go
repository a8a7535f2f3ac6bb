package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
)

// End as the place of a [LiveEdit] is the end of the text.
const End = -1

// LiveEdit puts a text in the place of the characters (Unicode code points) from From to before To.
type LiveEdit struct {
	From, To int // To is not looked at where From is End
	Text     string
}

// LiveSegment is a sentence of a live text and its translation.
type LiveSegment struct {
	ID       int64 // stays while the sentence is there
	From, To int   // its characters in the text, as the service knew that when it sent the segment
	Before   string
	Text     string   // the translation
	Flags    []string // what looks wrong with it
	Stable   int      // characters of it that can be expected to stay
	Final    bool     // it is the translation of the sentence as it is

	skip, length int
}

// Live is a text that is translated while it is written. It is for one goroutine that edits and one
// that reads ([Live.Next]); whichever of them finds the connection broken makes it again, and nothing
// is lost or applied twice: the service knows the text, or is sent it where it does not any more.
type Live struct {
	client  *Client
	request Request

	turn chan struct{} // whoever has it may change what follows
	conn *websocket.Conn
	made int // connections
	id   string

	text     []rune
	complete bool
	sent     int64       // the number of the last edits
	waiting  []liveSent  // edits that the service has not taken
	resend   *time.Timer // when to send them again, where there were too many; nil: they were sent
	limited  bool        // there were too many on this connection

	seen     int64
	segments []LiveSegment
	tail     string
	problem  error // why something is not translated now
	done     bool
}

// liveSent are edits with their number.
type liveSent struct {
	S        int64      `json:"s"`
	Number   int64      `json:"n"`
	Edits    []liveEdit `json:"edits,omitempty"`
	Complete bool       `json:"complete,omitzero"`
}

type liveEdit struct {
	From *int   `json:"from,omitzero"`
	To   *int   `json:"to,omitzero"`
	Text string `json:"text,omitzero"`
}

// Live opens a session for a text that is empty at first. The request says how it is translated; it has
// one target language and no records. The caller closes the session.
func (c *Client) Live(ctx context.Context, req Request) (*Live, error) {
	l := &Live{client: c, request: req, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	if err := l.use(ctx, func() error { return l.persistConnection(ctx, nil) }); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// use calls f while nobody else uses the session.
func (l *Live) use(ctx context.Context, f func() error) error {
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
		return f()
	case <-ctx.Done():
		return contextError(ctx)
	}
}

// lock waits until nobody else uses the session, which the caller unlocks.
func (l *Live) lock() (unlock func()) {
	<-l.turn
	return func() { l.turn <- struct{}{} }
}

// Append adds a text at the end.
func (l *Live) Append(ctx context.Context, text string) error {
	return l.Edit(ctx, LiveEdit{From: End, Text: text})
}

// Edit changes the text. Each edit has the places that the text has after those before it; with one that
// is not in the text, none are applied. It returns when they are sent.
func (l *Live) Edit(ctx context.Context, edits ...LiveEdit) error {
	return l.use(ctx, func() error { return l.edit(ctx, false, edits) })
}

// Finish says that the text is as it is to be: its last sentence is translated as it stands.
func (l *Live) Finish(ctx context.Context) error {
	return l.use(ctx, func() error { return l.edit(ctx, true, nil) })
}

func (l *Live) edit(ctx context.Context, complete bool, edits []LiveEdit) error {
	if l.complete {
		return errors.New("client: the live text is complete: open another one")
	}
	text, sent := l.text, liveSent{S: 1, Number: l.sent + 1, Complete: complete}
	for i, e := range edits {
		edit := liveEdit{Text: e.Text}
		switch {
		case !utf8.ValidString(e.Text):
			return fmt.Errorf("client: the text of edit %d is not UTF-8", i)
		case e.From == End:
			e.From, e.To = len(text), len(text)
		case e.From < 0 || e.From > e.To || e.To > len(text):
			return fmt.Errorf("client: edit %d is from %d to %d of a text of %d characters", i, e.From, e.To, len(text))
		default:
			edit.From = &e.From
			if e.To > e.From {
				edit.To = &e.To
			}
		}
		text = slices.Concat(text[:e.From], []rune(e.Text), text[e.To:])
		sent.Edits = append(sent.Edits, edit)
	}
	l.text, l.sent, l.complete = text, sent.Number, complete
	l.waiting = append(l.waiting, sent)
	if l.resend != nil { // with those that wait
		return nil
	}
	if err := l.write(ctx, sent); err != nil {
		return l.persistConnection(ctx, err) // which sends what waits
	}
	return nil
}

// mostEdits is how many edits may come together.
const mostEdits = 256

// sendWaiting sends all edits that the service has not taken, in as few messages as there can be: each counts.
func (l *Live) sendWaiting(ctx context.Context) error {
	var merged []liveSent
	for _, sent := range l.waiting {
		if n := len(merged) - 1; n >= 0 && len(merged[n].Edits)+len(sent.Edits) <= mostEdits {
			merged[n].add(sent)
		} else {
			sent.Number, sent.Edits = l.waiting[0].Number+int64(len(merged)), slices.Clone(sent.Edits)
			merged = append(merged, sent)
		}
	}
	if len(merged) > 0 {
		l.sent = merged[len(merged)-1].Number
	}
	l.waiting = merged
	for _, sent := range merged {
		if err := l.write(ctx, sent); err != nil {
			return &connectionError{err}
		}
	}
	return nil
}

// add has other edits follow; those that only append become one.
func (s *liveSent) add(other liveSent) {
	s.Complete = s.Complete || other.Complete
	for _, e := range other.Edits {
		if n := len(s.Edits) - 1; n >= 0 && s.Edits[n].From == nil && e.From == nil {
			s.Edits[n].Text += e.Text
		} else {
			s.Edits = append(s.Edits, e)
		}
	}
}

func (l *Live) write(ctx context.Context, message any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return l.conn.Write(ctx, websocket.MessageText, raw)
}

// Next waits until the translation has changed, and returns nil; [Live.Segments], [Live.Text] and
// [Live.Problem] are what it is then. Once the text is complete and all of it is translated, it returns
// [io.EOF]; where a sentence cannot be translated, an [*Error] that says why.
func (l *Live) Next(ctx context.Context) error {
	for {
		var conn *websocket.Conn
		made := 0
		if err := l.use(ctx, func() error {
			conn, made = l.conn, l.made
			return l.end()
		}); err != nil {
			return err
		}
		_, raw, err := conn.Read(ctx)
		if ctx.Err() != nil {
			return contextError(ctx)
		}
		changed := false
		if over := l.use(ctx, func() (err2 error) {
			if l.made != made {
				return nil // the other goroutine has made a new one
			}
			if err != nil {
				return l.persistConnection(ctx, err)
			}
			changed, err2 = l.take(ctx, raw)
			return err2
		}); over != nil || changed {
			return over
		}
	}
}

// end is what Next returns where nothing follows; else nil.
func (l *Live) end() error {
	switch {
	case !l.done:
		return nil
	case l.problem != nil:
		return l.problem
	}
	return io.EOF
}

// Problem is why something is not translated now; nil while all is well. The service tries again by itself,
// unless the text is to blame, as an [*Error] says.
func (l *Live) Problem() error {
	defer l.lock()()
	return l.problem
}

// Segments are the sentences as they are known now, in the order of the text.
func (l *Live) Segments() []LiveSegment {
	defer l.lock()()
	list, at := slices.Clone(l.segments), 0
	for i := range list {
		list[i].From = at + list[i].skip
		list[i].To = list[i].From + list[i].length
		at = list[i].To
	}
	return list
}

// Text is the translation of the whole text as it is known now.
func (l *Live) Text() string {
	defer l.lock()()
	var out strings.Builder
	for _, s := range l.segments {
		out.WriteString(s.Before)
		out.WriteString(s.Text)
	}
	return out.String() + l.tail
}

// Close ends the session. It may be called several times.
func (l *Live) Close() error {
	defer l.lock()()
	conn := l.conn
	l.conn, l.done = nil, true
	l.stopResending()
	if conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = conn.Write(ctx, websocket.MessageText, []byte(`{"s":1,"end":true}`))
	return conn.CloseNow()
}
