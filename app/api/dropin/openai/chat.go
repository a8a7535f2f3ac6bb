package openai

import (
	"errors"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// form is the answer format of an endpoint.
type form struct {
	prefix        string // prefix of ids
	object, chunk string // names of an answer and of a part of a stream
	choice        func(index int, text, end string) any
	delta         func(index int, text string, first bool, end string) any
}

// message is an assistant's message, or a part of it.
type message struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content"`
}

// finish returns the reason why a text ends, or null if it continues.
func finish(end string) *string {
	if end == "" {
		return nil
	}
	return &end
}

var chats = form{
	prefix: "chatcmpl-", object: "chat.completion", chunk: "chat.completion.chunk",
	choice: func(index int, text, end string) any {
		return struct {
			Index   int     `json:"index"`
			Message message `json:"message"`
			Finish  *string `json:"finish_reason"`
		}{index, message{"assistant", text}, finish(end)}
	},
	delta: func(index int, text string, first bool, end string) any {
		m := message{Content: text}
		if first {
			m.Role = "assistant"
		}
		return struct {
			Index  int     `json:"index"`
			Delta  message `json:"delta"`
			Finish *string `json:"finish_reason"`
		}{index, m, finish(end)}
	},
}

var completions = form{
	prefix: "cmpl-", object: "text_completion", chunk: "text_completion",
	choice: func(index int, text, end string) any { return completion(index, text, end) },
	delta:  func(index int, text string, _ bool, end string) any { return completion(index, text, end) },
}

// completion is a choice of /v1/completions.
func completion(index int, text, end string) any {
	return struct {
		Index    int     `json:"index"`
		Text     string  `json:"text"`
		Logprobs any     `json:"logprobs"`
		Finish   *string `json:"finish_reason"`
	}{index, text, nil, finish(end)}
}

