package mcp

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
)

// answerWriter and plainWriter write answers in which the SDK does not tell of Go's types, as it does of messages that it cannot
// read. It writes each answer at once.
type (
	answerWriter struct{ http.ResponseWriter } // which may be an error's text
	plainWriter  struct{ io.Writer }
)

// inGo is what the SDK says of types, in an error's text and in a string of JSON.
var (
	inGo     = regexp.MustCompile(`(?:unmarshaling|invalid ID type|json:) .*`)
	inString = regexp.MustCompile(`(?:unmarshaling|invalid ID type|json:) (?:[^"\\]|\\.)*`)
)

const unreadable = "this is not JSON, or a value has another type than the protocol says"

func (w answerWriter) Write(answer []byte) (int, error) {
	if !bytes.HasPrefix(answer, []byte("{")) && !bytes.HasPrefix(answer, []byte("[")) {
		_, err := w.ResponseWriter.Write(inGo.ReplaceAll(answer, []byte(unreadable)))
		return len(answer), err
	}
	return plainWriter{w.ResponseWriter}.Write(answer)
}

// Unwrap is for [http.ResponseController].
func (w answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w plainWriter) Write(answer []byte) (int, error) {
	told := answer
	if bytes.Contains(answer, []byte(`"isError":true`)) || bytes.Contains(answer, []byte(`"error":{"code":`)) { // no translation has these: its quotes are escaped
		told = inString.ReplaceAll(answer, []byte(unreadable))
	}
	_, err := w.Writer.Write(told)
	return len(answer), err
}
