package office

import (
	"cmp"
	"context"
	"io"
	"regexp"
	"strings"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// newFlatKind returns a kind of OpenDocument in one XML file.
func newFlatKind(name, mediaType string) *document.Kind {
	f := flat{name, mediaType}
	return &document.Kind{Name: name, Extensions: []string{"." + name}, MediaType: mediaType + "-flat-xml", Form: markup.XML, Rewrite: f.rewrite}
}

type flat struct{ name, mediaType string }

// rewrite copies a document with its segments translated, as [kind.rewrite] does.
func (f flat) rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	if err := f.check(in, size); err != nil {
		return err
	}
	open := func(_ string, read func(in io.Reader) error) error {
		return read(counted{ctx, io.NewSectionReader(in, 0, size)})
	}
	parts := map[string]part{}
	if f.name == "fods" {
		parts["the file"] = part{names: odfFormulaGrammar}
	}
	names := newLearner(ctx)
	defer names.giveBack()
	if err := names.look(func() { names.learn(open, parts) }); err != nil {
		return err
	}
	w := names.rewriter(flatGrammar, o, t)
	defer w.giveBack()
	return open("", func(in io.Reader) error { return w.part(cmp.Or(out, io.Discard), in, "the file") })
}

// check refuses a file of another kind, by its root element.
func (f flat) check(in io.ReaderAt, size int64) error {
	head := make([]byte, min(size, 16<<10))
	if n, err := in.ReadAt(head, 0); n < len(head) {
		return err
	}
	if m := flatType.FindSubmatch(head); m == nil || strings.TrimSuffix(string(m[1]), "-template") != f.mediaType {
		return document.Refuse(nil, "the file is no %s: its root element is not office:document of the type %s", f.name, f.mediaType)
	}
	return nil
}

// flatType captures the type of a document from its root element.
var flatType = regexp.MustCompile(`<(?:\w+:)?document\s[^<>]*?\w+:mimetype\s*=\s*["']([^"'<>]*)`)

// flatGrammar is the grammar of all parts of an OpenDocument in one.
var flatGrammar = odfGrammar.with(propertyGrammar).with(grammar{named("style", "master-page"): inside(odfStylesGrammar), named("office", "binary-data"): (*walker).verbatim})

// counted counts the bytes read as work.
type counted struct {
	ctx context.Context
	io.Reader
}

// Read implements [io.Reader].
func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if full := budget.Work(c.ctx, n); full != nil {
		return 0, full
	}
	return n, err
}
