package documents

import (
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/document"
	"dragoman/app/jobs"
)

// longestName is how many bytes the name of a file may have: some less than file systems allow, for what
// is added to it.
const longestName = 200

// usualName is what a document is called that has no name, without its extension.
const usualName = "document"

// safeName is a name of a file as its sender gives it, without folders and what does not belong into a
// name. One that is nothing but an extension gets a usual name before it.
func safeName(name string, kind *document.Kind) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, ""), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(`<>:"|?*/`, r) {
			return -1
		}
		return r
	}, name)
	if bare := strings.ToLower(strings.Trim(name, ". ")); slices.Contains(kind.Extensions, "."+bare) && strings.HasPrefix(name, ".") {
		name = usualName + "." + bare
	}
	name = strings.Trim(name, ". ")
	if extension := path.Ext(name); len(name) > longestName {
		name = strings.ToValidUTF8(name[:max(0, longestName-len(extension))], "") + extension
	}
	if len(name) > longestName || name == "" {
		return usualName + kind.Extensions[0]
	}
	return name
}

// nameAs is a name with the extension of what the document becomes, see [kinds.As].
func nameAs(name, as string) string {
	if as == "" {
		return name
	}
	return strings.TrimSuffix(name, path.Ext(name)) + "." + as
}

// ResultName is what a translated document is called: report.fr.docx.
func ResultName(job jobs.Job) string {
	name := job.Document.Name
	extension := path.Ext(name)
	return strings.TrimSuffix(name, extension) + "." + strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, job.Request.To[0]) + extension
}

// Disposition is the Content-Disposition of a file to be saved, as RFC 6266 has it: with a name in
// ASCII for who does not understand the other one.
func Disposition(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			return '_'
		}
		return r
	}, name)
	params := map[string]string{"filename": ascii}
	if ascii != name {
		params["filename*"] = "UTF-8''" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	}
	return mime.FormatMediaType("attachment", params)
}

// NameIn is the name of a file in a Content-Disposition header, "" where there is none.
func NameIn(header string) string {
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return params["filename"]
}
