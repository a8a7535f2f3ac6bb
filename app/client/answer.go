package client

import (
	"time"

	"github.com/go-json-experiment/json"
)

// resultInput is a result as the service writes it. Pointers tell what is missing from
// what is empty; fields that are not known here are left out.
type resultInput struct {
	ID     *string `json:"id"`
	Text   *string `json:"text"`
	ToLang string  `json:"toLang"`
	Detail *Detail `json:"detail"`
}

// milliseconds reads the times of [Detail], which the service writes as numbers.
var milliseconds = json.WithUnmarshalers(json.UnmarshalFunc(func(raw []byte, d *time.Duration) error {
	var ms float64
	err := json.Unmarshal(raw, &ms)
	*d = time.Duration(ms * float64(time.Millisecond))
	return err
}))

// result reads a result by itself.
func (j *job) result(in resultInput) (Result, error) {
	switch {
	case in.ID == nil || in.Text == nil:
		return Result{}, invalid("a result has no id or no text")
	case j.named && in.ToLang == "":
		return Result{}, invalid("the result of record %.100q does not say its language", *in.ID)
	}
	r := Result{ID: *in.ID, Text: *in.Text, To: in.ToLang, Detail: in.Detail}
	if !j.named {
		r.To = j.langs[0]
	}
	return r, nil
}

// results reads the answer to a request and checks that it belongs to it.
func (j *job) results(raw []byte) ([]Result, error) {
	var answer struct {
		Result []resultInput `json:"result"`
	}
	if err := json.Unmarshal(raw, &answer, milliseconds); err != nil {
		return nil, invalid("%d bytes: %w", len(raw), err)
	}
	if got, want := len(answer.Result), j.count(); got != want {
		return nil, invalid("it has %d results for %d records × %d languages", got, len(j.ids), len(j.langs))
	}
	results := make([]Result, len(answer.Result))
	for i, in := range answer.Result {
		r, err := j.result(in)
		if err != nil {
			return nil, err
		}
		if id, to := j.ids[i%len(j.ids)], j.langs[i/len(j.ids)]; r.ID != id || r.To != to {
			return nil, invalid("result %d is of record %.100q in %q, expected %.100q in %q", i, r.ID, r.To, id, to)
		}
		results[i] = r
	}
	return results, nil
}

// count is the number of results that the request has.
func (j *job) count() int { return len(j.ids) * len(j.langs) }

// slot is what a result of a stream is known by.
type slot struct{ id, to string }

// expected counts the results of each kind that a stream must bring, in any order.
func (j *job) expected() map[slot]int {
	left := make(map[slot]int, j.count())
	for _, to := range j.langs {
		for _, id := range j.ids {
			left[slot{id, to}]++
		}
	}
	return left
}
