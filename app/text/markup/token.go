package markup

import (
	"context"
	"strings"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
)

// Token is a tag, a comment or text of HTML or XML.
type Token struct {
	Start, End int // in bytes of the document
	Kind       html.TokenType
	Name       string // of a tag, in HTML in lower case
	Partner    int    // index of the end tag of a start tag, or 0; elements such as br have none
	opaque     bool   // a start tag of an element that is not translated
	partial    bool   // an incomplete tag
}

// Tokens cuts HTML into tokens like a browser. The tokens, joined, are the text: an incomplete tag is text.
func Tokens(ctx context.Context, text string) (tokens []Token, err error) {
	err = char.Look(ctx, len(text), func(l *char.Looks) {
		end := 0
		if tokens, end = tokenize(l, text, HTML); end < len(text) {
			tokens = append(tokens, Token{Start: end, End: len(text), Kind: html.TextToken, partial: true})
		}
	})
	return tokens, err
}

// IsVoid reports whether the tag's element has no end tag.
func (t Token) IsVoid() bool { return voidElements[t.Name] }

// tokenize cuts text into tokens. Joined, they are text[:end]; the rest is an incomplete tag.
func tokenize(looks *char.Looks, text string, format Format) (tokens []Token, end int) {
	if format == XML {
		tokens, end = tokenizeXML(looks, text)
	} else {
		tokens, end = tokenizeHTML(looks, text)
	}
	opened := map[string][]int{} // by name: start tags without an end tag so far
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

// tokenizeHTML cuts HTML into tokens like a browser.
func tokenizeHTML(looks *char.Looks, text string) (tokens []Token, end int) {
	if text != "" && !strings.Contains(text, "<") { // saves the 4 KiB of a tokenizer
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

// hasNoTranslate reports whether the tag has an attribute that excludes it from translation.
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
