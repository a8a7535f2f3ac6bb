package contracttest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Streams are described by schemas for the list of their lines, or events.

// parseLines converts newline-delimited JSON to a list of values, the last of which ends the stream.
func parseLines(body []byte) (any, error) {
	return parseStream(body, "\n", "line", func(line string) (value any, end bool, err error) {
		value, err = jsonschema.UnmarshalJSON(strings.NewReader(line))
		o, _ := value.(object)
		_, done := o["done"]
		_, failed := o["error"]
		return value, done || failed, err
	})
}

// parseEvents converts server-sent events to a list of objects with event and data, the last of which ends the stream.
func parseEvents(body []byte) (any, error) {
	return parseStream(body, "\n\n", "event", func(event string) (value any, end bool, err error) {
		if id, rest, _ := strings.Cut(event, "\n"); strings.HasPrefix(id, "id: ") {
			event = rest
		}
		first, second, _ := strings.Cut(event, "\n")
		name, named := strings.CutPrefix(first, "event: ")
		data, filled := strings.CutPrefix(second, "data: ")
		if !named || !filled || strings.Contains(data, "\n") {
			return nil, false, fmt.Errorf("it is %.80q, want a line with event: and a line with data:, and nothing else but an id", event)
		}
		value, err = jsonschema.UnmarshalJSON(strings.NewReader(data))
		state, _ := find(object{"data": value}, "/data/job/state").(string)
		ended := state == "done" || state == "failed" || state == "cancelled"
		return object{"event": name, "data": value}, name == "done" || name == "error" || name == "job" && ended, err
	})
}

// parseStream converts a stream to the list of its items. The last item, and no other, must end it.
func parseStream(body []byte, end, what string, parse func(item string) (value any, end bool, err error)) (any, error) {
	text, whole := strings.CutSuffix(string(body), end)
	if !whole {
		return nil, errors.New("the last " + what + " has no end")
	}
	var list []any
	items := strings.Split(text, end)
	for i, item := range items {
		value, ends, err := parse(item)
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", what, i+1, err)
		}
		if ends != (i == len(items)-1) {
			return nil, fmt.Errorf("%s %d of %d: only the last one ends the stream, and it has to", what, i+1, len(items))
		}
		list = append(list, value)
	}
	return list, nil
}
