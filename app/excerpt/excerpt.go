// Package excerpt bounds what messages and the log repeat of what somebody sent.
package excerpt

// Of returns the first 100 characters of a text, and a sign that there are more.
func Of(s string) string {
	const most = 100
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
