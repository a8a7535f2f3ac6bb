package textfile

import (
	"cmp"

	"dragoman/app/text/wrap"
)

// plain is the kind of plain text: each line is a segment, and in a file that is wrapped at a width each
// paragraph.
func plain(p *pass) error {
	for paragraph, err := range wrap.Paragraphs(p.ctx, p.text, cmp.Or(p.options.Wrapped, wrap.Auto)) {
		if err != nil {
			return err
		}
		err = p.paragraph(paragraph, func(text string) string {
			text, err := paragraph.Wrap(p.ctx, text)
			p.looks.Check(err)
			return text
		})
		if err != nil {
			return err
		}
	}
	return nil
}
