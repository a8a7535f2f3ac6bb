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

// LiveEdit replaces the characters (Unicode code points) from From to before To by a text.
type LiveEdit struct {
	From, To int // To is ignored if From is End
	Text     string
}

// LiveSegment is a sentence of a live text and its translation.
type LiveSegment struct {
	ID       int64 // stays as long as the sentence
	From, To int   // the sentence's characters in the text, as known to the service when it sent the segment
	Before   string
	Text     string   // translation
	Flags    []string // flags of the translation
	Stable   int      // number of characters of Text that can be expected to stay
	Final    bool     // whether Text is the translation of the current sentence

	skip, length int
}

// Live is a text that is translated while it is written. One goroutine may edit the text while another one reads ([Live.Next]).
// The goroutine that finds the connection broken reconnects. No edit is lost or applied twice, because the service knows the
// text, or receives it again.
type Live struct {
	client  *Client
	request Request

	turn chan struct{} // its holder may change the fields below
	conn *websocket.Conn
	made int // number of connections so far
	id   string

	text     []rune
	complete bool
	sent     int64       // number of the last edits
	waiting  []liveSent  // edits that the service has not applied
	resend   *time.Timer // fires when edits that wait because of the limit may be sent; nil: none wait
	limited  bool        // edits on this connection were over the limit

	seen     int64
	segments []LiveSegment
	tail     string
	problem  error // why a sentence is not translated at present
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

// Live opens a session for an initially empty text. req has the options of the translation; it has one target language and no
// records. The caller must close the session.
func (c *Client) Live(ctx context.Context, req Request) (*Live, error) {
	l := &Live{client: c, request: req, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	if err := l.use(ctx, func() error { return l.persistConnection(ctx, nil) }); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// use calls f with exclusive use of the session.
func (l *Live) use(ctx context.Context, f func() error) error {
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
		return f()
	case <-ctx.Done():
		return contextError(ctx)
	}
}

// lock waits for exclusive use of the session. The caller must unlock it.
func (l *Live) lock() (unlock func()) {
	<-l.turn
	return func() { l.turn <- struct{}{} }
}

// Append adds a text at the end.
func (l *Live) Append(ctx context.Context, text string) error {
	return l.Edit(ctx, LiveEdit{From: End, Text: text})
}

// Edit changes the text. The places of each edit refer to the text after the edits before it; if one place is not in the text, no
// edit is applied. Edit returns when the edits are sent.
func (l *Live) Edit(ctx context.Context, edits ...LiveEdit) error {
	return l.use(ctx, func() error { return l.edit(ctx, false, edits) })
}

// Finish completes the text: its last sentence is translated as it stands.
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
	if l.resend != nil { // together with waiting edits
		return nil
	}
	if err := l.write(ctx, sent); err != nil {
		return l.persistConnection(ctx, err) // persistConnection sends the waiting edits
	}
	return nil
}

// mostEdits is the maximum number of edits in a message.
const mostEdits = 256

// sendWaiting sends all edits that the service has not applied, in as few messages as possible, because the number of messages is
// limited.
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

// add appends other edits; successive edits at the end of the text become one.
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

// Next waits until the translation has changed, and returns nil; [Live.Segments], [Live.Text] and [Live.Problem] return the new
// state. Once the text is complete and translated, Next returns [io.EOF], or an [*Error] if a sentence cannot be translated.
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
				return nil // the other goroutine has reconnected
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

// end returns the result of Next at the end of the session; nil before.
func (l *Live) end() error {
	switch {
	case !l.done:
		return nil
	case l.problem != nil:
		return l.problem
	}
	return io.EOF
}

// Problem returns the reason why a sentence is not translated at present; nil if there is no problem. The service tries again by
// itself, unless the text is the cause, which an [*Error] tells.
func (l *Live) Problem() error {
	defer l.lock()()
	return l.problem
}

// Segments returns the current sentences, in the order of the text.
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

// Text returns the current translation of the whole text.
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
