package markup

// Translated returns a translation of the sentence as a sentence of the same form, with what
// must be kept of it found again.
func (s Sentence) Translated(translation string) Sentence {
	if s.format == Text {
		return Parse(translation, Text)
	}
	return HTMLPiece{Raw: translation, Unit: true, format: s.format}.Parse()
}
