//go:build unix

package server

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/translate"
)

// pages is the number of pages of BenchmarkDocument's document, with pageCharacters each.
const pages, pageCharacters = 500, 2000

// BenchmarkDocument compares the cost of both passes over a document with the cost of its translation, measured on a 25th of the
// texts.
func BenchmarkDocument(b *testing.B) {
	const share = 25
	cfg, log, err := cli.Configure(environment("CACHE_BYTES=0"), io.Discard)
	require.NoError(b, err)
	cfg.MaxRecords, cfg.MaxChars, cfg.MaxSentences, cfg.MaxTokens = math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt
	p := &program{environ: environment(), stderr: io.Discard, loadRuntime: loadRuntime}
	t, err := p.loader(cfg, log).load(b.Context(), nil)
	require.NoError(b, err)
	defer func() { require.NoError(b, t.Close()) }()

	for name, content := range map[string][]byte{"book.txt": []byte(strings.Join(paragraphs(), "\n\n")), "book.docx": bookOfWord(b, paragraphs())} {
		b.Run(name, func(b *testing.B) {
			kind, err := kinds.Find(name, "", content[:min(len(content), kinds.Head)])
			require.NoError(b, err)
			for range b.N {
				var texts []string
				begun := cpuTime(b)
				o := document.Options{From: "en", To: "fr"}
				require.NoError(b, document.Texts(b.Context(), kind, bytes.NewReader(content), int64(len(content)), o, func(text string, isNew bool) error {
					if isNew {
						texts = append(texts, text)
					}
					return nil
				}))
				_, err := document.Put(b.Context(), io.Discard, kind, bytes.NewReader(content), int64(len(content)), o, func(text string) (string, error) {
					return strings.ReplaceAll(text, "e", "E"), nil
				})
				require.NoError(b, err)
				path := cpuTime(b) - begun
				some := texts[:len(texts)/share]
				begun = cpuTime(b)
				request := translate.Request{From: "en", To: []string{"fr"}, Format: translate.FormatOf(kind.Form)}
				for _, text := range some {
					request.Records = append(request.Records, translate.Record{Text: text})
				}
				_, err = t.service.Translate(context.Background(), request)
				require.NoError(b, err)
				translation := (cpuTime(b) - begun) * time.Duration(share)
				b.ReportMetric(path.Seconds(), "path-s")
				b.ReportMetric(translation.Seconds(), "translation-s")
				b.ReportMetric(100*path.Seconds()/translation.Seconds(), "path-%")
			}
		})
	}
}

// paragraphs returns the paragraphs of a book, all different.
func paragraphs() (list []string) {
	for n, characters := 0, 0; characters < pages*pageCharacters; n++ {
		text := fmt.Sprintf("It is day %d, and we went to the station to see the trains. The house is old, but it has %d windows. "+
			"My friend has a small dog, which likes to run in the garden. I read %d books this year.", n, n%90+2, n%40+3)
		list = append(list, text)
		characters += len(text)
	}
	return list
}

// bookOfWord returns a docx whose paragraphs have a word in bold.
func bookOfWord(b *testing.B, paragraphs []string) []byte {
	const namespace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	var body strings.Builder
	for _, text := range paragraphs {
		before, after, _ := strings.Cut(text, "station")
		fmt.Fprintf(&body, `<w:p><w:r><w:t xml:space="preserve">%s</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>station</w:t></w:r><w:r><w:t xml:space="preserve">%s</w:t></w:r></w:p>`, before, after)
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document ` + namespace + `><w:body>` + body.String() + `</w:body></w:document>`},
	} {
		w, err := archive.Create(part[0])
		require.NoError(b, err)
		_, err = io.WriteString(w, part[1])
		require.NoError(b, err)
	}
	require.NoError(b, archive.Close())
	return out.Bytes()
}

// cpuTime returns the CPU time of the process.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
