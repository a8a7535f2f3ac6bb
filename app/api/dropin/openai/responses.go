package openai

import (
	"strings"
	"time"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
)

// respond serves /v1/responses. Nothing is stored, so a response cannot be continued, fetched or run in the background.
func respond(call *dialect.Call) (any, error) {
	refuseTools(call)
	for _, name := range []string{"previous_response_id", "conversation", "prompt"} {
		if call.Given(name) {
			call.Fail(dialect.Refuse("%s is not offered: send the whole input, nothing is stored", name))
		}
	}
	if call.Bool("background") {
		call.Fail(dialect.Refuse("background is not offered: the answer comes at once, or as a stream"))
	}
	var system []string
	if instructions := call.Text("instructions"); instructions != "" {
		system = append(system, instructions)
	}
	user := ""
	if call.IsList("input") {
		more, last := messages(call, "input")
		system, user = append(system, more...), last
	} else if user = call.Text("input"); strings.TrimSpace(user) == "" {
		call.Fail(dialect.RefuseAs(fault.MissingField, "input has no text to translate"))
	}
	return converse(call, &responses{}, system, user, readFormat(call.Object("text").Object("format")))
}

// responses is the form of /v1/responses, for one request.
type responses struct{ events int }

// response is the answer of /v1/responses.
type response struct {
	ID         string         `json:"id"`
	Object     string         `json:"object"`
	Created    int64          `json:"created_at"`
	Completed  *int64         `json:"completed_at"`
	Status     string         `json:"status"` // completed, incomplete if a translation reached the token limit, in_progress or failed
	Error      *responseError `json:"error"`
	Incomplete any            `json:"incomplete_details"`
	Model      string         `json:"model"`
	Output     []outputItem   `json:"output"`
	Usage      *responseUsage `json:"usage"`
	// What OpenAI's SDKs need to be there.
	Instructions any            `json:"instructions"`
	Metadata     map[string]any `json:"metadata"`
	Parallel     bool           `json:"parallel_tool_calls"`
	Tools        []any          `json:"tools"`
	ToolChoice   string         `json:"tool_choice"`
	Temperature  any            `json:"temperature"`
	TopP         any            `json:"top_p"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type outputItem struct {
	Type    string        `json:"type"`
	ID      string        `json:"id"`
	Status  string        `json:"status"`
	Role    string        `json:"role"`
	Content []contentPart `json:"content"`
}

type contentPart struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
	Logprobs    []any  `json:"logprobs"`
}

type responseUsage struct {
	Input        int           `json:"input_tokens"`
	InputDetail  cachedTokens  `json:"input_tokens_details"`
	Output       int           `json:"output_tokens"`
	OutputDetail thoughtTokens `json:"output_tokens_details"`
	Total        int           `json:"total_tokens"`
}

type (
	cachedTokens struct {
		Cached int `json:"cached_tokens"`
	}
	thoughtTokens struct {
		Reasoning int `json:"reasoning_tokens"`
	}
)

// responseEvent is an event of a stream.
type responseEvent struct {
	Type     string       `json:"type"`
	Sequence int          `json:"sequence_number"`
	Response *response    `json:"response,omitzero"`
	ItemID   string       `json:"item_id,omitzero"`
	Output   *int         `json:"output_index,omitzero"`
	Content  *int         `json:"content_index,omitzero"`
	Item     *outputItem  `json:"item,omitzero"`
	Part     *contentPart `json:"part,omitzero"`
	Delta    *string      `json:"delta,omitzero"`
	Text     *string      `json:"text,omitzero"`
	Logprobs []any        `json:"logprobs,omitzero"`
}

func (*responses) prefix() string { return "resp_" }

func (w *work) itemID() string { return "msg_" + strings.TrimPrefix(w.id, "resp_") }

// item returns the message of an answer. An empty status means that it has just begun.
func (w *work) item(text, status string) outputItem {
	item := outputItem{Type: "message", ID: w.itemID(), Status: "in_progress", Role: "assistant", Content: []contentPart{}}
	if status != "" {
		item.Status, item.Content = status, []contentPart{part0(text)}
	}
	return item
}

func part0(text string) contentPart {
	return contentPart{Type: "output_text", Text: text, Annotations: []any{}, Logprobs: []any{}}
}

// response returns the answer in a state.
func (w *work) response(status string) *response {
	return &response{ID: w.id, Object: "response", Created: w.created, Status: status, Model: w.model, Output: []outputItem{},
		Metadata: map[string]any{}, Parallel: true, Tools: []any{}, ToolChoice: "auto"}
}

func (*responses) answer(w *work, texts []string) any { return w.responded(texts) }

// responded returns the complete answer.
func (w *work) responded(texts []string) *response {
	r := w.response("completed")
	if w.ends[0] == "length" {
		r.Status, r.Incomplete = "incomplete", map[string]string{"reason": "max_output_tokens"}
	} else {
		now := time.Now().Unix()
		r.Completed = &now
	}
	r.Output = []outputItem{w.item(texts[0], r.Status)}
	r.Usage = &responseUsage{Input: w.usage.Prompt, Output: w.usage.Completion, Total: w.usage.Total}
	return r
}

// number numbers events.
func (r *responses) number(events ...responseEvent) (all []any) {
	for _, e := range events {
		e.Sequence = r.events
		r.events++
		all = append(all, e)
	}
	return all
}

func (r *responses) begin(w *work) []any {
	zero, item, part := 0, w.item("", ""), part0("")
	return r.number(
		responseEvent{Type: "response.created", Response: w.response("in_progress")},
		responseEvent{Type: "response.in_progress", Response: w.response("in_progress")},
		responseEvent{Type: "response.output_item.added", Output: &zero, Item: &item},
		responseEvent{Type: "response.content_part.added", ItemID: item.ID, Output: &zero, Content: &zero, Part: &part})
}

func (r *responses) delta(w *work, _ int, text string, _ bool) any {
	zero := 0
	return r.number(responseEvent{Type: "response.output_text.delta", ItemID: w.itemID(), Output: &zero, Content: &zero, Delta: &text, Logprobs: []any{}})[0]
}

func (r *responses) end(w *work, texts []string, _ bool) []any {
	whole := w.responded(texts)
	zero, item, part := 0, whole.Output[0], part0(texts[0])
	return r.number(
		responseEvent{Type: "response.output_text.done", ItemID: item.ID, Output: &zero, Content: &zero, Text: &texts[0], Logprobs: []any{}},
		responseEvent{Type: "response.content_part.done", ItemID: item.ID, Output: &zero, Content: &zero, Part: &part},
		responseEvent{Type: "response.output_item.done", Output: &zero, Item: &item},
		responseEvent{Type: "response." + whole.Status, Response: whole})
}

func (r *responses) fail(w *work, _ any, f *fault.Failure) any {
	failed := w.response("failed")
	failed.Error = &responseError{"server_error", dialect.Message(f)}
	return r.number(responseEvent{Type: "response.failed", Response: failed})[0]
}
