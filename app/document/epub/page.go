package epub

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/document/textfile"
)

// maxPage is the maximum size of a page in bytes, and maxTags its maximum number of tags: each takes memory of its own.
const maxPage, maxTags = 8 << 20, 500_000

// pageByte is the memory that a byte of a page takes during rewriting, measured at 2 to 15.
const pageByte = 16

// paying takes memory of ctx's request for the bytes read.
type paying struct {
	ctx   context.Context
	in    io.Reader
	taken int64
}

// Read implements [io.Reader].
func (p *paying) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	if full := budget.Take(p.ctx, int64(n)*pageByte); full != nil {
		return 0, full
	}
	p.taken += int64(n) * pageByte
	return n, err
}

func (r rewriter) page(out io.Writer, in io.Reader, name string) error {
	paid := &paying{ctx: r.ctx, in: in}
	defer func() { budget.Give(r.ctx, paid.taken) }()
	content, err := io.ReadAll(io.LimitReader(paid, maxPage+1))
	switch {
	case err != nil:
		return err
	case len(content) > maxPage || bytes.Count(content, []byte("<")) > maxTags:
		return document.Refuse(nil, "%s is too large: %d MiB and %d tags are the most for a page", name, maxPage>>20, maxTags)
	case !utf8.Valid(content) || isOtherwiseEncoded(content):
		return document.Refuse(nil, "%s is not in UTF-8: save it so", name)
	}
	at := 0
	for _, cut := range append(emptyElement.FindAllIndex(content, -1), []int{len(content), len(content)}) {
		if err := textfile.Page(r.ctx, out, string(content[at:cut[0]]), r.options, r.translate); err != nil {
			return err
		}
		if _, err := out.Write(content[cut[0]:cut[1]]); err != nil {
			return err
		}
		at = cut[1]
	}
	return nil
}

// emptyElement matches elements that XML may close in themselves, but that HTML reads up to an end tag as text.
var emptyElement = regexp.MustCompile(`(?i)<(?:script|style|title|textarea|iframe|noembed|noframes|noscript|xmp|plaintext)(?:\s[^<>]*)?/>`)

// isOtherwiseEncoded reports whether a page declares an encoding other than UTF-8.
func isOtherwiseEncoded(content []byte) bool {
	m := declaration.FindSubmatch(content)
	return m != nil && !strings.EqualFold(string(m[1]), "utf-8")
}

var declaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*encoding\s*=\s*["']([^"'>]*)["']`)
