package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"dragoman/app/client"
)

// printer prints translations: one line for each or, for texts with alternatives, a line for each alternative. The line of an
// alternative has the number of the text, from 1 on, the score and the translation, with tabs between them.
type printer struct {
	out   io.Writer
	json  bool // each line is an object
	texts int  // number so far
}

// printed is the line of a text in JSON.
type printed struct {
	Text         string               `json:"text"`
	Alternatives []client.Alternative `json:"alternatives,omitempty"`
}

func (o *printer) print(list []client.Result) error {
	var lines strings.Builder
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, r := range list {
		o.texts++
		if o.json {
			_ = encoder.Encode(printed{r.Text, r.Alternatives}) // a builder never fails
			continue
		}
		if len(r.Alternatives) == 0 {
			lines.WriteString(r.Text + "\n")
		}
		for _, a := range r.Alternatives {
			fmt.Fprintf(&lines, "%d\t%.4f\t%s\n", o.texts, a.Score, a.Text)
		}
	}
	_, err := io.WriteString(o.out, lines.String())
	return err
}
