package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

const memoriesPath = "/memories"

// Memory describes a translation memory, without its entries. Requests name it by its id, see [Request.Memory].
type Memory struct {
	ID        string            `json:"id"` // chosen by its owner
	Created   time.Time         `json:"created"`
	Changed   time.Time         `json:"changed"`
	Entries   int               `json:"entryCount"`
	Languages []MemoryLanguages `json:"languages"`
}

// MemoryLanguages describes a translation memory's entries for two languages.
type MemoryLanguages struct {
	From    string `json:"from"` // codes of languages
	To      string `json:"to"`
	Entries int    `json:"entryCount"`
}

// Media types of files of translation memories.
const (
	TMX   = "application/x-tmx+xml"
	XLIFF = "application/xliff+xml"
)

// MemoryFile is a file of a translation memory.
type MemoryFile struct {
	Format   string // TMX, XLIFF, or TSV: a source, a tab and a target in each line
	Content  []byte
	From, To string // languages of TSV; of TMX only such entries are taken; "": all
	Keep     bool   // the present entries stay, unless the file has others with equal sources
}

// Imported tells what became of a file.
type Imported struct {
	Taken   int      `json:"taken"` // entries, including those with equal sources
	Skipped int      `json:"skipped"`
	Reasons []string `json:"reasons"` // why the first of them were skipped
}

// PutMemory makes a file a translation memory, in place of one with the same id. The content may be modified after PutMemory has
// returned. Errors are as for [Client.Translate]; a file that cannot be read has the code [CodeInvalidMemory].
func (c *Client) PutMemory(ctx context.Context, id string, f MemoryFile) (Memory, Imported, error) {
	query := url.Values{"from": {f.From}, "to": {f.To}}
	if f.Keep {
		query.Set("keep", strconv.FormatBool(true))
	}
	call := newCall(memoryPath(id) + queryString(query))
	call.method, call.body, call.media, call.also = "PUT", append([]byte{}, f.Content...), f.Format, http.StatusCreated
	type answer struct {
		Memory Memory   `json:"memory"`
		Import Imported `json:"import"`
	}
	read, err := ask(ctx, c.transport, call, decode[answer])
	if err == nil && read.Memory.ID == "" {
		err = invalid("the translation memory has no id")
	}
	return read.Memory, read.Import, err
}

// MemoryEntry is a source and its translation.
type MemoryEntry struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// AddToMemory adds entries to a translation memory, which is made if it does not exist. An entry takes the place of one with an
// equal source.
func (c *Client) AddToMemory(ctx context.Context, id, from, to string, entries ...MemoryEntry) (Memory, error) {
	raw, err := json.Marshal(map[string]any{"from": from, "to": to, "entries": entries})
	if err != nil {
		return Memory{}, fmt.Errorf("client: the entries cannot be written as JSON: %w", err)
	}
	call := newCall(memoryPath(id) + "/entries")
	call.method, call.body, call.also = "POST", raw, http.StatusCreated
	return ask(ctx, c.transport, call, readMemory)
}

// Memories returns the translation memories of this client's key, the newest first.
func (c *Client) Memories(ctx context.Context) ([]Memory, error) {
	answer, err := get[struct {
		Memories []Memory `json:"memories"`
	}](ctx, c.transport, memoriesPath)
	return answer.Memories, err
}

// Memory returns the description of a translation memory. It fails with code [CodeUnknownMemory] if there is none.
func (c *Client) Memory(ctx context.Context, id string) (Memory, error) {
	return ask(ctx, c.transport, newCall(memoryPath(id)), readMemory)
}

func readMemory(raw []byte) (Memory, error) {
	answer, err := decode[struct {
		Memory Memory `json:"memory"`
	}](raw)
	if err == nil && answer.Memory.ID == "" {
		err = invalid("the translation memory has no id")
	}
	return answer.Memory, err
}

// ExportMemory returns the entries of a translation memory as TMX 1.4b.
func (c *Client) ExportMemory(ctx context.Context, id string) ([]byte, error) {
	call := newCall(memoryPath(id) + "/entries")
	call.accept = TMX
	return ask(ctx, c.transport, call, unparsed)
}

// DeleteFromMemory removes the entry for a source.
func (c *Client) DeleteFromMemory(ctx context.Context, id, from, to, source string) error {
	return c.remove(ctx, memoryPath(id)+"/entries"+queryString(url.Values{"from": {from}, "to": {to}, "text": {source}}), CodeNotFound)
}

// DeleteMemory removes a translation memory.
func (c *Client) DeleteMemory(ctx context.Context, id string) error {
	return c.remove(ctx, memoryPath(id), CodeUnknownMemory)
}

func memoryPath(id string) string { return memoriesPath + "/" + url.PathEscape(id) }
