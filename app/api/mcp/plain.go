package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dragoman/app/text/excerpt"
)

// answerWriter and plainWriter remove Go's types from the SDK's answers, where the SDK describes messages that it cannot read.
// The SDK writes each answer at once.
type (
	answerWriter struct{ http.ResponseWriter } // for an answer that may be the text of an error
	plainWriter  struct{ io.Writer }
)

// inGo matches the SDK's descriptions of types, in the text of an error and in a JSON string.
var (
	inGo     = regexp.MustCompile(`(?:unmarshaling|invalid ID type|json:) .*`)
	inString = regexp.MustCompile(`(?:unmarshaling|invalid ID type|json:) (?:[^"\\]|\\.)*`)
)

const unreadable = "this is not JSON, or a value has another type than the protocol says"

// mostTold is the maximum length of a message repeated in an error, in bytes.
const mostTold = 1000

// shortened returns a message, or its beginning.
func shortened(message string) string {
	if len(message) > mostTold {
		return excerpt.Of(message)
	}
	return message
}

// brief shortens errors that repeat parts of a message.
func brief(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && len(wire.Message)+len(wire.Data) > mostTold {
			err = &jsonrpc.Error{Code: wire.Code, Message: shortened(wire.Message)}
		}
		if call, ok := result.(*mcp.CallToolResult); ok && call != nil && call.IsError {
			for _, content := range call.Content {
				if text, ok := content.(*mcp.TextContent); ok {
					text.Text = shortened(text.Text)
				}
			}
		}
		return result, err
	}
}

func (w answerWriter) Write(answer []byte) (int, error) {
	if !bytes.HasPrefix(answer, []byte("{")) && !bytes.HasPrefix(answer, []byte("[")) {
		_, err := io.WriteString(w.ResponseWriter, shortened(inGo.ReplaceAllString(string(answer), unreadable)))
		return len(answer), err
	}
	return plainWriter{w.ResponseWriter}.Write(answer)
}

// Unwrap supports [http.ResponseController].
func (w answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w plainWriter) Write(answer []byte) (int, error) {
	plain := answer
	if bytes.Contains(answer, []byte(`"isError":true`)) || bytes.Contains(answer, []byte(`"error":{"code":`)) { // no translation: its quotes are escaped
		plain = inString.ReplaceAll(answer, []byte(unreadable))
	}
	_, err := w.Writer.Write(plain)
	return len(answer), err
}
