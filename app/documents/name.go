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

// longestName is the maximum length in bytes of a file name: less than file systems allow, as an extension is added.
const longestName = 200

// usualName is the name of a document without a name, without extension.
const usualName = "document"

// safeName returns the sender's name of a file without folders and characters that do not belong in a name. A name that is only
// an extension gets a usual name before it.
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

// nameAs returns a name with the extension of the converted document, see [kinds.As].
func nameAs(name, as string) string {
	if as == "" {
		return name
	}
	return strings.TrimSuffix(name, path.Ext(name)) + "." + as
}

// ResultName returns the file name of a translated document: report.fr.docx.
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

// Disposition returns the Content-Disposition of a file to be saved, by RFC 6266: with an additional ASCII name for clients that
// do not support the other one.
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

// NameIn returns the file name in a Content-Disposition header, or "".
func NameIn(header string) string {
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return params["filename"]
}
