package markup

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
)

// tokenizeXML cuts a document, or a part of one, into tokens. Joined, they are text[:end]. encoding/xml cannot be used: it
// refuses documents that are not well-formed and does not return the original bytes. Neither can the HTML tokenizer: it knows
// names in ASCII only, and elements without tags in them, such as title. A CDATA section is a text token; a processing
// instruction and a document type are comments.
func tokenizeXML(looks *char.Looks, text string) (tokens []Token, end int) {
	for end < len(text) {
		t := Token{Start: end, End: len(text), Kind: html.TextToken}
		rest := text[end:]
		switch {
		case !startsTag(rest):
			for at := 1; at < len(rest); at++ {
				next := strings.IndexByte(rest[at:], '<')
				if next < 0 {
					break
				}
				if at += next; startsTag(rest[at:]) {
					t.End = end + at
					break
				}
			}
		default:
			if t = xmlTag(rest); t.End == 0 {
				return tokens, end
			}
			t.Start, t.End = end, end+t.End
		}
		end = t.End
		looks.Past(t.End - t.Start)
		tokens = append(tokens, t)
	}
	return tokens, end
}

// startsTag reports whether text starts with a tag. A < that starts none is text, although XML does not allow it.
func startsTag(text string) bool {
	if len(text) < 2 || text[0] != '<' {
		return false
	}
	return text[1] >= utf8.RuneSelf || char.IsASCIILetter(text[1]) || char.OneOf(text[1], "/!?_:")
}

const cdata = "<![CDATA["

// xmlTag reads the tag, comment or section at the start of text. Its End is 0 if it is incomplete.
func xmlTag(text string) Token {
	for _, section := range [...]struct {
		start, end string
		kind       html.TokenType
	}{
		{"<!--", "-->", html.CommentToken},
		{cdata, "]]>", html.TextToken},
		{"<?", "?>", html.CommentToken},
	} {
		if strings.HasPrefix(text, section.start) {
			t := Token{Kind: section.kind}
			if n := strings.Index(text[len(section.start):], section.end); n >= 0 {
				t.End = len(section.start) + n + len(section.end)
			}
			return t
		}
	}
	end := tagEnd(text)
	if end == 0 || text[1] == '!' {
		return Token{Kind: html.DoctypeToken, End: end}
	}
	t := Token{Kind: html.StartTagToken, End: end}
	name := text[1:]
	switch {
	case text[1] == '/':
		t.Kind, name = html.EndTagToken, text[2:]
	case text[end-2] == '/':
		t.Kind = html.SelfClosingTagToken
	}
	t.Name = name[:strings.IndexAny(name, " \t\r\n/>")]
	t.opaque = t.Kind != html.EndTagToken && (xmlOpaque[t.Name] || notTranslatable.MatchString(text[:end]))
	return t
}

// tagEnd returns the end of the tag or document type at the start of text: the first > outside quotes and outside the square
// brackets of a document type.
func tagEnd(text string) int {
	quote, depth := byte(0), 0
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>' && depth <= 0:
			return i + 1
		}
	}
	return 0
}

// xmlOpaque are elements of XLIFF and TMX whose text is code: delimiters and placeholders.
var xmlOpaque = set("bpt ept ph it ut xliff:g")

// notTranslatable matches an attribute that excludes an element from translation: of HTML, ITS, XLIFF 1.2 and
// Android's resources.
var notTranslatable = regexp.MustCompile(`\s(?:(?:its:)?translate\s*=\s*["']no["']|mtype\s*=\s*["']protected["']|translatable\s*=\s*["']false["'])`)

// reference matches a reference to an entity, which a document may define.
var reference = regexp.MustCompile(`^&[\pL_:][\pL\pN_:.-]{0,63};`)

// decodeXML decodes the known entities of a text and collapses its white space.
func decodeXML(looks *char.Looks, raw string) string {
	var out strings.Builder
	at := 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '&' {
			continue
		}
		if name := reference.FindString(raw[i:]); name != "" && html.UnescapeString(name) == name {
			out.WriteString(decodeText(looks, raw[at:i], true))
			out.WriteString(name)
			at = i + len(name)
			i = at - 1
		}
	}
	out.WriteString(decodeText(looks, raw[at:], true))
	return out.String()
}
