// Package bound limits the fields of requests of all APIs: one table, by the names of fields. A name has one row: either it means
// the same in all APIs, or the row has room for all its meanings.
//
// Texts and files have no limit in the table; the service's settings limit them: their characters, their number, and the bytes of
// a body.
package bound

import (
	"strings"

	"dragoman/app/fault"
)

// Field is the limit of a field.
type Field struct {
	Bytes int // of its text, or of each listed item; [Any]: texts, see the package
	Items int // listed items; 0: the field is no list; [Any]: limited by the service's settings
}

// Any stands for a limit of the service's settings.
const Any = -1

// Limits of many rows, in bytes.
const (
	Word = 64   // of a choice, number, truth value or version
	Code = 64   // of a language
	Name = 256  // of a model, an element, a column
	ID   = 1024 // of a record, a request, a glossary
	Term = 1024 // of a term or its translation, or of a name that people give
	Key  = 1024 // of an API key
	URL  = 2048

	// IdempotencyKey is the limit of the header.
	IdempotencyKey = 200
	// JobOptions is the limit of all stored options of a job, without texts, terms and files.
	JobOptions = 64 << 10
)

// Limits of lists, in items.
const (
	Texts        = 10_000 // of texts, and of fields of an object or form
	Objects      = 1000   // of objects
	Terms        = 1000   // of terms in a request, and of dictionaries
	Languages    = 1000
	Elements     = 200 // of XML
	Columns      = 200 // of a table
	Ignored      = 1000
	Glossaries   = 5
	Edits        = 256 // of a message
	Tensors      = 16  // of a request for inference, and dimensions of each
	Parameters   = 64  // likewise
	Destinations = 16
)

// table has all fields of all APIs.
var table = map[string]Field{
	// Texts.
	"q": {Any, Texts}, "text": {Any, Texts}, "Text": {Bytes: Any}, "texts": {Any, Texts}, "text_list": {Any, Texts}, "contents": {Any, Texts},
	"content": {Any, Objects}, "prompt": {Any, Texts}, "input": {Any, Objects}, "instructions": {Bytes: Any}, "records": {Items: Any}, "data": {Any, Any}, "file": {Bytes: Any}, "document": {Bytes: Any},
	"entries": {Any, Any}, "raw_input_contents": {Any, Tensors}, "bytes_contents": {Any, Any},

	// Languages.
	"from": {Code, 1}, "to": {Code, Languages}, "fromLang": {Bytes: Code}, "toLang": {Bytes: Code}, "toLangs": {Code, Languages}, "language": {Bytes: Code},
	"source_lang": {Bytes: Code}, "target_lang": {Bytes: Code}, "src_lang": {Bytes: Code}, "tgt_lang": {Bytes: Code}, "sl": {Bytes: Code}, "tl": {Bytes: Code},
	"sourceLanguage": {Bytes: Code}, "targetLanguage": {Bytes: Code}, "sourceLanguageCode": {Bytes: Code}, "targetLanguageCode": {Bytes: Code},
	"displayLanguageCode": {Bytes: Code}, "destination": {Code, Destinations}, "targets": {Items: Languages},

	// Names. source and target name languages, or terms.
	"model": {Bytes: Name}, "model_name": {Bytes: Name}, "repository_name": {Bytes: Name}, "project": {Bytes: Name}, "location": {Bytes: Name},
	"deploymentName": {Bytes: Name}, "shared_memory_region": {Bytes: Name}, "document_key": {Bytes: Name}, "resume": {Bytes: Name},
	"splittingTags": {Word, Elements}, "nonSplittingTags": {Word, Elements}, "splitting_tags": {Word, Elements}, "non_splitting_tags": {Word, Elements},
	"ignore_tags": {Word, Ignored}, "columns": {Name, Columns}, "name": {Bytes: Term}, "filename": {Bytes: Term}, "source": {Bytes: Term}, "target": {Bytes: Term},
	"terms": {Items: Terms}, "dictionaries": {Items: Terms}, "glossary": {Term, Terms},
	"id": {Bytes: ID}, "glossaryId": {Bytes: ID}, "glossary_id": {Bytes: ID}, "glossary_ids": {ID, Glossaries}, "memoryId": {Bytes: ID}, "translation_memory_id": {Bytes: ID}, "translation_memory_threshold": {Bytes: Word}, "keep": {Bytes: Word}, "webhook": {Bytes: URL},
	"api_key": {Bytes: Key}, "auth_key": {Bytes: Key}, "key": {Bytes: Key}, "token": {Bytes: Key}, "Idempotency-Key": {Bytes: IdempotencyKey},

	// Choices and numbers.
	"format": {Bytes: Word}, "mimeType": {Bytes: Word}, "textType": {Bytes: Word}, "type": {Bytes: Word}, "role": {Bytes: Word}, "priority": {Bytes: Word},
	"wrapped": {Bytes: Word}, "header": {Bytes: Word}, "also": {Word, Tensors}, "as": {Bytes: Word}, "client": {Bytes: Word}, "dt": {Word, Tensors}, "dj": {Bytes: Word},
	"html": {Bytes: Word}, "stream": {Bytes: Word}, "include_usage": {Bytes: Word}, "background": {Bytes: Word}, "n": {Bytes: Word}, "event_type": {Bytes: Word}, "version": {Bytes: Word},
	"api-version": {Bytes: Word}, "scope": {Bytes: Word}, "action": {Bytes: Word}, "model_version": {Bytes: Word}, "datatype": {Bytes: Word},
	"tag_handling": {Bytes: Word}, "tag_handling_version": {Bytes: Word}, "split_sentences": {Bytes: Word}, "formality": {Bytes: Word}, "model_type": {Bytes: Word},
	"output_format": {Bytes: Word}, "entries_format": {Bytes: Word}, "preserve_formatting": {Bytes: Word}, "show_billed_characters": {Bytes: Word}, "outline_detection": {Bytes: Word},
	"profanityAction": {Bytes: Word}, "includeAlignment": {Bytes: Word}, "includeSentenceLength": {Bytes: Word}, "allowFallback": {Bytes: Word}, "toScript": {Bytes: Word},
	"script": {Bytes: Word}, "tone": {Bytes: Word}, "gender": {Bytes: Word}, "adaptiveDatasetId": {Bytes: Word}, "translateTextWithinImage": {Bytes: Word},
	"minConfidence": {Bytes: Word}, "alternatives": {Bytes: Word}, "options": {Bytes: Term},

	// Objects.
	"messages": {Items: Objects}, "edits": {Items: Edits}, "inputs": {Items: Objects}, "outputs": {Items: Tensors}, "shape": {Items: Tensors},
	"parameters": {Items: Parameters}, "string_param": {Bytes: Name}, "bytes_param": {Bytes: Name},
}

