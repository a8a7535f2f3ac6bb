// Package mcp offers translation to language models and agents over the Model Context Protocol, with its official SDK: tools with
// schemas, on standard input and output (dragoman mcp) and as streamable HTTP at /mcp.
//
// A tool call is a request to the service's own HTTP API, by [client.Client]: keys, limits, charges, metrics and errors are the
// same as for all requests. At /mcp the request stays in the process, see [Handler].
package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dragoman/app/client"
)

// Config is the configuration of the tools.
type Config struct {
	Version string
	Client  *client.Client
	// Files reports whether translate_document reads and writes files of this machine by their paths: set it for an agent that
	// has the rights of the process anyway. Otherwise the calls have the contents.
	Files bool
	// Ready waits until the service accepts requests; nil: it always does.
	Ready func(ctx context.Context) error
}

// instructions describe the tools to a model.
const instructions = "Translates texts and documents with dragoman, a machine translation service. Call list_languages " +
	"to see which languages there are. Leave out from where the source language is not known: it is detected. Send all texts of a task in one call."

// New returns a server with the tools.
func New(cfg Config) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "dragoman", Title: "dragoman", Version: cfg.Version}, &mcp.ServerOptions{Instructions: instructions})
	t := tools{cfg.Client}
	s.AddReceivingMiddleware(brief)
	if cfg.Ready != nil {
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == "tools/call" {
					if err := cfg.Ready(ctx); err != nil {
						return nil, err
					}
				}
				return next(ctx, method, req)
			}
		})
	}
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}
	addTool(s, mcp.Tool{Name: "translate", Description: "Translates texts into a language.", Annotations: reads}, t.translate)
	addTool(s, mcp.Tool{Name: "detect_language", Description: "Says which languages texts are in.", Annotations: reads}, t.detect)
	addTool(s, mcp.Tool{Name: "list_languages", Description: "Lists the languages, and which each can be translated into.", Annotations: reads}, t.languages)
	const document = "Translates a document (docx, xlsx, pptx, odt, epub, html, md, srt, po, xliff, json and others). Layout, styles and links stay. "
	if cfg.Files {
		addTool(s, mcp.Tool{Name: "translate_document", Description: document + "Writes the translation beside the file and returns its path.",
			Annotations: &mcp.ToolAnnotations{OpenWorldHint: new(bool), DestructiveHint: new(bool)}}, t.file)
	} else {
		addTool(s, mcp.Tool{Name: "translate_document", Description: document + "Returns its content as a resource.", Annotations: reads}, t.document)
	}
	return s
}

type tools struct{ client *client.Client }

// direction has the languages of a call.
type direction struct {
	To    string `json:"to" jsonschema:"code or name of the language to translate into, such as fr, zh-Hans or French"`
	From  string `json:"from,omitempty" jsonschema:"code or name of the language of the text; it is detected where this is missing"`
	Model string `json:"model,omitempty" jsonschema:"name of a model of the service; the first that has the languages where this is missing"`
}

// languages returns the codes of the languages.
func (d direction) languages() (from, to string) {
	if from = code(d.From); from == "" {
		from = client.Auto
	}
	return from, code(d.To)
}

type translateInput struct {
	direction
	Texts  []string          `json:"texts" jsonschema:"the texts to translate"`
	Format string            `json:"format,omitempty" jsonschema:"text, html or xml; text where it is missing"`
	Terms  map[string]string `json:"terms,omitempty" jsonschema:"terms of the texts and what they become"`
}

type translateOutput struct {
	Translations []translation `json:"translations" jsonschema:"in the order of the texts"`
}

type translation struct {
	Text string `json:"text"`
	From string `json:"from" jsonschema:"code of the language of the text; empty where none could be detected"`
	// Flags are the service's doubts.
	Flags []string `json:"flags,omitempty" jsonschema:"what to check in this translation: numbers that differ, or truncated, where its end is missing"`
}

