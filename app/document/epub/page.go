package epub

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"dragoman/app/document"
	"dragoman/app/document/textfile"
)

// maxPage is the maximum size of a page in bytes, and maxTags its maximum number of tags: each takes memory of its own.
const maxPage, maxTags = 8 << 20, 500_000

// pageByte is the memory that a byte of a page takes during rewriting, measured at 2 to 15.
const pageByte = 16

// check refuses a part that is too large, or not in UTF-8.
func check(name string, content []byte) error {
	switch {
	case len(content) > maxPage || bytes.Count(content, []byte("<")) > maxTags:
		return document.Refuse(nil, "%s is too large: %d MiB and %d tags are the most for a page", name, maxPage>>20, maxTags)
	case !utf8.Valid(content) || isOtherwiseEncoded(content):
		return document.Refuse(nil, "%s is not in UTF-8: save it so", name)
	}
	return nil
}

// page translates a page.
func page(ctx context.Context, out io.Writer, content []byte, o document.Options, t document.Translate) error {
	at := 0
	for _, cut := range append(emptyElement.FindAllIndex(content, -1), []int{len(content), len(content)}) {
		if err := textfile.Part(ctx, out, string(content[at:cut[0]]), false, o, t); err != nil {
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
