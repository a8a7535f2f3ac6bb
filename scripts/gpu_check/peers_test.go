package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"dragoman/model/checkpoint"
)

// peers are other programs that do the same, by name.
type peers []peer

type peer struct{ name, command string }

func (p *peers) String() string { return fmt.Sprint(*p) }

// Set adds name=command.
func (p *peers) Set(s string) error {
	name, command, ok := strings.Cut(s, "=")
	if !ok || name == "" || command == "" {
		return fmt.Errorf("%q: write name=command", s)
	}
	*p = append(*p, peer{name, command})
	return nil
}

// comparePeers measures the other sides on the same sentences. One that cannot be run is
// no failure: it says so in the report.
func (s *session) comparePeers() {
	for _, p := range s.peers {
		if err := s.comparePeer(p); err != nil {
			fmt.Fprintf(s.out, "%s: %v\n", p.name, err)
			s.report.Peers = append(s.report.Peers, measurement{Side: p.name, Error: err.Error()})
		}
	}
}

func (s *session) comparePeer(p peer) (err error) {
	spec, err := checkpoint.ReadSpec(s.checkpoint)
	if err != nil {
		return err
	}
	side, err := startSide(p.command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, side.close()) }()
	for _, beams := range []int{1, 5} {
		for _, n := range s.sentences {
			row := measurement{Side: p.name, Beams: beams, Sentences: n}
			request := map[string]any{"sources": sources(spec, n), "target": target(spec), "beams": beams, "length": targetTokens}
			var all []time.Duration
			for begin := time.Now(); row.Error == "" && (len(all) < 3 || time.Since(begin) < s.seconds); {
				took, err := side.decode(request)
				if err != nil {
					row.Error = err.Error()
				}
				all = append(all, took)
			}
			if row.Error == "" {
				row.Seconds = median(all[1:]).Seconds()
				row.Tokens = float64(n*targetTokens) / row.Seconds
			}
			fmt.Fprintf(s.out, "%+v\n", row)
			s.report.Peers = append(s.report.Peers, row)
		}
	}
	return nil
}

// side is a running peer.
type side struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// answer is a line of a peer's output.
type answer struct {
	Ready   bool    `json:"ready"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error"`
}

func startSide(command string) (*side, error) {
	s := &side{command: exec.Command("sh", "-c", "exec "+command)}
	s.command.Stderr = os.Stderr
	var err error
	if s.in, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	a, err := s.read()
	if err == nil && !a.Ready {
		err = fmt.Errorf("it is not ready: %s", a.Error)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *side) read() (a answer, err error) {
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("it answers no more: %w", err)
	}
	return a, json.Unmarshal(line, &a)
}

// decode lets the side decode a batch.
func (s *side) decode(request map[string]any) (time.Duration, error) {
	if err := json.NewEncoder(s.in).Encode(request); err != nil {
		return 0, err
	}
	a, err := s.read()
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return time.Duration(a.Seconds * float64(time.Second)), err
}

func (s *side) close() error { return errors.Join(s.in.Close(), s.command.Wait()) }
