package textfile

import (
	"cmp"

	"dragoman/app/text/wrap"
)

// plain is the kind of plain text: each line is a segment, and in a file that is wrapped at a width each
// paragraph.
func plain(p *pass) error {
	for paragraph := range wrap.Paragraphs(p.text, cmp.Or(p.options.Wrapped, wrap.Auto)) {
		if err := p.paragraph(paragraph, paragraph.Wrap); err != nil {
			return err
		}
	}
	return nil
}
