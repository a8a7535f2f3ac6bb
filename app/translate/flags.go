package translate

// Flags say what looks wrong with a translation after all retries. They are a set;
// of two flags the more serious one has the larger value.
type Flags uint8

// The flags.
const (
	SourceEcho     Flags = 1 << iota // the translation is the source
	GlossaryMissed                   // a term of the glossary is not there as often as in the source
	WrongScript                      // it is not written in a script of the target language
	Loop                             // it repeats itself where the source does not
	Empty                            // it has no text, although the source has
	MarkupLost                       // a number, also in words, a placeholder, identifier, tag or the like is missing, changed or there twice
	Truncated                        // it reached the limit of tokens before its end
	// UnsupportedSource means that there is none: the text is in a language that no model translates from.
	UnsupportedSource
)

// flagNames are the names of the flags, from bit 0 on.
var flagNames = [...]string{"source_echo", "glossary_missed", "wrong_script", "loop", "empty", "markup_lost", "truncated", "unsupported_source"}

// Has says whether all flags of f are set.
func (s Flags) Has(f Flags) bool { return s&f == f }

// Names returns the names of the flags that are set, the most serious first; it is
// never nil.
func (s Flags) Names() []string {
	names := []string{}
	for bit := len(flagNames) - 1; bit >= 0; bit-- {
		if s.Has(1 << bit) {
			names = append(names, flagNames[bit])
		}
	}
	return names
}

// FlagNames returns the names of all flags.
func FlagNames() []string { return Flags(1<<len(flagNames) - 1).Names() }
