package markup

import (
	"context"
	"strings"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
)

// Token is a tag, a comment or a text of HTML or XML.
type Token struct {
	Start, End int // in bytes of the document
	Kind       html.TokenType
	Name       string // of a tag, in HTML in lower case
	Partner    int    // the number of the end tag of a start tag, 0 without one; elements such as br have none
	opaque     bool   // a start tag whose element is not to be translated
}

// Tokens cuts HTML into tokens, as browsers do. They join to the text: a tag without an end is text.
func Tokens(ctx context.Context, text string) (tokens []Token, err error) {
	err = char.Look(ctx, len(text), func(l *char.Looks) {
		end := 0
		if tokens, end = tokenize(l, text, HTML); end < len(text) {
			tokens = append(tokens, Token{Start: end, End: len(text), Kind: html.TextToken})
		}
	})
	return tokens, err
}

// IsVoid says whether a token is the start tag of an element that has no end tag.
func (t Token) IsVoid() bool { return voidElements[t.Name] }

// tokenize cuts text into tokens. They join to text[:end]: what is left is a tag
// without an end.
func tokenize(looks *char.Looks, text string, format Format) (tokens []Token, end int) {
	if format == XML {
		tokens, end = tokenizeXML(looks, text)
	} else {
		tokens, end = tokenizeHTML(looks, text)
	}
	opened := map[string][]int{} // the start tags that wait for their end, by name
	for i, t := range tokens {
		looks.Past(1)
		switch waiting := opened[t.Name]; {
		case t.Kind == html.StartTagToken && (format == XML || !voidElements[t.Name]):
			opened[t.Name] = append(waiting, i)
		case t.Kind == html.EndTagToken && len(waiting) > 0:
			tokens[waiting[len(waiting)-1]].Partner = i
			opened[t.Name] = waiting[:len(waiting)-1]
		}
	}
	return tokens, end
}

// tokenizeHTML does so as browsers do.
func tokenizeHTML(looks *char.Looks, text string) (tokens []Token, end int) {
	if text != "" && !strings.Contains(text, "<") { // for which a tokenizer takes 4 KiB
		return []Token{{End: len(text), Kind: html.TextToken}}, len(text)
	}
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return tokens, end
		}
		t := Token{Start: end, End: end + len(z.Raw()), Kind: kind}
		end = t.End
		looks.Past(t.End - t.Start)
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			t.Name = string(name)
			t.opaque = opaqueElements[t.Name] || more && hasNoTranslate(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			t.Name = string(name)
		}
		tokens = append(tokens, t)
	}
}

// hasNoTranslate says whether the attributes of the tag keep translators out.
func hasNoTranslate(z *html.Tokenizer) bool {
	found := false
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "translate":
			found = found || strings.EqualFold(string(value), "no")
		case "class":
			for class := range strings.FieldsSeq(string(value)) {
				found = found || class == "notranslate"
			}
		}
	}
	return found
}
