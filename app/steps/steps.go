// Package steps counts the work of code that was instrumented by package steptest. Only
// instrumented copies of packages import it, so it costs a service nothing.
package steps

// Count is the number of steps so far: turns of loops, functions called, and
// bytes and elements that the standard library looked at. It is not safe for concurrent use.
var Count int

// Text counts the length of a text that is looked at or copied.
func Text[S ~string](text S) S {
	Count += len(text)
	return text
}

// List counts the length of a slice that is looked at or copied.
func List[L ~[]E, E any](list L) L {
	Count += len(list)
	return list
}

// Until counts what a search from the start, such as strings.Index, looks at.
func Until[A ~string | ~[]byte, B any](search func(A, B) int) func(A, B) int {
	return func(a A, b B) int {
		i := search(a, b)
		if i < 0 {
			Count += len(a)
		} else {
			Count += i + 1
		}
		return i
	}
}

// Back counts what a search from the end, such as strings.LastIndex, looks at.
func Back[A ~string | ~[]byte, B any](search func(A, B) int) func(A, B) int {
	return func(a A, b B) int {
		i := search(a, b)
		Count += len(a) - max(i, 0)
		return i
	}
}

// Cut counts what a function such as strings.TrimLeft takes away.
func Cut[A ~string | ~[]byte, B any](trim func(A, B) A) func(A, B) A {
	return func(a A, b B) A {
		rest := trim(a, b)
		Count += len(a) - len(rest) + 1
		return rest
	}
}
