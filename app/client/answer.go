package client

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
)

// resultInput is a result in the JSON of the service. Pointers distinguish missing from empty values; unknown fields are ignored.
type resultInput struct {
	ID     *string `json:"id"`
	Text   *string `json:"text"`
	ToLang string  `json:"toLang"`
	Detail *Detail `json:"detail"`
	Error  *Error  `json:"error"` // of the record alone
	// Alternatives are nil if none were requested.
	Alternatives []Alternative `json:"alternatives"`
}

// milliseconds parses the times of [Detail], which the service sends as numbers.
var milliseconds = json.WithUnmarshalers(json.UnmarshalFunc(func(raw []byte, d *time.Duration) error {
	var ms float64
	err := json.Unmarshal(raw, &ms)
	*d = time.Duration(ms * float64(time.Millisecond))
	return err
}))

// result returns the result, for any request.
func (in resultInput) result() (Result, error) {
	if in.ID == nil || in.Text == nil && in.Error == nil {
		return Result{}, invalid("a result has no id or no text")
	}
	r := Result{ID: *in.ID, To: in.ToLang, Detail: in.Detail, Alternatives: in.Alternatives, Err: in.Error}
	if in.Text != nil && in.Error == nil {
		r.Text = *in.Text
	}
	return r, nil
}

// result returns a single result of the request.
func (q *query) result(in resultInput) (Result, error) {
	r, err := in.result()
	switch {
	case err != nil:
		return Result{}, err
	case q.named && in.ToLang == "":
		return Result{}, invalid("the result of record %.100q does not say its language", *in.ID)
	}
	if !q.named {
		r.To = q.langs[0]
	}
	if r.Err != nil {
		r.Err.RequestID = q.id
	}
	return r, nil
}

// results parses the answer to a request and checks the answer with match.
func (q *query) results(raw []byte) ([]Result, error) {
	answer, err := decode[struct {
		Result []resultInput `json:"result"`
	}](raw)
	if err != nil {
		return nil, err
	}
	return q.match(answer.Result)
}

// match returns the results after a check that they belong to the request.
func (q *query) match(in []resultInput) ([]Result, error) {
	if got, want := len(in), q.count(); got != want {
		return nil, invalid("it has %d results for %d records × %d languages", got, len(q.ids), len(q.langs))
	}
	results := make([]Result, len(in))
	for i := range in {
		r, err := q.result(in[i])
		if err != nil {
			return nil, err
		}
		if id, to := q.ids[i%len(q.ids)], q.langs[i/len(q.ids)]; r.ID != id || r.To != to {
			return nil, invalid("result %d is of record %.100q in %q, expected %.100q in %q", i, r.ID, r.To, id, to)
		}
		if r.Err != nil {
			r.Err.Field = fmt.Sprintf("payload.records[%d].text", i%len(q.ids))
		}
		results[i] = r
	}
	return results, nil
}

// count returns the number of results of the request.
func (q *query) count() int { return len(q.ids) * len(q.langs) }

// slot identifies a result of a stream: the record's id and the target language.
type slot struct{ id, to string }

// expected returns the number of results of each slot in a stream, which come in any order.
func (q *query) expected() map[slot]int {
	left := make(map[slot]int, q.count())
	for _, to := range q.langs {
		for _, id := range q.ids {
			left[slot{id, to}]++
		}
	}
	return left
}
