package webpage

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// directives parses a Content-Security-Policy.
func directives(policy string) map[string]string {
	found := map[string]string{}
	for directive := range strings.SplitSeq(policy, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
		found[name] = value
	}
	return found
}

func TestPolicy(t *testing.T) {
	assert.Equal(t, map[string]string{
		"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'", "connect-src": "'self'",
		"base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
		"require-trusted-types-for": "'script'", "trusted-types": "'none'",
	}, directives(contentSecurityPolicy))
}

// walk calls visit for each element of the page, with the first text in it.
func walk(t *testing.T, page []byte, visit func(element xml.StartElement, text string)) {
	d := xml.NewDecoder(strings.NewReader(string(page)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var open *xml.StartElement
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		text := ""
		if chars, ok := token.(xml.CharData); ok {
			text = strings.TrimSpace(string(chars))
		}
		if open != nil {
			visit(*open, text)
			open = nil
		}
		if element, ok := token.(xml.StartElement); ok {
			element = element.Copy()
			open = &element
		}
	}
}

// attributes returns an element's attributes by name.
func attributes(element xml.StartElement) map[string]string {
	found := map[string]string{}
	for _, a := range element.Attr {
		found[a.Name.Local] = a.Value
	}
	return found
}

// The page has nothing that the policy would block, since a browser reports that only in the console.
func TestPageKeepsToThePolicy(t *testing.T) {
	site, err := New()
	require.NoError(t, err)
	seen, ids := map[string]int{}, map[string]bool{}
	walk(t, []byte(bodyOf(t, site.page.Load())), func(element xml.StartElement, text string) {
		name := element.Name.Local
		seen[name]++
		attrs := attributes(element)
		for attr, value := range attrs {
			assert.False(t, strings.HasPrefix(strings.ToLower(attr), "on"), "<%s> has an event handler: %s", name, attr)
			assert.NotEqual(t, "style", strings.ToLower(attr), "<%s> has an inline style: %s", name, value)
		}
		if id, ok := attrs["id"]; ok {
			assert.False(t, ids[id], "two elements have the id %s", id)
			ids[id] = true
		}
		switch name {
		case "script":
			assert.Empty(t, text, "an inline script")
			assert.NotEmpty(t, attrs["src"])
		case "style", "base", "iframe", "object", "embed":
			t.Errorf("the page has a <%s>", name)
		case "form":
			assert.NotContains(t, attrs, "action")
		}
		for _, attr := range []string{"src", "href"} {
			if address, ok := attrs[attr]; ok {
				checkAddress(t, site, address)
			}
		}
	})
	for element, least := range map[string]int{"script": 2, "link": 4, "textarea": 1, "button": 6, "dialog": 1, "template": 1, "symbol": 5} {
		assert.GreaterOrEqual(t, seen[element], least, "<%s>: the page was not read to its end", element)
	}
}

// checkAddress checks that an address is within the page, or is an existing asset or the API's docs.
func checkAddress(t *testing.T, site *Site, address string) {
	u, err := url.Parse(address)
	require.NoError(t, err)
	assert.False(t, u.IsAbs() || u.Host != "" || strings.HasPrefix(address, "/"), "%s is not relative to the page", address)
	if name, ok := strings.CutPrefix(address, "assets/"+site.version+"/"); ok {
		assert.Contains(t, site.assets, name)
		return
	}
	assert.True(t, strings.HasPrefix(address, "#") || address == "docs", "%s leads nowhere", address)
}

var (
	importPattern = regexp.MustCompile(`(?m)^import .* from '\./([a-z]+\.js)';$`)
	// Code that Trusted Types or the policy refuse, and addresses on other hosts.
	forbiddenPattern = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|\beval\(|new Function|` +
		`setAttribute\('(style|on)|setTimeout\('|https?:|//[a-z]+\.|@import|url\(`)
	idPattern = regexp.MustCompile(`\$\('([a-z-]+)'\)`)
)

func TestAssetsKeepToThePolicy(t *testing.T) {
	site, err := New()
	require.NoError(t, err)
	page := bodyOf(t, site.page.Load())
	imported := map[string]bool{}
	for name, asset := range site.assets {
		body := strings.ReplaceAll(bodyOf(t, asset), "http://www.w3.org/2000/svg", "")
		assert.Empty(t, forbiddenPattern.FindString(body), name)
		for _, match := range importPattern.FindAllStringSubmatch(body, -1) {
			assert.Contains(t, site.assets, match[1], "%s imports it", name)
			assert.Contains(t, page, `<link rel="modulepreload" href="assets/`+site.version+`/`+match[1]+`"/>`)
			imported[match[1]] = true
		}
		for _, match := range idPattern.FindAllStringSubmatch(body, -1) {
			assert.Contains(t, page, `id="`+match[1]+`"`, "%s looks for it", name)
		}
	}
	for name := range site.assets {
		address := "assets/" + site.version + "/" + name
		used := imported[name] || strings.Contains(page, `src="`+address+`"`) ||
			path.Ext(name) != ".js" && strings.Contains(page, `href="`+address+`"`)
		assert.True(t, used, "%s is not used", name)
	}
}