// answer is an endpoint's answer, or a part of a stream.
type answer struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Choices []any  `json:"choices"`
	Usage   *usage `json:"usage,omitempty"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func (u *usage) add(r translate.Result) {
	u.Prompt += r.SourceTokens
	u.Completion += r.TargetTokens
	u.Total = u.Prompt + u.Completion
}

// chat serves /v1/chat/completions.
func chat(call *dialect.Call) (any, error) {
	var system []string
	user := ""
	for _, m := range call.Objects("messages") {
		switch role := m.Text("role"); role {
		case "system", "developer":
			system = append(system, content(m))
		case "user":
			user = content(m)
		case "assistant", "tool", "function":
		default:
			call.Fail(dialect.Refuse("messages has the role %q, use system, user or assistant", role))
		}
	}
	if call.Given("tools") {
		call.Fail(dialect.Refuse("tools are not offered: this is a model that translates"))
	}
	if strings.TrimSpace(user) == "" {
		call.Fail(dialect.RefuseAs(fault.MissingField, "messages has no message of the user with a text to translate"))
	}
	if strings.HasPrefix(user, "### Task:") { // Open WebUI's requests for titles, tags and questions
		call.Fail(dialect.Refuse("this model translates, and does no other task: set another one for tasks in the front end's settings"))
	}
	return serve(call, chats, []prompt{read(strings.Join(system, "\n"), user, mostInstructions)})
}

// content returns the text of a message.
func content(m dialect.Fields) string {
	if !m.IsList("content") {
		return m.Text("content")
	}
	var texts []string
	for _, part := range m.Objects("content") {
		if kind := part.Text("type"); kind != "text" {
			m.Fail(dialect.Refuse("messages has content of the type %q, only text can be translated", kind))
		}
		texts = append(texts, part.Text("text"))
	}
	return strings.Join(texts, "\n")
}

// complete serves /v1/completions.
func complete(call *dialect.Call) (any, error) {
	var prompts []prompt
	texts := call.Needed("prompt")
	for _, text := range texts {
		prompts = append(prompts, read("", text, max(leastInstructions, mostInstructions/len(texts))))
	}
	if len(prompts) == 0 {
		call.Fail(dialect.RefuseAs(fault.MissingField, "prompt has no text to translate"))
	}
	return serve(call, completions, prompts)
}

// piece is a part of a choice.
type piece struct {
	part
	choice int
}

// work is the work of a call, and the state of its answer.
type work struct {
	form    form
	id      string
	model   string // as named by the request
	pieces  []piece
	tails   []string // text after the last translated text of each choice
	request dialect.Request
	usage   usage
	ends    []string // why each choice ends: "stop", or "length" if a translation reached the token limit
}

// serve answers each prompt with a choice.
func serve(call *dialect.Call, f form, prompts []prompt) (any, error) {
	if n, ok := call.Number("n"); !ok || n > 1 {
		call.Fail(dialect.Refuse("n is more than 1: there is one translation"))
	}
	w := &work{form: f, model: call.Text("model"), id: f.prefix + call.Context.Writer.Header().Get(dialect.RequestIDHeader)}
	for i, p := range prompts {
		w.add(call, i, p)
	}
	if call.Bool("stream") {
		return nil, w.stream(call)
	}
	texts := make([]strings.Builder, len(prompts))
	results, err := call.Translate(w.request)
	if err != nil {
		return nil, err
	}
	each, end := w.writer(func(choice int, text string) error {
		texts[choice].WriteString(text)
		return nil
	})
	for _, r := range results {
		if err := each(r); err != nil {
			return nil, err
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	choices := make([]any, len(texts))
	for i := range texts {
		choices[i] = f.choice(i, texts[i].String(), w.ends[i])
	}
	return w.answer(f.object, choices, &w.usage), nil
}

// add adds a prompt, in the languages of the first one.
func (w *work) add(call *dialect.Call, choice int, p prompt) {
	name, named := splitName(w.model)
	parts, target, terms, ok := readKiss(p.text)
	if ok {
		p, named = prompt{}, pair{from: named.from, to: []string{target}}
	} else {
		var err error
		if parts, err = split(p.text); err != nil {
			call.Fail(err)
			return
		}
	}
	if name == "" {
		name = anyModel
	}
	from, to := p.languages(call, name, named)
	if choice == 0 {
		w.request = dialect.Request{From: from, To: to, Terms: terms}
	} else if from != w.request.From || to != w.request.To {
		call.Fail(dialect.Refuse("the prompts are for different languages: send a request for each"))
	}
	last := len(parts) - 1
	for _, part := range parts[:last] {
		w.pieces = append(w.pieces, piece{part, choice})
		w.request.Texts = append(w.request.Texts, part.text)
	}
	w.tails, w.ends = append(w.tails, parts[last].before), append(w.ends, "stop")
}

// writer writes the choices in order: each writes a result, end writes the rest after the last result.
func (w *work) writer(write func(choice int, text string) error) (each func(r translate.Result) error, end func() error) {
	done, next := 0, 0
	tails := func(upTo int) error {
		for ; done < upTo; done++ {
			if err := write(done, w.tails[done]); err != nil {
				return err
			}
		}
		return nil
	}
	each = func(r translate.Result) error {
		p := w.pieces[next]
		next++
		w.usage.add(r)
		if r.Flags.Has(translate.Truncated) {
			w.ends[p.choice] = "length"
		}
		if err := tails(p.choice); err != nil {
			return err
		}
		text := r.Text
		if p.write != nil {
			text = p.write(r)
		}
		return write(p.choice, p.before+text)
	}
	return each, func() error { return tails(len(w.tails)) }
}

func (w *work) answer(object string, choices []any, u *usage) answer {
	return answer{w.id, object, time.Now().Unix(), w.model, choices, u}
}

// stream serves a streaming request: server-sent events, the last of which is [DONE]. A stream without [DONE] was cut off, and
// has the reason in an error event.
func (w *work) stream(call *dialect.Call) error {
	c := call.Context
	usage := call.Object("stream_options").Bool("include_usage")
	begun := make([]bool, len(w.tails))
	started := false
	send := func(value any) error {
		encoded, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if !started {
			started = true
			dialect.BeginStream(c, "text/event-stream")
		}
		return event(c, encoded)
	}
	each, end := w.writer(func(choice int, text string) error {
		first := !begun[choice]
		begun[choice] = true
		if text == "" && !first {
			return nil
		}
		return send(w.answer(w.form.chunk, []any{w.form.delta(choice, text, first, "")}, nil))
	})
	err := call.Stream(w.request, each)
	if err == nil {
		err = end()
	}
	if err != nil {
		if !started {
			return err
		}
		if f := call.Server.Explain(c, err); f.Kind != fault.ClientGone {
			_, answer := render(c, f)
			_ = send(answer) // the client may have left
		}
		return nil
	}
	for i := range begun {
		err = errors.Join(err, send(w.answer(w.form.chunk, []any{w.form.delta(i, "", false, w.ends[i])}, nil)))
	}
	if usage {
		err = errors.Join(err, send(w.answer(w.form.chunk, []any{}, &w.usage)))
	}
	if err == nil {
		_ = event(c, []byte("[DONE]"))
	}
	return nil
}

// event writes a server-sent event.
func event(c *gin.Context, data []byte) error {
	return dialect.Send(c, append(append([]byte("data: "), data...), "\n\n"...))
}
