package segment

// Ends says whether the last sentence of a text is at its end, however the text goes on in another
// sentence: its end has a mark that is not the full stop of an abbreviation, or a line end is behind
// it. A text without a sentence has none that is not at its end. lang is as for [Split].
func Ends(text, lang string) bool {
	const another = "The" // in any script: a capital letter, and no abbreviation
	return countSentences(Split(text+" "+another, lang)) > countSentences(Split(text, lang))
}

func countSentences(pieces []Piece) (n int) {
	for _, p := range pieces {
		if p.Sentence {
			n++
		}
	}
	return n
}
