// Package cost is what things take of the memory that requests share, see [dragoman/app/guard/admission]: one table, in
// bytes, on the safe side. Each figure was measured, and a test of who uses it holds it to that: TestMemoryOfBodies of
// app/api/httpapi, TestMemoryOfARequest of app/translate, TestMemoryOfSessions of app/live. What a parser of documents
// takes is in the table of their kinds, in app/document/textfile.
package cost

// Of a request.
const (
	// BodyByte is for each byte of a body: what it is read into, and the copies that
	// parsing makes. Measured at 2.2 to 3.7.
	BodyByte = 4
	// textByte is for each byte of a text while its sentences are looked for, and
	// translationByte for each language until the answer is sent: the translation,
	// which may be longer, and its JSON.
	textByte, translationByte = 12, 8
	// Sentence is for one until it is answered, beside its text: what waits for it, its outcome, its place in the
	// answer. Measured at 400 to 700. Span is for each thing in it that is kept, measured at 150, and Alternative for
	// each other translation of it, beside its text.
	Sentence, Span, Alternative = 800, 200, 150
	// Term is for one that is looked for, beside twice its text, and StoredTerm for one of a glossary that is read,
	// beside its text.
	Term, StoredTerm = 160, 32
)

// Of jobs and documents.
const (
	// JobByte is for each byte of the body of a job: the parts of it that are stored.
	JobByte = 2
	// DocumentByte is for each byte of a document: copies of it while somebody goes through it.
	DocumentByte = 4
	// RecordByte is for each byte of a text that is found in a document, and Record for the text beside that.
	RecordByte, Record = 3, 128
)

// Of live text.
const (
	// Session is for a session beside its text, SessionByte for each byte of that, and SessionSign for each sign that
	// may end a sentence: the text several times, its sentences as they are cut with their translations, those that it
	// had before, and what clients are sent.
	Session, SessionByte, SessionSign = 16 << 10, 48, 1200
	// Remembered is for a translation that a session remembers, beside its texts.
	Remembered = 128
)

// Texts is for texts of so many bytes, translated into some languages, beside their sentences.
func Texts(bytes int64, languages int) int64 {
	return bytes * int64(textByte+languages*translationByte)
}

// Alternatives is for so many more translations of texts of so many bytes.
func Alternatives(bytes int64, translations int) int64 {
	return bytes * int64(translations*translationByte)
}
