package dialect

import (
	"encoding/hex"
	"iter"
	"net/url"
	"strings"

	"dragoman/app/guard/body"
	"dragoman/app/text/excerpt"
)

// parseForm parses name=value pairs, in a query or a form.
func parseForm(raw string) (url.Values, error) {
	if n := strings.Count(raw, "&") + 1; n > maxPairs {
		return nil, Refuse("Invalid request: the form has %d fields, at most %d are allowed", n, maxPairs)
	}
	values := url.Values{}
	for name, value := range pairs(raw) {
		values[name] = append(values[name], value)
	}
	return values, nil
}

// firstOf returns the first value of a name in a query, or "".
func firstOf(query, name string) string {
	for other, value := range pairs(query) {
		if other == name {
			return value
		}
	}
	return ""
}

func parseMultipart(raw []byte, boundary string) (url.Values, []body.File, error) {
	form, err := body.ParseForm(raw, boundary)
	if err != nil {
		return nil, nil, Refuse("Invalid request: %s", excerpt.Of(err.Error()))
	}
	return form.Values, form.Files, nil
}

// pairs parses name=value pairs as the original servers do: invalid encoding, such as the percent sign in "q=100% sure", is kept
// unchanged. net/url would drop such a pair, and any pair with a semicolon.
func pairs(raw string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for pair := range strings.SplitSeq(raw, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if pair != "" && !yield(unescape(name), unescape(value)) {
				return
			}
		}
	}
}

// unescape decodes "+", and each "%" before two hexadecimal digits.
func unescape(s string) string {
	if !strings.ContainsAny(s, "+%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			out = append(out, ' ')
			continue
		case '%':
			if i+2 < len(s) {
				var b [1]byte
				if _, err := hex.Decode(b[:], []byte(s[i+1:i+3])); err == nil { // hex.Decode's errors do not allocate
					out = append(out, b[0])
					i += 2
					continue
				}
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}