func (t tools) translate(ctx context.Context, in translateInput) (translateOutput, []mcp.Content, error) {
	req := client.Request{Model: in.Model, Format: in.Format, Detail: true}
	req.From, req.To = in.languages()
	for _, text := range in.Texts {
		req.Records = append(req.Records, client.Record{Text: text})
	}
	for source, target := range in.Terms {
		req.Terms = append(req.Terms, client.Term{Source: source, Target: target})
	}
	results, err := t.client.Translate(ctx, req)
	if err != nil {
		return translateOutput{}, nil, err
	}
	out := translateOutput{Translations: make([]translation, 0, len(results))}
	for _, r := range results {
		found := translation{Text: r.Text}
		if d := r.Detail; d != nil {
			found.From, found.Flags = d.From, d.Flags
		}
		out.Translations = append(out.Translations, found)
	}
	return out, nil, nil
}

type detectInput struct {
	Texts []string `json:"texts" jsonschema:"the texts"`
}

type detectOutput struct {
	Languages []detected `json:"languages" jsonschema:"in the order of the texts"`
}

type detected struct {
	Language   string  `json:"language" jsonschema:"code of the language; empty where there is none"`
	Confidence float64 `json:"confidence" jsonschema:"from 0 to 1"`
}

func (t tools) detect(ctx context.Context, in detectInput) (detectOutput, []mcp.Content, error) {
	found, err := t.client.Detect(ctx, in.Texts)
	out := detectOutput{make([]detected, 0, len(found))}
	for _, d := range found {
		out.Languages = append(out.Languages, detected(d))
	}
	return out, nil, err
}

type languagesInput struct {
	Model string `json:"model,omitempty" jsonschema:"name of a model of the service; all where this is missing"`
}

type languagesOutput struct {
	Languages []offered `json:"languages"`
}

type offered struct {
	Code    string   `json:"code"`
	Name    string   `json:"name" jsonschema:"in English"`
	Targets []string `json:"targets" jsonschema:"codes of the languages that it can be translated into"`
}

func (t tools) languages(ctx context.Context, in languagesInput) (languagesOutput, []mcp.Content, error) {
	all, err := t.client.Languages(ctx, in.Model)
	out := languagesOutput{make([]offered, 0, len(all))}
	for _, l := range all {
		out.Languages = append(out.Languages, offered{l.Code, l.Name, l.Targets})
	}
	return out, nil, err
}

type documentInput struct {
	direction
	Name    string `json:"name" jsonschema:"name of the file, such as letter.docx: its ending says what it is"`
	Content string `json:"content" jsonschema:"the file in base64"`
}

type documentOutput struct {
	Name string `json:"name" jsonschema:"name of the translated file"`
}

func (t tools) document(ctx context.Context, in documentInput) (documentOutput, []mcp.Content, error) {
	raw, err := base64.StdEncoding.DecodeString(in.Content)
	if err != nil {
		return documentOutput{}, nil, fmt.Errorf("content is not base64: %w", err)
	}
	content, name, err := t.rewrite(ctx, in.direction, in.Name, raw)
	if err != nil {
		return documentOutput{}, nil, err
	}
	file := &mcp.ResourceContents{URI: (&url.URL{Scheme: "dragoman", Path: "/documents/" + name}).String(), MIMEType: mime.TypeByExtension(path.Ext(name)), Blob: content}
	if utf8.Valid(content) { // as the protocol has texts
		file.Text, file.Blob = string(content), nil
	}
	if file.MIMEType == "" {
		file.MIMEType, _, _ = strings.Cut(http.DetectContentType(content), ";")
	}
	return documentOutput{name}, []mcp.Content{&mcp.EmbeddedResource{Resource: file}}, nil
}

type fileInput struct {
	direction
	Path   string `json:"path" jsonschema:"path of the file"`
	Output string `json:"output,omitempty" jsonschema:"path to write the translation to; letter.fr.docx beside letter.docx where this is missing"`
}

type fileOutput struct {
	Path string `json:"path" jsonschema:"path of the translated file"`
}

