package monitor

import (
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// example is the base and two intervals of three servers: one that works, one that
// restarts, and one that goes away.
func example(t *testing.T) (rounds []Round) {
	synctest.Test(t, func(t *testing.T) {
		services := []*service{newService().load(), newService().load(), newService().load()}
		services[0].took, services[1].took = 80*time.Millisecond, 300*time.Millisecond
		servers := []string{"10.0.0.1:9527", "10.0.0.2:9527", "dragoman.example.com:9527"}
		last := make([]*sample, len(services))
		for i := range 3 {
			switch i {
			case 1:
				services[0].work()
				services[1].work()
			case 2:
				services[0].work()
				services[0].work()
				services[1].restart()
				services[1].work()
			}
			round := Round{Time: day.Add(time.Duration(i) * time.Second), Base: i == 0}
			for j, s := range services {
				if i == 2 && j == 2 {
					round.Rows = append(round.Rows, unknownRow(servers[j], round.Time, errors.New("dial tcp 10.0.0.3:9527: connect: connection refused")))
					continue
				}
				now := sampleOf(t, s.text(), round.Time.Add(3*time.Millisecond))
				round.Rows = append(round.Rows, newRow(servers[j], last[j], now))
				last[j] = now
			}
			rounds = append(rounds, round)
		}
		rounds[2].Notes = []string{"resolve pods: i/o timeout"}
	})
	return rounds
}

func TestCSV(t *testing.T) {
	var out strings.Builder
	sink := NewCSV(&out)
	for i, round := range example(t) {
		require.NoError(t, sink.Put(round))
		assert.Equal(t, 1+3*i, strings.Count(out.String(), "\n"), "each line is there at once")
	}
	golden(t, "example.csv", out.String())

	lines, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, strings.Fields("time server count queue tokenize encode decode detokenize request"), lines[0][:9])
	assert.Len(t, lines, 7)
	for _, name := range lines[0] {
		assert.Contains(t, ColumnsHelp(), "  "+name+" ")
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	sink := NewTable(&out, false)
	for _, round := range example(t) {
		require.NoError(t, sink.Put(round))
	}
	golden(t, "example.txt", out.String())
}

// In a terminal each table takes the place of the one before; the first one, too, is shown.
func TestTableThatIsRefreshed(t *testing.T) {
	var out strings.Builder
	sink := NewTable(&out, true)
	for _, round := range example(t) {
		out.Reset()
		require.NoError(t, sink.Put(round))
		text, cleared := strings.CutPrefix(out.String(), clearScreen)
		assert.True(t, cleared)
		assert.True(t, strings.HasSuffix(text, "\n"+wrapLines))
		assert.Contains(t, text, "10.0.0.1:9527")
	}
}

func TestSinksThatAreFull(t *testing.T) {
	round := Round{Time: day, Rows: []Row{unknownRow("a", day, assert.AnError)}}
	for name, sink := range map[string]Sink{
		"CSV":   NewCSV(failing{}),
		"table": NewTable(failing{}, false),
	} {
		t.Run(name, func(t *testing.T) { assert.ErrorIs(t, sink.Put(round), errFull) })
	}
}

var errFull = errors.New("no space left on device")

// failing is a file on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
