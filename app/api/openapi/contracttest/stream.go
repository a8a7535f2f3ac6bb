package contracttest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The media types of streams. Their schemas describe the list of lines, or events.
const (
	ndjson      = "application/x-ndjson"
	eventStream = "text/event-stream"
)

// mediaType lets the compiler of schemas look into a stream.
func mediaType(name string, parse func([]byte) (any, error)) *jsonschema.MediaType {
	return &jsonschema.MediaType{
		Name: name, UnmarshalJSON: parse,
		Validate: func(body []byte) error { _, err := parse(body); return err },
	}
}

// parseLines turns newline-delimited JSON into a list of values, the last of which ends
// the stream.
func parseLines(body []byte) (any, error) {
	text, whole := strings.CutSuffix(string(body), "\n")
	if !whole {
		return nil, errors.New("the last line has no end")
	}
	var lines []any
	ends := []bool{}
	for line := range strings.SplitSeq(text, "\n") {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(lines)+1, err)
		}
		object, _ := value.(node)
		_, done := object["done"]
		_, failed := object["error"]
		lines, ends = append(lines, value), append(ends, done || failed)
	}
	return lines, oneEnd(ends)
}

// parseEvents turns server-sent events into a list of objects with event and data, the
// last of which ends the stream.
func parseEvents(body []byte) (any, error) {
	text, whole := strings.CutSuffix(string(body), "\n\n")
	if !whole {
		return nil, errors.New("the last event has no end")
	}
	var events []any
	var ends []bool
	for block := range strings.SplitSeq(text, "\n\n") {
		if id, rest, _ := strings.Cut(block, "\n"); strings.HasPrefix(id, "id: ") {
			block = rest
		}
		first, second, _ := strings.Cut(block, "\n")
		name, named := strings.CutPrefix(first, "event: ")
		data, filled := strings.CutPrefix(second, "data: ")
		if !named || !filled || strings.Contains(data, "\n") {
			return nil, fmt.Errorf("event %d is %.80q, want a line with event: and a line with data:, and nothing else but an id", len(events)+1, block)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(data)))
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", len(events)+1, err)
		}
		events = append(events, node{"event": name, "data": value})
		ends = append(ends, name == "done" || name == "error" || name == "job" && hasEnded(value))
	}
	return events, oneEnd(ends)
}

// hasEnded says whether an event is of a job that has ended.
func hasEnded(data any) bool {
	job, _ := child(data, "job").(node)
	return job["state"] == "done" || job["state"] == "failed" || job["state"] == "cancelled"
}

// oneEnd wants the last item, and no other, to end a stream.
func oneEnd(ends []bool) error {
	for i, end := range ends {
		if last := i == len(ends)-1; end != last {
			return fmt.Errorf("item %d of %d: only the last one ends the stream, and it has to", i+1, len(ends))
		}
	}
	return nil
}
