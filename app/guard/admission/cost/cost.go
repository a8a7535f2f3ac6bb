// Package cost is a table of how much of the memory that requests share, see [dragoman/app/guard/admission], things take: in
// bytes, rounded up. Each figure was measured, and a test in the package that uses the figure checks it: TestMemoryOfBodies of
// app/api/httpapi, TestMemoryOfARequest of app/translate, TestMemoryOfSessions of app/live. The memory of parsers of documents is
// in the table of document kinds, in app/document/textfile.
package cost

// Memory of a request.
const (
	// BodyByte is the cost of each byte of a body: its buffer, and the copies that parsing makes. Measured at 2.2 to 3.7.
	BodyByte = 4
	// textByte is the cost of each byte of a text while it is split into sentences, and translationByte the cost for each
	// language until the answer is sent: the translation, which may be longer, and its JSON.
	textByte, translationByte = 12, 8
	// Sentence is the cost of one sentence until it is answered, besides its text: the state that waits for the sentence, its
	// outcome, its place in the answer. Measured at 400 to 700. Span is the cost of each preserved span in a sentence, measured
	// at 150, and Alternative the cost of each further translation of a sentence, besides the text of that.
	Sentence, Span, Alternative = 800, 200, 150
	// Term is the cost of a term of a request, besides twice its text, and StoredTerm the cost of a term of a stored glossary,
	// besides its text.
	Term, StoredTerm = 160, 32
)

// Memory of jobs and documents.
const (
	// JobByte is the cost of each byte of the body of a job: its stored parts.
	JobByte = 2
	// DocumentByte is the cost of each byte of a document: its copies during processing.
	DocumentByte = 4
	// RecordByte is the cost of each byte of a text found in a document, and Record the cost of such a text besides its bytes.
	RecordByte, Record = 3, 128
)

// Memory of live texts.
const (
	// Session is the cost of a session besides its text, SessionByte the cost of each byte of the text, and SessionSign the cost
	// of each sign that may end a sentence: several copies of the text, its current sentences with their translations, the
	// previous ones, and the data sent to clients.
	Session, SessionByte, SessionSign = 16 << 10, 48, 1200
	// Remembered is the cost of a translation that a session remembers, besides its texts.
	Remembered = 128
)

// Texts returns the cost of texts of some bytes, translated into some languages, besides their sentences.
func Texts(bytes int64, languages int) int64 {
	return bytes * int64(textByte+languages*translationByte)
}

// Alternatives returns the cost of that many more translations of texts of some bytes.
func Alternatives(bytes int64, translations int) int64 {
	return bytes * int64(translations*translationByte)
}
