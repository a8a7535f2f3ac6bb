// Package remotetest plays an OpenAI-compatible server of a language model, which translates by rule and can misbehave.
package remotetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Model is the name of the only model of a [Server].
const Model = "player"

// Call is a call that a server has received.
type Call struct {
	Body   map[string]any
	Text   string // the last paragraph of the last message
	Number int    // of the call, from 0 on
	Header http.Header
}

// System returns the text of all messages before the last.
func (c Call) System() string {
	messages, _ := c.Body["messages"].([]any)
	var all strings.Builder
	for _, m := range messages[:max(0, len(messages)-1)] {
		all.WriteString(content(m) + "\n")
	}
	return all.String()
}

// Behaviour answers a call instead of the usual [Translate]. It may return false to let the usual answer follow.
type Behaviour func(w http.ResponseWriter, r *http.Request, c Call) (answered bool)

// Server is a running server.
type Server struct {
	URL string // of the API

	mu     sync.Mutex // guards the rest
	behave Behaviour
	calls  []Call
}

// New starts a server, which ends with the test. behave may be nil.
func New(t testing.TB, behave Behaviour) *Server {
	s := &Server{behave: behave}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q,"object":"model"}]}`, Model)
	})
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Behave changes the behaviour of later calls.
func (s *Server) Behave(b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behave = b
}

// Calls returns the calls so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	c := Call{Header: r.Header}
	if err != nil || json.Unmarshal(raw, &c.Body) != nil {
		http.Error(w, `{"error":{"message":"not JSON"}}`, http.StatusBadRequest)
		return
	}
	if messages, _ := c.Body["messages"].([]any); len(messages) > 0 {
		c.Text = content(messages[len(messages)-1])
		c.Text = strings.TrimPrefix(c.Text[strings.LastIndex(c.Text, "\n\n")+1:], "\n")
	}
	s.mu.Lock()
	c.Number = len(s.calls)
	s.calls = append(s.calls, c)
	behave := s.behave
	s.mu.Unlock()
	if behave == nil || !behave(w, r, c) {
		Answer(w, Translate(c.Text), "stop")
	}
}

// content returns the text of a message, which may have parts.
func content(message any) string {
	m, _ := message.(map[string]any)
	if parts, ok := m["content"].([]any); ok {
		part, _ := parts[0].(map[string]any)
		text, _ := part["text"].(string)
		return text
	}
	text, _ := m["content"].(string)
	return text
}

// Answer writes the answer of a completion. Tokens are counted as four bytes each.
func Answer(w http.ResponseWriter, text, finish string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client may have left
		"object": "chat.completion", "model": Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": text}}},
		"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": (len(text) + 3) / 4},
	})
}

// Says returns the behaviour of a fixed way to answer.
func Says(answer func(c Call) string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, c Call) bool {
		Answer(w, answer(c), "stop")
		return true
	}
}

// First returns a behaviour that only the first n calls meet.
func First(n int, b Behaviour) Behaviour {
	return func(w http.ResponseWriter, r *http.Request, c Call) bool { return c.Number < n && b(w, r, c) }
}

// Status returns the behaviour of a server that fails with a status, and a header if its name is not empty.
func Status(status int, name, value string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) bool {
		if name != "" {
			w.Header().Set(name, value)
		}
		http.Error(w, fmt.Sprintf(`{"error":{"message":"status %d"}}`, status), status)
		return true
	}
}

// After returns the usual behaviour after a latency, or none when the client has left.
func After(latency time.Duration) Behaviour {
	return func(_ http.ResponseWriter, r *http.Request, _ Call) bool {
		select {
		case <-time.After(latency):
			return false
		case <-r.Context().Done():
			return true
		}
	}
}

// words are translated; other words stay.
var words = map[string]string{
	"the": "le", "a": "un", "is": "est", "and": "et", "house": "maison", "garden": "jardin", "big": "grand", "small": "petit", "where": "où",
	"has": "a", "of": "de", "in": "dans", "our": "notre", "with": "avec", "water": "eau", "tree": "arbre", "good": "bon", "morning": "matin",
	"green": "vert", "book": "livre", "on": "sur", "table": "table", "new": "nouveau", "open": "ouvrez", "window": "fenêtre", "please": "veuillez",
	"close": "fermer", "door": "porte", "every": "chaque", "day": "jour", "we": "nous", "they": "ils", "are": "sont", "year": "année",
}

// Translate translates English into something like French, word by word. Everything but words stays.
func Translate(text string) string {
	var out, word strings.Builder
	flush := func() {
		w := word.String()
		word.Reset()
		if to, ok := words[strings.ToLower(w)]; ok {
			if w != strings.ToLower(w) {
				to = strings.ToUpper(to[:1]) + to[1:]
			}
			w = to
		}
		out.WriteString(w)
	}
	for _, r := range text {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			word.WriteRune(r)
			continue
		}
		flush()
		out.WriteRune(r)
	}
	flush()
	return out.String()
}
