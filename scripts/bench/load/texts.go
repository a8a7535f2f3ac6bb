package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// record is a record of a request or, with its translation, of an answer.
type record struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// payload is the content of a request.
type payload struct {
	From    string   `json:"fromLang"`
	To      string   `json:"toLang"`
	Records []record `json:"records"`
}

// texts are the texts of each pair of languages.
type texts struct {
	pairs   []*pair
	records int // of a request
}

type pair struct {
	from, to string
	texts    []string
}

// readTexts reads a file of texts, for requests of a number of records.
func readTexts(path string, records int) (*texts, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &texts{records: records}
	known := map[string]*pair{}
	for i, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d: %d fields, expected from, to and text", path, i+1, len(fields))
		}
		key := fields[0] + "\t" + fields[1]
		if known[key] == nil {
			known[key] = &pair{from: fields[0], to: fields[1]}
			t.pairs = append(t.pairs, known[key])
		}
		known[key].texts = append(known[key].texts, fields[2])
	}
	return t, nil
}

// payload is that of request i. Pairs take turns.
func (t *texts) payload(i int) payload {
	p, turn := t.pairs[i%len(t.pairs)], i/len(t.pairs)
	out := payload{From: p.from, To: p.to, Records: make([]record, t.records)}
	for r := range out.Records {
		out.Records[r] = record{
			ID:   strconv.Itoa(i) + "-" + strconv.Itoa(r),
			Text: p.texts[(turn*t.records+r)%len(p.texts)],
		}
	}
	return out
}
