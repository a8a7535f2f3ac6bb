package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"
)

// Live shows rounds in a terminal, in place, until its user has seen enough. It is a
// [Sink] for a [Monitor.Run] that goes on beside [Live.Run].
type Live struct {
	screen screen
	styles [accent + 1]tcell.Style
	view   *view
	rounds chan Round
	ended  chan struct{}
}

// screen is what a Live needs of a terminal; a [tcell.Screen] has it.
type screen interface {
	Init() error
	Fini()
	Size() (width, height int)
	Colors() int
	Clear()
	PutStrStyled(x, y int, text string, style tcell.Style)
	RegisterRuneFallback(r rune, substitute string)
	Show()
	Sync()
	EventQ() chan tcell.Event
}

// NewLive takes over the terminal of this process; [Live.Run] gives it back. It fails
// where there is none, or none that can be drawn on. The terminal has no colors where
// the environment has NO_COLOR. interval is shown as the time between rounds.
func NewLive(interval time.Duration) (*Live, error) {
	s, err := tcell.NewScreen()
	if err != nil {
		return nil, fmt.Errorf("no terminal to draw on: %w", err)
	}
	return newLive(s, interval)
}

func newLive(s screen, interval time.Duration) (*Live, error) {
	// Where the locale has no blocks, heights are told by characters that it has.
	for i, r := range blocks {
		s.RegisterRuneFallback(r, string("_.-:=+*#"[i]))
	}
	s.RegisterRuneFallback('…', ".")
	s.RegisterRuneFallback('µ', "u")
	if err := s.Init(); err != nil {
		return nil, fmt.Errorf("no terminal to draw on: %w", err)
	}
	return &Live{
		screen: s, styles: styles(s.Colors()), view: newView(interval),
		rounds: make(chan Round), ended: make(chan struct{}),
	}, nil
}

// styles are those of the tones. A terminal without colors tells them apart by weight;
// colors would come out as black on white there.
func styles(colors int) [accent + 1]tcell.Style {
	base := tcell.StyleDefault
	if colors == 0 {
		return [...]tcell.Style{plain: base, dim: base, strong: base.Bold(true), good: base, bad: base.Bold(true), accent: base}
	}
	return [...]tcell.Style{
		plain: base, dim: base.Dim(true), strong: base.Bold(true),
		good: base.Foreground(color.Green), bad: base.Foreground(color.Red), accent: base.Foreground(color.Teal),
	}
}

// Put shows a round. After the end of [Live.Run] it does nothing.
func (l *Live) Put(round Round) error {
	select {
	case l.rounds <- round:
	case <-l.ended:
	}
	return nil
}

// Run shows rounds until ctx is done or the user quits, which both are no error, and
// gives the terminal back. It is called once.
func (l *Live) Run(ctx context.Context) error {
	defer l.screen.Fini()
	defer close(l.ended)
	for {
		l.draw()
		select {
		case <-ctx.Done():
			return nil
		case round := <-l.rounds:
			l.view.put(round)
		case event, open := <-l.screen.EventQ():
			if !open {
				return errors.New("the terminal was closed")
			}
			if quit, err := l.handle(event); quit || err != nil {
				return err
			}
		}
	}
}

// handle does what an event asks for.
func (l *Live) handle(event tcell.Event) (quit bool, err error) {
	switch e := event.(type) {
	case *tcell.EventError:
		return false, fmt.Errorf("read the terminal: %w", e)
	case *tcell.EventResize:
		l.screen.Sync() // what others left there goes too
	case *tcell.EventKey:
		return l.key(e), nil
	}
	return false, nil
}

// key says whether a key means to quit.
func (l *Live) key(e *tcell.EventKey) (quit bool) {
	switch e.Key() {
	case tcell.KeyCtrlC, tcell.KeyEscape:
		return true
	case tcell.KeyCtrlL:
		l.screen.Sync()
	case tcell.KeyUp:
		l.view.move(-1)
	case tcell.KeyDown:
		l.view.move(1)
	case tcell.KeyRune:
		switch e.Str() {
		case "q", "Q":
			return true
		case "k":
			l.view.move(-1)
		case "j":
			l.view.move(1)
		}
	}
	return false
}

// draw shows the view. Only what has changed goes to the terminal.
func (l *Live) draw() {
	l.screen.Clear()
	for y, pieces := range l.view.lines(l.screen.Size()) {
		x := 0
		for _, p := range pieces {
			l.screen.PutStrStyled(x, y, p.text, l.styles[p.tone])
			x += len([]rune(p.text))
		}
	}
	l.screen.Show()
}
