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
	// bytesPerCharacter is the number of unpacked bytes per charged character.
	bytesPerCharacter = 1 << 10
	// affordEvery is the number of repeated texts between checks of the sender's allowance.
	affordEvery = 256
)

// walk is the pass through a document that finds its texts. Its cost is charged even without new texts: a character for each
// repeated text, and one for each KiB of the document.
type walk struct {
	service    *Service
	from       Sender
	form       translate.Format
	records    []translate.Record // different texts
	texts      int                // number of all texts
	bytes      int64              // bytes of all texts
	characters int                // characters to charge
}

// read goes through a document, in turn with others, until its sender leaves or its time is over.
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

// add adds a text, within the limits of a document and its sender.
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
	// Memory for the record and its stored parts.
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

// afford fails if the sender's remaining characters do not cover the texts so far.
func (w *walk) afford() error {
	if err := w.from.CheckCharge(w.characters); err != nil {
		return Explain(err)
	}
	return nil
}

// most returns the maximum size of the translated document: texts may grow to four times their length, and very short ones more.
func (w *walk) most(kind *document.Kind, size int) int64 {
	most := int64(size) + 4*w.bytes + 32*int64(w.texts) + 64<<10
	if kind.Room != nil {
		most += kind.Room(int64(size))
	}
	return most
}
