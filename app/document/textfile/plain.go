package textfile

import "strings"

// lines is the kind of plain text: each line is a segment, as a line does not go on in the next one.
func lines(p *pass) error {
	start := 0
	for start < len(p.text) {
		end := len(p.text)
		if n := strings.IndexAny(p.text[start:], "\r\n"); n >= 0 {
			end = start + n
		}
		if err := p.value(start, end, p.text[start:end], oneLine); err != nil {
			return err
		}
		start = end + 1
	}
	return nil
}
