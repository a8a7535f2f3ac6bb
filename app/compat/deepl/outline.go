package deepl

import (
	"strings"

	"dragoman/app/compat"
	"dragoman/app/markup"
	"dragoman/app/translate"
)

// readOutline reads the fields that say how XML is divided. They are checked, and change nothing,
// where the texts are not XML.
//
// Line ends end sentences there, as DeepL has it, unless split_sentences is nonewlines or 0.
func (req *request) readOutline(fields compat.Fields) error {
	var o markup.Outline
	var err error
	if o.Splitting, err = tagNames(fields, "splitting_tags"); err != nil {
		return err
	}
	if o.NonSplitting, err = tagNames(fields, "non_splitting_tags"); err != nil {
		return err
	}
	detected, err := fields.Bool("outline_detection")
	if err != nil {
		return err
	}
	o.Undetected = fields.Given("outline_detection") && !detected
	o.Lines = !req.wrapped && !req.whole
	if req.format == translate.XML {
		req.outline = o
	}
	return nil
}

// tagNames reads a field with names of elements: an array, or names with commas between them.
func tagNames(fields compat.Fields, field string) (names []string, err error) {
	lists, _, err := fields.Texts(field)
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