// least is the limit of a field that is not in the table.
var least = Field{Word, Elements}

// Of returns the limit of a field, by the last part of its name, and whether the table has it.
func Of(field string) (f Field, known bool) {
	if f, known = table[leafOf(field)]; !known {
		f = least
	}
	return f, known
}

// leafOf returns the last part of a name, such as id of payload.records[3].id.
func leafOf(field string) string {
	for strings.HasSuffix(field, "]") && strings.Contains(field, "[") {
		field = field[:strings.LastIndexByte(field, '[')]
	}
	return field[strings.LastIndexByte(field, '.')+1:]
}

// Text returns an error if the text of a field has too many bytes.
func Text(field string, bytes int) error {
	if f, _ := Of(field); f.Bytes != Any && bytes > max(Word, f.Bytes) {
		return fault.New(fault.InvalidValue, field, "the field %s has %d bytes, at most %d are allowed: send a shorter one", field, bytes, max(Word, f.Bytes))
	}
	return nil
}

// Known is [Text] for known fields; it returns nil for others.
func Known(field string, bytes int) error {
	if _, known := Of(field); !known {
		return nil
	}
	return Text(field, bytes)
}

// List returns an error if a field lists too many items.
func List(field string, items int) error {
	if f, _ := Of(field); f.Items != Any && items > f.most() {
		return fault.New(fault.InvalidValue, field, "the field %s has %d items, at most %d are allowed: send fewer", field, items, f.most())
	}
	return nil
}

// Longer returns the error of a list of which only the allowed items were read.
func Longer(field string) error {
	f, _ := Of(field)
	return fault.New(fault.InvalidValue, field, "the field %s has more than the %d items that are allowed: send fewer", field, f.most())
}

// most returns the limit of listed items, unless the limit is a setting; a text counts as a list of one item.
func (f Field) most() int { return max(1, f.Items) }

// Most returns the limit of listed items, or the argument settings if the service's settings limit the field.
func Most(field string, settings int) int {
	if f, _ := Of(field); f.Items != Any {
		return f.most()
	}
	return settings
}

// All returns an error if a field lists too many items, or one of them has too many bytes.
func All(field string, items []string) error {
	if err := List(field, len(items)); err != nil {
		return err
	}
	for _, item := range items {
		if err := Text(field, len(item)); err != nil {
			return err
		}
	}
	return nil
}
