package segment

import "context"

// lasting is a context that does not end.
var lasting = context.Background()

// must is a result of a function that looks at a context which has not ended.
func must[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}
