package memory

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
)

const (
	maxID   = 64
	maxText = 16 << 10 // bytes of a source, and of a target
	// MaxAdded is the maximum number of entries of a request that adds some: each may touch a dozen blocks.
	MaxAdded = 500
	// maxParts is the maximum number of pairs of languages of a memory.
	maxParts = 100
)

// Limits are the limits of memories.
type Limits struct {
	Entries  int   // of a memory
	Bytes    int64 // of an uploaded file
	PerOwner int   // number of memories
}

// checkCount fails if a memory has too many entries.
func (l Limits) checkCount(entries int) error {
	if entries > l.Entries {
		return fault.New(fault.TooLarge, "", "the translation memory would have more than %d entries: divide it between several ones", l.Entries)
	}
	return nil
}

// checkID fails on an invalid id.
func checkID(id string) error {
	valid := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r))
	}
	if id == "" || len(id) > maxID || strings.Trim(id, ".") == "" || strings.ContainsFunc(id, func(r rune) bool { return !valid(r) }) {
		return ErrID
	}
	return nil
}

// tidy normalizes an entry for storage: NFC, without white space at the ends. reason tells why the entry cannot be stored, "" if
// it can.
func (e *Entry) tidy() (reason string) {
	for _, side := range []struct {
		name string
		text *string
	}{{"source", &e.Source}, {"target", &e.Target}} {
		if !utf8.ValidString(*side.text) {
			return fmt.Sprintf("the %s is not UTF-8", side.name)
		}
		*side.text = nfc(strings.TrimSpace(*side.text))
		switch text := *side.text; {
		case text == "":
			return fmt.Sprintf("the %s is empty", side.name)
		case len(text) > maxText:
			return fmt.Sprintf("the %s has %d bytes, at most %d are allowed", side.name, len(text), maxText)
		case strings.ContainsFunc(text, isControl):
			return fmt.Sprintf("the %s %q has a control character", side.name, excerpt.Of(text))
		}
	}
	return ""
}

// isControl reports whether a character may be in no entry. Blocks use zero bytes as separators.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }
