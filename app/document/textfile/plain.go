package textfile

import (
	"cmp"

	"dragoman/app/text/wrap"
)

// plain translates plain text: each line is a segment, or each paragraph if the file is wrapped at a width.
func plain(p *pass) {
	for paragraph, err := range wrap.Paragraphs(p.ctx, p.text, cmp.Or(p.options.Wrapped, wrap.Auto)) {
		p.looks.Check(err)
		p.paragraph(paragraph, func(text string) string {
			text, err := paragraph.Wrap(p.ctx, text)
			p.looks.Check(err)
			return text
		})
	}
}
