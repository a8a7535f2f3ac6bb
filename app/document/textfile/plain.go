package textfile

// lines is the kind of plain text: each line is a segment, as a line does not go on in the next one.
func lines(p *pass) error {
	for l := range linesIn(p.text, "\r\n") {
		if err := p.value(l.start, l.end, p.text[l.start:l.end], oneLine); err != nil {
			return err
		}
	}
	return nil
}
