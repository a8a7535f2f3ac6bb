package language

// Judge tells whether a text is in one language or in another one. The zero value is ready for use, by one goroutine at a time.
type Judge struct {
	detectors map[[2]string]Detector
}

// sure is the confidence from which the detected language of a text counts: single words such as Conclusion are below it.
const sure = 0.75

// IsIn reports whether a text is surely in the language of a code rather than in another one. Without rules of detection for both, it is
// not.
func (j *Judge) IsIn(text, code, other string) bool {
	pair := [2]string{Base(other), Base(code)}
	d, ok := j.detectors[pair]
	if !ok {
		d, _ = NewDetector(DetectorConfig{Languages: pair[:]}) // nil without rules
		if j.detectors == nil {
			j.detectors = map[[2]string]Detector{}
		}
		j.detectors[pair] = d
	}
	if d == nil {
		return false
	}
	found, confidence, ok := d.Detect(text)
	return ok && confidence >= sure && Group(found) == Group(code)
}
