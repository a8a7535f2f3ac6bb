package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dragoman/app/engine"
	"dragoman/model/prompt"
	"dragoman/model/prompt/profile"
	"dragoman/model/search"
)

// Path of the calls of [Chat].
const chatPath = "/chat/completions"

// Chat implements [Dialect] for chat completions, with the prompts of a profile.
type Chat struct {
	Tokens  *Tokenizer
	Profile *profile.Profile
	Model   string // its name at the server
	Context int    // tokens of prompt and answer together
	Reader  *Reader
}

// Tokens of the server for a token of [Tokenizer], at most in usual languages, and tokens that an answer may have beside.
const perToken, moreTokens = 2, 64

// Settings of a try after the first, which with the same settings could only have the same answer, and of several translations.
const (
	againTemperature   = 0.5
	severalTemperature = 0.8
	strictPenalty      = 0.5 // for repetitions, of at most 2
)

// Body implements [Dialect].
func (c *Chat) Body(job engine.Job) ([]byte, error) {
	from, to, text, err := c.Tokens.source(job.Source)
	if err == nil {
		err = job.Search.Validate()
	}
	if err != nil {
		return nil, err
	}
	q := profile.Question{From: c.Profile.Language(from), To: c.Profile.Language(to), Text: text}
	if job.Guide != nil {
		q.Guide = *job.Guide
	}
	body, err := c.Profile.Request(q)
	if err != nil {
		return nil, err
	}
	body["model"] = c.Model
	if body["max_tokens"] == nil && body["max_completion_tokens"] == nil {
		body["max_tokens"] = min(perToken*min(job.Search.MaxLength, 3*len(job.Source)+moreTokens), c.Context/2)
	}
	temperature := 0.0
	if q.Try > 0 {
		temperature, body["seed"] = againTemperature, q.Try
	}
	if n := job.Search.Hypotheses; n > 1 {
		temperature, body["n"] = severalTemperature, n
	}
	if temperature > 0 {
		body["temperature"] = max(temperature, numberOf(body["temperature"]))
	}
	if job.Search.RepetitionPenalty > 1 {
		body["frequency_penalty"] = strictPenalty
	}
	return json.Marshal(body)
}

// single returns a body that asks for one answer; ok is false if body does already.
func single(body string) (one string, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &fields) != nil || fields["n"] == nil {
		return "", false
	}
	delete(fields, "n")
	raw, err := json.Marshal(fields)
	return string(raw), err == nil
}

// numberOf returns a number of a profile, 0 for others.
func numberOf(value any) float64 {
	switch n := value.(type) {
	case int:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// answer is the answer of a server.
type answer struct {
	Choices []struct {
		Message struct {
			Content json.RawMessage `json:"content"` // a string or parts
			Refusal string          `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Input  int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	} `json:"usage"`
}

// Result implements [Dialect].
func (c *Chat) Result(job engine.Job, raw []byte) (r engine.Result, used Usage, err error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return r, used, fmt.Errorf("the server's answer is not that of chat completions: %w: %.200q", err, raw)
	}
	if len(a.Choices) == 0 {
		return r, used, fmt.Errorf("the server's answer has no choices: %.200q", raw)
	}
	used = Usage{max(0, a.Usage.Input), max(0, a.Usage.Output)}
	from, to, text, err := c.Tokens.source(job.Source)
	if err != nil {
		return r, used, err
	}
	for i, choice := range a.Choices {
		content, err := contentOf(choice.Message.Content)
		if err != nil {
			return r, used, err
		}
		one, fault := c.Reader.Read(text, content, from, to)
		switch {
		case choice.Message.Refusal != "", choice.FinishReason == "content_filter":
			one, fault = "", prompt.Refused
		case choice.FinishReason == "length" && fault != prompt.Refused: // what looks like a note may be cut off
			fault = prompt.NoFault
		}
		found := search.Result{Tokens: appendPieces(nil, one), Truncated: choice.FinishReason == "length"}
		if i == 0 {
			r.Result, r.Fault = found, fault
		} else if fault == prompt.NoFault && len(r.Others) < job.Search.Hypotheses-1 {
			r.Others = append(r.Others, found)
		}
	}
	return r, used, nil
}

// errContent means that an answer is no text.
var errContent = errors.New("the server's answer is not a text")

// contentOf returns a content, which is a string, missing, or a list of parts.
func contentOf(raw json.RawMessage) (string, error) {
	var text *string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		if text == nil {
			return "", nil
		}
		return *text, nil
	}
	var parts []struct{ Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("%w: %.200q", errContent, raw)
	}
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	return all.String(), nil
}