func (t tools) file(ctx context.Context, in fileInput) (fileOutput, []mcp.Content, error) {
	raw, err := os.ReadFile(in.Path)
	if err != nil {
		return fileOutput{}, nil, err
	}
	content, name, err := t.rewrite(ctx, in.direction, filepath.Base(in.Path), raw)
	if err != nil {
		return fileOutput{}, nil, err
	}
	if in.Output == "" {
		in.Output = filepath.Join(filepath.Dir(in.Path), name)
	}
	out, err := os.OpenFile(in.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fileOutput{}, nil, fmt.Errorf("%s is there already: name another file as output", in.Output)
	}
	if err != nil {
		return fileOutput{}, nil, err
	}
	_, err = out.Write(content)
	if err = errors.Join(err, out.Close()); err != nil {
		err = errors.Join(err, os.Remove(in.Output))
	}
	return fileOutput{in.Output}, nil, err
}

// rewrite translates a document, and returns it with its new name.
func (t tools) rewrite(ctx context.Context, d direction, name string, content []byte) (translated []byte, as string, err error) {
	from, to := d.languages()
	job, err := t.client.SubmitDocument(ctx, client.Document{From: from, To: to, Model: d.Model, Name: name, Content: content, Priority: client.PriorityNormal}, client.SubmitOptions{})
	if err != nil {
		return nil, "", err
	}
	translated, err = job.Document(ctx)
	_ = job.Cancel(context.WithoutCancel(ctx)) // only this function knows the job; Cancel removes a job that has ended
	if err != nil {
		return nil, "", err
	}
	return translated, resultName(name, to), nil
}

// resultName returns the name of a translated file, for example letter.fr.docx, without the sender's folders.
func resultName(name, to string) string {
	name = path.Base(path.Clean("/" + strings.ReplaceAll(strings.Map(printable, name), `\`, "/")))
	if name = strings.Trim(name, "/. "); name == "" {
		name = "document"
	}
	end := path.Ext(name)
	return strings.TrimSuffix(name, end) + "." + path.Base(to) + end
}

// printable returns r, or -1 for characters that no file name should have.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return -1
	}
	return r
}

// Handler serves the tools as streamable HTTP, without sessions: requests are independent. The tools call the service's routes in
// the process, on behalf of the request's sender.
func Handler(version string, routes http.Handler, maxBody int64) http.Handler {
	caller, err := client.New(client.Config{
		URL: "http://localhost", HTTPClient: &http.Client{Transport: &local{routes}}, Retries: -1, MaxResponseBytes: math.MaxInt64, UserAgent: "dragoman-mcp",
	})
	if err != nil {
		panic(err) // an error can only come from the constants above
	}
	s := New(Config{Version: version, Client: caller})
	tools := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
		DisableLocalhostProtection: true, // access.Sites checks hosts and pages instead
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(sentBy(r))
		if raw, err := io.ReadAll(r.Body); err == nil { // otherwise the SDK reads the same error
			if what := crowded(raw); what != "" {
				http.Error(w, what, http.StatusBadRequest)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(raw))
		}
		tools.ServeHTTP(answerWriter{w}, r)
	})
}

// mostMessages is the maximum number of messages in a batch, which the SDK answers concurrently; mostTokens the maximum number of
// values and names in a body, because the SDK and the client take 600 bytes to read each.
const mostMessages, mostTokens = 100, 100_000

// crowded returns the reason why a body has too many parts to be read, or "".
func crowded(raw []byte) string {
	in := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for tokens := 0; ; tokens++ {
		if _, err := in.ReadToken(); err != nil {
			return "" // the SDK reports the syntax error
		}
		if tokens == mostTokens {
			return fmt.Sprintf("the message has more than %d values: send several", mostTokens)
		}
		if in.StackDepth() == 0 {
			continue
		}
		if kind, n := in.StackIndex(1); kind == '[' && n > mostMessages {
			return fmt.Sprintf("the batch has more than %d messages: send several", mostMessages)
		}
	}
}

// Serve serves the tools on an input and an output until the input, the output or ctx ends.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	return s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{plainWriter{out}}})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
