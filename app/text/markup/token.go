package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// htmlToken is a tag, a comment or a text of HTML or XML.
type htmlToken struct {
	start, end int
	kind       html.TokenType
	name       string // of a tag, in HTML in lower case
	opaque     bool   // a start tag whose element is not to be translated
	partner    int    // the number of the end tag of a start tag, 0 without one
}

// pairName is the name by which the start tag and the end tag of an element know
// each other, "" for other tokens.
func (t htmlToken) pairName() string {
	if t.kind == html.StartTagToken || t.kind == html.EndTagToken {
		return t.name
	}
	return ""
}

// tokenize cuts text into tokens. They join to text[:end]: what is left is a tag
// without an end.
func tokenize(text string, format Format) (tokens []htmlToken, end int) {
	if format == XML {
		tokens, end = tokenizeXML(text)
	} else {
		tokens, end = tokenizeHTML(text)
	}
	opened := map[string][]int{} // the start tags that wait for their end, by name
	for i, t := range tokens {
		switch waiting := opened[t.name]; {
		case t.kind == html.StartTagToken && (format == XML || !voidElements[t.name]):
			opened[t.name] = append(waiting, i)
		case t.kind == html.EndTagToken && len(waiting) > 0:
			tokens[waiting[len(waiting)-1]].partner = i
			opened[t.name] = waiting[:len(waiting)-1]
		}
	}
	return tokens, end
}

// tokenizeHTML does so as browsers do.
func tokenizeHTML(text string) (tokens []htmlToken, end int) {
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return tokens, end
		}
		t := htmlToken{start: end, end: end + len(z.Raw()), kind: kind}
		end = t.end
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			t.name = string(name)
			t.opaque = opaqueElements[t.name] || more && hasNoTranslate(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			t.name = string(name)
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
