package monitor

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// textOf is a view without tones.
func textOf(list []line) string {
	var text strings.Builder
	for _, l := range list {
		var pieces strings.Builder
		for _, p := range l {
			pieces.WriteString(p.text)
		}
		text.WriteString(strings.TrimRight(pieces.String(), " ") + "\n")
	}
	return text.String()
}

// exampleView is a view of the example.
func exampleView(t *testing.T) *view {
	v := newView(time.Second)
	for _, round := range example(t) {
		v.put(round)
	}
	return v
}

func TestView(t *testing.T) {
	v := exampleView(t)
	for _, size := range []struct{ width, height int }{{140, 30}, {80, 24}, {80, 16}, {40, 8}} {
		golden(t, fmt.Sprintf("view_%dx%d.txt", size.width, size.height), textOf(v.lines(size.width, size.height)))
	}
	v.move(1)
	golden(t, "view_selected.txt", textOf(v.lines(100, 24)))
	v.move(2)
	golden(t, "view_down.txt", textOf(v.lines(100, 24)))

	one := newView(250 * time.Millisecond)
	golden(t, "view_empty.txt", textOf(one.lines(80, 24)))
	for _, round := range example(t) {
		round.Rows, round.Notes = round.Rows[:1], nil
		one.put(round)
	}
	golden(t, "view_one.txt", textOf(one.lines(80, 24)))
}

// Whatever the size, nothing is drawn beside the terminal.
func TestViewFits(t *testing.T) {
	v := exampleView(t)
	for width := range 160 {
		for _, height := range []int{0, 1, 2, 3, 5, 8, 13, 21, 34, 55} {
			list := v.lines(width, height)
			assert.LessOrEqual(t, len(list), height)
			for _, l := range list {
				assert.LessOrEqual(t, l.width(), width)
			}
		}
	}
}

// With many servers, the selected one is always to be seen.
func TestManyServers(t *testing.T) {
	v := newView(time.Second)
	round := Round{Time: day}
	for i := range 200 {
		round.Rows = append(round.Rows, downRow(fmt.Sprintf("server-%03d", i), errors.New("connection refused")))
	}
	v.put(round)
	for range 300 {
		v.move(1)
		for _, height := range []int{4, 24, 60} {
			assert.Contains(t, textOf(v.lines(80, height)), "> "+v.shown[v.index()].Server)
		}
	}
	assert.Equal(t, "server-199", v.selected)
	v.move(-1000)
	assert.Equal(t, sumName, v.selected)
}

func TestSelectionStaysWithItsServer(t *testing.T) {
	v := newView(time.Second)
	row := func(server string) Row { return newRow(server, nil, &sample{}) }
	v.move(1)
	assert.Equal(t, 0, v.index(), "there is nothing to select")
	v.put(Round{Rows: []Row{row("a"), row("c")}})
	v.move(2)
	assert.Equal(t, "c", v.selected)
	v.put(Round{Rows: []Row{row("a"), row("b"), row("c")}})
	assert.Equal(t, "c", v.shown[v.index()].Server)
	v.put(Round{Rows: []Row{row("a"), row("b")}})
	assert.Equal(t, sumName, v.shown[v.index()].Server, "it is gone")
}

func TestPastIsBounded(t *testing.T) {
	v := newView(time.Second)
	for range maxPast + 100 {
		v.put(Round{Rows: []Row{newRow("a", nil, &sample{})}})
	}
	for _, values := range v.past["a"].values {
		assert.Len(t, values, maxPast)
	}
	v.put(Round{})
	assert.Empty(t, v.past, "servers that are gone are forgotten")
}

func TestTones(t *testing.T) {
	v := exampleView(t)
	tones := map[string]tone{}
	for _, l := range v.lines(140, 30) {
		for _, p := range l {
			tones[strings.TrimSpace(p.text)] = p.tone
		}
	}
	assert.Equal(t, bad, tones["resolve pods: i/o timeout"])
	assert.Equal(t, bad, tones[", 1 down"])
	assert.Equal(t, bad, tones["down: dial tcp 10.0.0.3:9527: connect: connection refused"])
	assert.Equal(t, bad, tones["restarted"])
	assert.Equal(t, good, tones["ready"])
	assert.Equal(t, accent, tones[">"], "of what is selected")
}

func TestSparkline(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		values []float64
		width  int
		want   string
	}{
		{nil, 3, "   "},
		{[]float64{1, 2}, 0, ""},
		{[]float64{1, 2}, -5, ""},
		{[]float64{0, 0}, 3, " ▁▁"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 9, "▁▁▂▃▄▅▆▇█"},
		{[]float64{100, 1, 2}, 2, "▄█"},
		{[]float64{1, nan, 2}, 3, "▄ █"},
		{[]float64{1, inf, 2}, 3, "▄ █"},
		{[]float64{5e-324, math.MaxFloat64}, 2, "▁█"},
		{[]float64{nan, nan}, 2, "  "},
	} {
		assert.Equal(t, test.want, sparkline(test.values, test.width, 0), "%v", test.values)
	}
}

func TestSparklineOverAWhole(t *testing.T) {
	assert.Equal(t, "▁▄█", sparkline([]float64{0, .5, 1}, 3, 1))
	assert.Equal(t, "▂▄", sparkline([]float64{.2, .5}, 2, 1))
	assert.Equal(t, "▄█", sparkline([]float64{1, 2}, 2, 1), "a batch may be above its limit")
}

func TestBar(t *testing.T) {
	for _, test := range []struct {
		part  float64
		width int
		want  string
	}{{0, 4, ""}, {.01, 4, "█"}, {.5, 4, "██"}, {1, 4, "████"}, {9, 4, "████"}, {math.NaN(), 4, ""}, {math.Inf(1), 2, "██"}, {1, -1, ""}} {
		assert.Equal(t, test.want, bar(test.part, test.width), "%v", test.part)
	}
}

func TestUnits(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct{ got, want string }{
		{rate(nan), "-"}, {rate(0), "0"}, {rate(.44), "0.4"}, {rate(9.94), "9.9"}, {rate(9.96), "10"}, {rate(1234), "1234"},
		{whole(9999.4), "9999"}, {whole(9999.6), "10k"}, {whole(123456), "123k"}, {whole(4e6), "4M"}, {whole(4e12), "4e+12"}, {whole(math.Inf(1)), "+Inf"},
		{percent(.725), "72%"}, {percent(nan), "-"}, {percent(1.5), "150%"},
		{span(nan), "-"}, {span(0), "0"}, {span(350e-6), "350µs"}, {span(1.24e-3), "1.2ms"}, {span(.0815), "82ms"}, {span(.9996), "1.00s"},
		{span(1.239), "1.24s"}, {span(12.39), "12.4s"}, {span(123), "123s"}, {span(1860), "31m"},
		{size(nan), "-"}, {size(0), "0B"}, {size(600 << 20), "600MiB"}, {size(1.5 * (1 << 30)), "1.5GiB"}, {size(math.MaxFloat64), "1.0EiB"},
	} {
		assert.Equal(t, test.want, test.got)
	}
}
