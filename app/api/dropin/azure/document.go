package azure

import (
	"cmp"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/api/upload"
	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/guard/body"
	"dragoman/app/guard/bound"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// action is the parameter for the last part of a path below /translator, because gin allows no colons in paths.
const action = "action"

// Documents returns the route of documents, which may be as large as the service allows, as called by
// azure-ai-translation-document 2.0.0 (SingleDocumentTranslationClient). Pages of other origins may not use the route, because it
// creates jobs. Without a service the route answers that documents are disabled.
func Documents(server *dialect.Server, service *upload.Service) dialect.Dialect {
	route := dialect.API{Server: server}.Route("POST", "/translator/:"+action, func(call *dialect.Call) (any, error) {
		if service == nil {
			return nil, fault.NoDocuments()
		}
		return nil, sendDocument(call, service)
	})
	if service != nil {
		route.Room = service.Room
	}
	return dialect.Dialect{Render: renderDocument, Documents: true, Routes: []dialect.Route{route}, Prefixes: []string{"/translator/"}}
}

// sendDocument serves /translator/document:translate, which answers with the translated document.
func sendDocument(call *dialect.Call, service *upload.Service) error {
	if call.Context.Param(action) != "document:translate" {
		return fault.New(fault.NotFound, "", "there is nothing at this path: documents go to /translator/document:translate")
	}
	if !dated(call.Context.Query(versionField), 2023) {
		call.Fail(dialect.Refuse("The API version parameter is missing or invalid: use 2024-05-01 or 2026-03-01."))
	}
	refuseOptions(call.Fields, []option{{"deploymentName", general}, {"allowFallback", "true"}, {"translateTextWithinImage", "false"}})
	file, ok := call.File("document")
	if !ok {
		call.Fail(dialect.RefuseAs(fault.MissingField, "The form has no document: send it as a file in the field document."))
	}
	wanted := dialect.Request{}
	wanted.From, wanted.To = call.Pair("sourceLanguage", "targetLanguage")
	if file, ok := call.File("glossary"); ok {
		wanted.Terms = termsOf(call, file, glossary.Pair{From: wanted.From, To: wanted.To})
	}
	return service.TranslateFile(call, file, wanted, func(job jobs.Job) (keep bool, err error) {
		return false, service.Send(call.Context, job)
	})
}

// termsOf reads a glossary sent with a document.
func termsOf(call *dialect.Call, file body.File, pair glossary.Pair) []translate.Term {
	formats := map[string]glossary.Format{
		".csv": glossary.FormatCSV, ".tsv": glossary.FormatTSV, ".tab": glossary.FormatTSV, "text/csv": glossary.FormatCSV, "text/tab-separated-values": glossary.FormatTSV,
	}
	format := cmp.Or(formats[strings.ToLower(filepath.Ext(file.Name))], formats[file.MediaType])
	switch {
	case format == "":
		call.Fail(dialect.Refuse("The glossary is of no kind that this server reads: send a file .csv or .tsv with a source and a target in each line."))
	case pair.From == translate.Auto:
		call.Fail(dialect.RefuseAs(fault.MissingField, "A glossary needs the language of the document: send sourceLanguage."))
	}
	if call.Err() != nil {
		return nil
	}
	terms, err := glossary.Parse(format, string(file.Content), pair, bound.Terms)
	call.Fail(err)
	return terms.List
}

// renderDocument renders a failure in Azure's format for documents.
func renderDocument(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	status, code := f.Status(), "InvalidRequest"
	switch {
	case status == http.StatusUnauthorized:
		code = "Unauthorized"
	case status == http.StatusNotFound:
		code = "ResourceNotFound"
	case status == http.StatusTooManyRequests:
		code = "RequestRateTooHigh"
	case status == http.StatusServiceUnavailable:
		code = "ServiceUnavailable"
	case status >= http.StatusInternalServerError:
		code = "InternalServerError"
	}
	return status, gin.H{"error": gin.H{"code": code, "message": dialect.Message(f)}}
}
