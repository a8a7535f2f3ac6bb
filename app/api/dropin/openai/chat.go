package openai

import (
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// form is the answer format of an endpoint.
type form interface {
	// prefix returns the prefix of ids.
	prefix() string
	// answer returns the answer with the texts of the choices.
	answer(w *work, texts []string) any
	// begin returns the events of a stream before its first text.
	begin(w *work) []any
	// delta returns the event of a part of a choice's text.
	delta(w *work, choice int, text string, first bool) any
	// end returns the events of a stream after the last text; usage reports whether they have the number of tokens.
	end(w *work, texts []string, usage bool) []any
	// fail returns the last event of a stream that fails; failed is the answer to a request that fails in the same way.
	fail(w *work, failed any, f *fault.Failure) any
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

// chats and completions are the forms of /v1/chat/completions and /v1/completions, which differ in their choices.
var (
	chats = choices{
		"chatcmpl-", "chat.completion", "chat.completion.chunk",
		func(index int, text, end string) any {
			return struct {
				Index   int     `json:"index"`
				Message message `json:"message"`
				Finish  *string `json:"finish_reason"`
			}{index, message{"assistant", text}, finish(end)}
		},
		func(index int, text string, first bool, end string) any {
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
	completions = choices{
		"cmpl-", "text_completion", "text_completion",
		completion,
		func(index int, text string, _ bool, end string) any { return completion(index, text, end) },
	}
)

// completion is a choice of /v1/completions.
func completion(index int, text, end string) any {
	return struct {
		Index    int     `json:"index"`
		Text     string  `json:"text"`
		Logprobs any     `json:"logprobs"`
		Finish   *string `json:"finish_reason"`
	}{index, text, nil, finish(end)}
}

// choices is the form of answers with choices.
type choices struct {
	ids           string
	object, chunk string // names of an answer and of a part of a stream
	choice        func(index int, text, end string) any
	part          func(index int, text string, first bool, end string) any
}

func (c choices) prefix() string { return c.ids }

func (c choices) answer(w *work, texts []string) any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = c.choice(i, text, w.ends[i])
	}
	return answer{w.id, c.object, w.created, w.model, all, &w.usage}
}

func (c choices) chunkOf(w *work, choices []any, u *usage) any {
	return answer{w.id, c.chunk, w.created, w.model, choices, u}
}

func (c choices) begin(*work) []any { return nil }

func (c choices) delta(w *work, choice int, text string, first bool) any {
	return c.chunkOf(w, []any{c.part(choice, text, first, "")}, nil)
}

func (c choices) end(w *work, texts []string, usage bool) (events []any) {
	for i := range texts {
		events = append(events, c.chunkOf(w, []any{c.part(i, "", false, w.ends[i])}, nil))
	}
	if usage {
		events = append(events, c.chunkOf(w, []any{}, &w.usage))
	}
	return append(events, done{})
}

func (choices) fail(_ *work, failed any, _ *fault.Failure) any { return failed }

// done is the last event of a complete stream of choices.
type done struct{}

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
	refuseTools(call)
	system, user := messages(call, "messages")
	return converse(call, chats, system, user, readFormat(call.Object("response_format")))
}

// refuseTools refuses the options of a program that expects more than a text.
func refuseTools(call *dialect.Call) {
	for _, name := range []string{"tools", "functions", "audio", "modalities"} {
		if call.Given(name) && !(name == "modalities" && string(call.Raw(name)) == `["text"]`) {
			call.Fail(dialect.Refuse("%s are not offered: this is a model that translates", name))
		}
	}
}

// messages reads a list of messages: the text of the system's, and the last one of the user.
func messages(call *dialect.Call, field string) (system []string, user string) {
	for _, m := range call.Objects(field) {
		switch role := m.Text("role"); role {
		case "system", "developer":
			system = append(system, content(m))
		case "user":
			user = content(m)
		case "assistant", "tool", "function":
		default:
			call.Fail(dialect.Refuse("%s has the role %q, use system, user or assistant", field, role))
		}
	}
	if strings.TrimSpace(user) == "" {
		call.Fail(dialect.RefuseAs(fault.MissingField, "%s has no message of the user with a text to translate", field))
	}
	return system, user
}

// converse answers a message of the user.
func converse(call *dialect.Call, f form, system []string, user string, format format) (any, error) {
	if strings.HasPrefix(user, "### Task:") { // Open WebUI's requests for titles, tags and questions
		call.Fail(dialect.Refuse(otherTask))
	}
	_, named := splitName(call.Text("model"))
	return serve(call, f, format, []prompt{read(strings.Join(system, "\n"), user, mostInstructions, !named.none())})
}

// content returns the text of a message.
func content(m dialect.Fields) string {
	if !m.IsList("content") {
		return m.Text("content")
	}
	var texts []string
	for _, part := range m.Objects("content") {
		if kind := part.Text("type"); kind != "text" && kind != "input_text" && kind != "output_text" {
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
	_, named := splitName(call.Text("model"))
	for _, text := range texts {
		prompts = append(prompts, read("", text, max(leastInstructions, mostInstructions/len(texts)), !named.none()))
	}
	if len(prompts) == 0 {
		call.Fail(dialect.RefuseAs(fault.MissingField, "prompt has no text to translate"))
	}
	return serve(call, completions, format{}, prompts)
}

// piece is a part of a choice.
type piece struct {
	part
	choice int
}

// work is the work of a call, and the state of its answer.
type work struct {
	form    form
	format  format
	id      string
	created int64
	model   string // as named by the request
	pieces  []piece
	tails   []string // text after the last translated text of each choice
	request dialect.Request
	usage   usage
	written []strings.Builder // text of each choice so far
	ends    []string          // why each choice ends: "stop", or "length" if a translation reached the token limit
}

// serve answers each prompt with a choice.
func serve(call *dialect.Call, f form, format format, prompts []prompt) (any, error) {
	if n, ok := call.Number("n"); !ok || n > 1 {
		call.Fail(dialect.Refuse("n is more than 1: there is one translation"))
	}
	w := &work{form: f, format: format, model: call.Text("model"), created: time.Now().Unix(), id: f.prefix() + call.Context.Writer.Header().Get(dialect.RequestIDHeader)}
	for i, p := range prompts {
		w.add(call, i, p)
	}
	if call.Bool("stream") {
		return nil, w.stream(call)
	}
	results, err := call.Translate(w.request)
	if err != nil {
		return nil, err
	}
	each, end := w.writer(func(int, string) error { return nil })
	for _, r := range results {
		if err := each(r); err != nil {
			return nil, err
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	return f.answer(w, w.texts()), nil
}

// texts returns the texts of the choices that were written.
func (w *work) texts() []string {
	texts := make([]string, len(w.written))
	for i := range w.written {
		texts[i] = w.written[i].String()
	}
	return texts
}

// add adds a prompt, in the languages of the first one.
func (w *work) add(call *dialect.Call, choice int, p prompt) {
	name, named := splitName(w.model)
	parts, languages, terms, ok := readOrder(p.text)
	if ok && parts == nil {
		call.Fail(dialect.Refuse(otherTask))
		return
	}
	if ok {
		if languages.from == nil {
			languages.from = named.from
		}
		p, named = prompt{}, languages
	} else {
		var err error
		if parts, err = w.format.split(p.text); err != nil {
			call.Fail(err)
			return
		}
		terms = termsIn(p.instructions.text)
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
func (w *work) writer(send func(choice int, text string) error) (each func(r translate.Result) error, end func() error) {
	w.written = make([]strings.Builder, len(w.tails))
	write := func(choice int, text string) error {
		w.written[choice].WriteString(text)
		return send(choice, text)
	}
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

// stream serves a streaming request: server-sent events, the last of which tells that the answer is complete. A stream without it
// was cut off, and has the reason in an error event.
func (w *work) stream(call *dialect.Call) error {
	c := call.Context
	usage := call.Object("stream_options").Bool("include_usage")
	begun := make([]bool, len(w.tails))
	started := false
	send := func(events ...any) error {
		for _, value := range events {
			if err := event(c, value); err != nil {
				return err
			}
		}
		return nil
	}
	begin := func() error {
		if started {
			return nil
		}
		started = true
		dialect.BeginStream(c, "text/event-stream")
		return send(w.form.begin(w)...)
	}
	each, end := w.writer(func(choice int, text string) error {
		first := !begun[choice]
		begun[choice] = true
		if text == "" && !first {
			return nil
		}
		if err := begin(); err != nil {
			return err
		}
		return send(w.form.delta(w, choice, text, first))
	})
	err := call.Stream(w.request, each)
	if err == nil {
		err = end()
	}
	if err == nil {
		err = begin()
	}
	if err != nil {
		if !started {
			return err
		}
		if f := call.Server.Explain(c, err); f.Kind != fault.ClientGone {
			_, answer := render(c, f)
			_ = send(w.form.fail(w, answer, f)) // the client may have left
		}
		return nil
	}
	_ = send(w.form.end(w, w.texts(), usage)...) // the client may have left
	return nil
}

// event writes a server-sent event.
func event(c *gin.Context, value any) error {
	if _, last := value.(done); last {
		return dialect.Send(c, []byte("data: [DONE]\n\n"))
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	name := ""
	if r, ok := value.(responseEvent); ok {
		name = "event: " + r.Type + "\n"
	}
	return dialect.Send(c, append(append([]byte(name+"data: "), data...), "\n\n"...))
}
