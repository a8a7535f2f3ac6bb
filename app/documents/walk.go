package documents

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/fault"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/translate"
)

const (
	// bytesPerCharacter are what a document may unpack to for each character that it is charged for.
	bytesPerCharacter = 1 << 10
	// affordEvery is after how many texts that come again is looked whether their sender may have more.
	affordEvery = 256
)

// walk is the way through a document that finds its texts. What it costs is charged, whatever is found: a
// character for each text that comes again, and one for each KiB that was gone through.
type walk struct {
	service    *Service
	from       Sender
	form       translate.Format
	records    []translate.Record // each text once
	texts      int                // all
	bytes      int64              // of all
	characters int                // to be charged
}

// read goes through a document, in turn with others, until its sender leaves or has waited for too long.
func (w *walk) read(kind *document.Kind, of Order, o document.Options) error {
	ctx, cancel, err := w.from.Bounded()
	if err != nil {
		return err
	}
	defer cancel()
	done, err := w.service.inTurn(ctx, of.Owner, func(ctx context.Context) error {
		return document.Texts(ctx, kind, bytes.NewReader(of.File), int64(len(of.File)), o, func(text string, isNew bool) error {
			return w.add(ctx, text, isNew)
		})
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.NoTime, fileField, "the document could not be read in time, for there are others: try again in a moment, or divide it")
	}
	w.characters = max(w.characters, int(done/bytesPerCharacter))
	return err
}

// add adds a text, within what a document and its sender may have.
func (w *walk) add(ctx context.Context, text string, isNew bool) error {
	cfg := w.service.cfg
	w.texts++
	w.bytes += int64(len(text))
	w.characters++
	switch {
	case cfg.MaxTexts > 0 && w.texts > cfg.MaxTexts:
		return fault.New(fault.TooManyRecords, fileField, "the document has more than %d texts, such as paragraphs and cells, those that come again included: divide it", cfg.MaxTexts)
	case !isNew && w.texts%affordEvery != 0:
		return nil
	case !isNew:
		return w.afford()
	case len(w.records) == cfg.MaxRecords:
		return fault.New(fault.TooManyRecords, fileField, "the document has more than %d different texts: divide it", cfg.MaxRecords)
	case len(text) > cfg.MaxChars:
		if n := utf8.RuneCountInString(text); n > cfg.MaxChars {
			return fault.New(fault.TextTooLong, fileField, "a paragraph of the document has %d characters, at most %d are allowed: divide it", n, cfg.MaxChars)
		}
	}
	// What is kept of it, and the parts of that that are stored.
	if err := budget.Take(ctx, int64(cost.RecordByte*len(text)+cost.Record)); err != nil {
		return err
	}
	w.records = append(w.records, translate.Record{ID: fingerprint(text), Text: text})
	n, err := w.form.Characters(ctx, text)
	if err != nil {
		return err
	}
	w.characters += n - 1
	return w.afford()
}

// afford fails where the sender has no characters left for what there is so far.
func (w *walk) afford() error {
	if err := w.from.CheckCharge(w.characters); err != nil {
		return Explain(err)
	}
	return nil
}

// most is how large the translated document may be: texts may grow to four times their length, and those of
// a few letters to more.
func (w *walk) most(kind *document.Kind, size int) int64 {
	most := int64(size) + 4*w.bytes + 32*int64(w.texts) + 64<<10
	if kind.Room != nil {
		most += kind.Room(int64(size))
	}
	return most
}
