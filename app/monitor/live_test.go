package monitor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/vt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// paper is a screen that hands over what is drawn, a frame at a time.
type paper struct {
	width, height, colors int
	initErr               error
	cells                 [][]rune
	events                chan tcell.Event
	frames                chan string
	ended                 bool
	syncs                 int
}

func newPaper() *paper {
	return &paper{width: 100, height: 24, colors: 256, events: make(chan tcell.Event), frames: make(chan string)}
}

func (p *paper) Init() error                       { return p.initErr }
func (p *paper) Fini()                             { p.ended = true }
func (p *paper) Size() (width, height int)         { return p.width, p.height }
func (p *paper) Colors() int                       { return p.colors }
func (p *paper) Sync()                             { p.syncs++ }
func (p *paper) EventQ() chan tcell.Event          { return p.events }
func (p *paper) RegisterRuneFallback(rune, string) {}

func (p *paper) Clear() {
	p.cells = make([][]rune, p.height)
	for y := range p.cells {
		p.cells[y] = []rune(strings.Repeat(" ", p.width))
	}
}

func (p *paper) PutStrStyled(x, y int, text string, _ tcell.Style) {
	copy(p.cells[y][x:], []rune(text))
}

func (p *paper) Show() {
	var text strings.Builder
	for _, row := range p.cells {
		text.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	p.frames <- text.String()
}

// showing runs a Live on paper until the test ends it.
func showing(t *testing.T, p *paper) (l *Live, ended <-chan error) {
	l, err := newLive(p, time.Second)
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() { result <- l.Run(t.Context()) }()
	assert.Contains(t, <-p.frames, "no servers yet")
	return l, result
}

func key(k tcell.Key, text string) tcell.Event { return tcell.NewEventKey(k, text, tcell.ModNone) }

func TestLive(t *testing.T) {
	p := newPaper()
	l, ended := showing(t, p)
	for i, round := range example(t) {
		require.NoError(t, l.Put(round))
		frame := <-p.frames
		assert.Contains(t, frame, "> all")
		assert.Contains(t, frame, round.Time.Format("15:04:05"))
		assert.Equal(t, i == 2, strings.Contains(frame, "connection refused"))
	}
	for _, step := range []struct {
		event tcell.Event
		want  string
	}{
		{key(tcell.KeyDown, ""), "> 10.0.0.1"},
		{key(tcell.KeyRune, "j"), "> 10.0.0.2"},
		{key(tcell.KeyRune, "k"), "> 10.0.0.1"},
		{key(tcell.KeyUp, ""), "> all"},
		{key(tcell.KeyRune, "x"), "> all"},
		{key(tcell.KeyCtrlL, ""), "> all"},
	} {
		p.events <- step.event
		assert.Contains(t, <-p.frames, step.want)
	}
	assert.Equal(t, 1, p.syncs)
	p.width, p.height = 60, 5 // Live is waiting for an event
	p.events <- tcell.NewEventResize(60, 5)
	assert.Equal(t, 5, strings.Count(<-p.frames, "\n"))
	assert.Equal(t, 2, p.syncs)

	p.events <- key(tcell.KeyRune, "q")
	assert.NoError(t, <-ended)
	assert.True(t, p.ended, "the terminal is given back")
	assert.NoError(t, l.Put(Round{}), "a round that comes late waits for nobody")
}

func TestKeysThatQuit(t *testing.T) {
	for name, event := range map[string]tcell.Event{
		"q": key(tcell.KeyRune, "q"), "Q": key(tcell.KeyRune, "Q"), "Esc": key(tcell.KeyEscape, ""),
		"Ctrl-C": tcell.NewEventKey(tcell.KeyRune, "c", tcell.ModCtrl), "Ctrl-C as a byte": key(tcell.KeyRune, "\x03"),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPaper()
			_, ended := showing(t, p)
			p.events <- event
			assert.NoError(t, <-ended)
		})
	}
}

func TestTerminalsThatFail(t *testing.T) {
	p := newPaper()
	p.initErr = errors.New("not a terminal")
	_, err := newLive(p, time.Second)
	assert.EqualError(t, err, "no terminal to draw on: not a terminal")

	p = newPaper()
	_, ended := showing(t, p)
	p.events <- tcell.NewEventError(errors.New("input/output error"))
	assert.EqualError(t, <-ended, "read the terminal: input/output error")
	assert.True(t, p.ended)

	p = newPaper()
	_, ended = showing(t, p)
	close(p.events)
	assert.EqualError(t, <-ended, "the terminal was closed")
}

func TestToldToEnd(t *testing.T) {
	p := newPaper()
	l, err := newLive(p, time.Second)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	<-p.frames
	cancel()
	assert.NoError(t, <-ended)
	assert.True(t, p.ended)
}

func TestStylesWithoutColors(t *testing.T) {
	for tone, style := range styles(0) {
		assert.Equal(t, tcell.ColorDefault, style.GetForeground(), "tone %d", tone)
	}
	assert.NotEqual(t, styles(0)[plain], styles(0)[bad], "weight tells them apart")
	assert.NotEqual(t, styles(8)[good], styles(8)[bad])
}

// screenText is what a terminal shows.
func screenText(term vt.MockTerm, width, height int) string {
	var text strings.Builder
	for y := range height {
		for x := range width {
			text.WriteString(string(term.GetCell(vt.Coord{X: vt.Col(x), Y: vt.Row(y)}).C))
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// The same on a terminal, as far as an emulator is one.
func TestLiveOnATerminal(t *testing.T) {
	term := vt.NewMockTerm(vt.MockOptSize{X: 100, Y: 24})
	s, err := tcell.NewTerminfoScreenFromTty(term)
	require.NoError(t, err)
	l, err := newLive(s, time.Second)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- l.Run(t.Context()) }()
	for _, round := range example(t) {
		require.NoError(t, l.Put(round))
	}
	require.Eventually(t, func() bool {
		text := screenText(term, 100, 24)
		return strings.Contains(text, "connection refused") && strings.Contains(text, "> all")
	}, 5*time.Second, 5*time.Millisecond)
	term.SendRaw([]byte("q"))
	assert.NoError(t, <-ended)
}
