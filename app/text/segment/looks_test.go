package segment

import "context"

// lasting is a context that never ends.
var lasting = context.Background()

// must returns the result of a function whose context has not ended.
func must[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}
