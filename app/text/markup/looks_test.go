package markup

import "context"

// lasting is a context that does not end.
var lasting = context.Background()

// must is a result of a function that looks at a context which has not ended, must2 are two.
func must[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}

func must2[T, U any](a T, b U, err error) (T, U) {
	if err != nil {
		panic(err)
	}
	return a, b
}

// read parses a text in no language.
func read(text string, format Format) Sentence {
	return must(must(Parse(lasting, text, format)).In(lasting, ""))
}
