package textfile

import (
	"regexp"
	"strings"
)

// resx translates .NET resources: their strings, but not the designer's properties of forms.
func resx(p *pass) {
	isForm := formName.MatchString(p.text)
	xmlFormat{"root", "has no resources of .NET", nil, func(x *xmlReader, e *xmlElement) {
		if e.name == "value" && x.parent() == "data" && isString(&x.open[len(x.open)-2], isForm) {
			x.data(e.inner, e.innerEnd, e.text, xmlText.Replace)
		}
	}}.read(p)
}

var (
	formName   = regexp.MustCompile(`name\s*=\s*["'](?:>>|&gt;&gt;)`)
	designName = regexp.MustCompile(`\.(?:Name|Size|Location|Font|Cursor|Anchor|Dock|ImageKey|ImeMode|Type|Parent|ZOrder|TabIndex|AutoScaleDimensions|ClientSize|Mask|Format|ShortcutKeyDisplayString)$`)
)

// isString reports whether an element of resources, possibly of a form, is a text for users.
func isString(data *xmlElement, isForm bool) bool {
	name, sort := data.attribute("name"), data.attribute("type")
	return data.attribute("mimetype") == "" && (sort == "" || strings.HasPrefix(sort, "System.String")) &&
		!strings.HasPrefix(name, ">>") && !(isForm && designName.MatchString(name))
}
