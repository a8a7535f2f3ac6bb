// Package prompt has what a language model is told about a sentence. It is plain data; package prompt/profile makes requests of it.
package prompt

// Guide is what a language model is told beside the text.
type Guide struct {
	// Before are the source texts before the text, the nearest last.
	Before []string
	// Terms are the terms of the text, with the translations that must be used.
	Terms []Term
	// Examples are similar texts with their translations, the most similar first.
	Examples []Example
	// Try is the number of earlier tries, whose answers had the fault Fault.
	Try   int
	Fault Fault
}

// Term is a term and its translation; they are equal for a term that stays as it is.
type Term struct{ Source, Target string }

// Example is a text and its translation.
type Example struct{ Source, Target string }

// Fault is what is wrong with an answer, apart from the faults that translations of all models may have.
type Fault string

// The faults.
const (
	NoFault Fault = ""
	// Refused means that the model answered the text, or refused to translate it: there is no translation.
	Refused Fault = "refused"
	// Chatter means that there is text beside the translation that cannot be told from it: a note, an explanation, a question.
	Chatter Fault = "chatter"
	// Shortened means that the answer is far shorter than the text. No engine reports it: translate compares the lengths of all models.
	Shortened Fault = "shortened"
	// OtherLanguage means that the answer is in another language than the target language.
	OtherLanguage Fault = "other_language"
)
