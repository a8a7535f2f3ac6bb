package textfile

import "dragoman/app/wrap"

// balance shares a text between at most n lines so that the longest is as short as can be. mayStart says
// whether a line may start with a word.
func balance(text string, n int, mayStart func(word string) bool) []string {
	list := wrap.Atoms(text, true)
	high := 0
	for _, a := range list {
		high += a.Width + 1
	}
	low := 1
	for low < high { // the least width at which n lines do
		if middle := (low + high) / 2; len(wrap.Fill(list, middle, mayStart)) <= n {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return wrap.Fill(list, high, mayStart)
}
