package translate

import "dragoman/model/prompt"

// Flags are the faults of a translation that remain after all retries, as a set. The more serious of two flags has the larger
// value.
type Flags uint16

// The flags.
const (
	SourceEcho     Flags = 1 << iota // the translation equals the source
	GlossaryMissed                   // a glossary term occurs less often than in the source
	WrongScript                      // the translation is not in a script of the target language
	WrongLanguage                    // the translation is in another language than the target language
	Loop                             // the translation repeats itself, and the source does not
	Chatter                          // the answer of a language model has text beside the translation that cannot be told from it
	Empty                            // the translation has no text, and the source has
	MarkupLost                       // a number, also in words, a placeholder, an identifier, a tag or another span is missing, changed or repeated
	Truncated                        // the translation reached the limit of tokens before its end
	// Refused means that there is no translation: a language model has answered the text, or refused to translate it.
	Refused
	// UnsupportedSource means that there is no translation: the text is in a language that no model translates from.
	UnsupportedSource
	TooShort // the translation ends far too early: it is much shorter than the source
)

// flagNames are the names of the flags, from bit 0 on.
var flagNames = [...]string{"source_echo", "glossary_missed", "wrong_script", "wrong_language", "loop", "chatter", "empty",
	"markup_lost", "truncated", "refused", "unsupported_source", "too_short"}

// faultFlags are the flags of the faults that engines report.
var faultFlags = map[prompt.Fault]Flags{prompt.Refused: Refused, prompt.Chatter: Chatter, prompt.OtherLanguage: WrongLanguage}

// Has reports whether all flags of f are set.
func (s Flags) Has(f Flags) bool { return s&f == f }

// Names returns the names of the set flags, the most serious first; it is never nil.
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
