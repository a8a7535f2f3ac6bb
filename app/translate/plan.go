package translate

import (
	"context"
	"slices"
	"strings"

	"dragoman/app/budget"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
)

// record is the translation of one record into one language in progress.
type record struct {
	number    int    // index in the result of Translate
	source    int    // index of the record in the request
	to        string // target language, in the model's code
	result    Result
	route     *route // nil if the text stays as it is
	units     []unit
	sentences []*sentence // sentences of the units, in order
	open      int         // number of sentences without an outcome, each counted once for each place
}

// plan is the work of a request, as pure data.
type plan struct {
	records   []*record
	sentences []*sentence // whole sentences, without duplicates
	places    int         // number of sentences in records
	known     map[sentenceKey]*sentence
	siblings  map[sentenceKey]*siblings  // by their text without numbers
	recent    map[bool][]markup.Sentence // the last pieces of the records so far, if these are connected, by [cutter.whole]
}

// sentenceKey identifies a whole sentence of a request.
type sentenceKey struct {
	route               *route
	text, spans, before string
}

// plan divides the records into sentences. The plan is limited by MaxSentences and by the memory of the request.
func (w *work) plan(ctx context.Context) (*plan, error) {
	size := 0
	for _, r := range w.req.Records {
		size += len(r.Text)
	}
	admission.Charge(ctx, w.req.Caller)
	if err := w.takeMemory(ctx, cost.Texts(int64(size), len(w.req.To))+sizeOfTerms(w.req.Terms)); err != nil {
		return nil, err
	}
	from, err := w.sources(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.findRoutes(ctx, from); err != nil {
		return nil, err
	}
	for _, s := range w.streams {
		s.work = w
	}
	if err := w.unsupported(from); err != nil {
		return nil, err
	}
	// After the routes have checked the number of alternatives.
	if err := w.takeMemory(ctx, cost.Alternatives(int64(size), len(w.req.To)*w.req.Alternatives)); err != nil {
		return nil, err
	}
	p := &plan{records: make([]*record, len(w.req.To)*len(w.req.Records)), known: make(map[sentenceKey]*sentence),
		siblings: make(map[sentenceKey]*siblings), recent: make(map[bool][]markup.Sentence)}
	return p, w.inTurn(ctx, func(ctx context.Context) error { return p.add(ctx, w, from) })
}

// inTurn runs work that takes processor time in turn with the work of other callers.
func (g *routing) inTurn(ctx context.Context, work func(ctx context.Context) error) error {
	_, err := admission.Do(ctx, g.req.Caller, work)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// add adds all records of the request, whose languages are from, and their sentences.
func (p *plan) add(ctx context.Context, w *work, from []string) error {
	defer w.service.cfg.Metrics.Stages.Begin(ctx, stageSegment).End()
	cutter := cutter{ctx: ctx, req: &w.req, terms: glossary(w.req.Terms)}
	for i := range w.req.Records {
		translated := p.addRecords(w, i, from[i])
		for _, cutter.whole = range []bool{false, true} {
			// Once for all languages whose models are given equal pieces.
			alike := slices.DeleteFunc(slices.Clone(translated), func(rec *record) bool { return rec.route.first.model.paragraphs() != cutter.whole })
			if len(alike) == 0 {
				continue
			}
			units, err := cutter.unitsOf(i, language.Base(from[i]))
			if err != nil {
				return err
			}
			if err := w.keepWhole(ctx, units, alike); err != nil {
				return err
			}
			if err := w.takeSentences(ctx, p, units, len(alike)); err != nil {
				return err
			}
			if err := p.addSentences(w, cutter, alike, units); err != nil {
				return err
			}
		}
	}
	return nil
}

// addSentences adds the sentences of units, which the cutter cut, to records.
func (p *plan) addSentences(w *work, c cutter, records []*record, units []unit) error {
	texts, err := layOut(c.ctx, units)
	if err != nil {
		return err
	}
	for _, rec := range records {
		rec.units, rec.sentences, rec.open = units, make([]*sentence, len(texts)), len(texts)
		for k, text := range texts {
			if rec.sentences[k], err = p.whole(w, rec, text, rec.before(w, p.recent[c.whole], texts[:k])); err != nil {
				return err
			}
		}
	}
	if w.req.Connected {
		recent := append(p.recent[c.whole], texts...)
		p.recent[c.whole] = recent[max(0, len(recent)-mostNeighbours):]
	}
	return nil
}

// addRecords adds record i, in language from, once for each target language, and returns the ones that are translated.
func (p *plan) addRecords(w *work, i int, from string) (translated []*record) {
	// Any translation of a text in another script would be made up.
	madeUp := w.req.From != Auto && w.req.parts == nil && language.WrongSource(w.req.Records[i].Text, language.Base(from))
	for t, to := range w.to {
		rec := &record{number: t*len(w.req.Records) + i, source: i, to: to,
			result: Result{Record: w.req.Records[i], From: from, To: w.req.To[t], Detected: w.req.From == Auto}}
		p.records[rec.number] = rec
		if from == "" || from == to {
			continue
		}
		if !madeUp {
			rec.route = w.routes[pair{from, to}]
		}
		if rec.route == nil {
			rec.result.Flags = UnsupportedSource
			continue
		}
		rec.result.InsteadOf = rec.route.InsteadOf
		rec.result.Model, rec.result.Version, rec.result.Exports = rec.route.Model, rec.route.Version, rec.route.exports
		translated = append(translated, rec)
	}
	return translated
}

// whole returns the sentence of a record with a text, after the texts before: a new one, or an equal one of the request.
func (p *plan) whole(w *work, rec *record, text markup.Sentence, before string) (*sentence, error) {
	key := sentenceKey{rec.route, text.Text, text.Fingerprint(), before}
	x := p.known[key]
	if x == nil {
		x = &sentence{before: before}
		if err := w.begin(x, rec.route.first, text); err != nil {
			return nil, err
		}
		p.sentences = append(p.sentences, x)
		p.known[key] = x
		if label, ok := label(text); ok && !w.req.Once {
			key = sentenceKey{route: rec.route, text: label}
			if p.siblings[key] == nil {
				p.siblings[key] = &siblings{}
			}
			x.siblings = p.siblings[key]
			x.siblings.open++
		}
	}
	x.records = append(x.records, rec)
	return x, w.ctx.Err()
}

// takeMemory takes memory for the request.
func (w *work) takeMemory(ctx context.Context, n int64) error {
	err := budget.Take(ctx, n)
	if err == nil {
		w.taken += n
	}
	return err
}

// takeSentences takes memory for the sentences of units, times the number of languages.
func (w *work) takeSentences(ctx context.Context, p *plan, units []unit, languages int) error {
	sentences, spans := size(units)
	if p.places += sentences * languages; p.places > w.service.cfg.MaxSentences {
		return invalid(CodeTooManySentences, "records", "%d records × %d languages have more than %d sentences: send several requests",
			len(w.req.Records), len(w.req.To), w.service.cfg.MaxSentences)
	}
	return w.takeMemory(ctx, int64(languages*(sentences*(cost.Sentence+w.req.Alternatives*cost.Alternative)+spans*cost.Span)))
}

// sources returns the language of each record, or "" if none could be detected.
func (g *routing) sources(ctx context.Context) ([]string, error) {
	from := slices.Repeat([]string{g.from}, len(g.req.Records))
	if g.req.From != Auto {
		return from, nil
	}
	defer g.service.cfg.Metrics.Stages.Begin(ctx, stageDetect).End()
	return from, g.inTurn(ctx, func(ctx context.Context) error {
		for i, r := range g.req.Records {
			from[i], _, _ = g.selection.Detector().Detect(r.Text)
			if err := budget.Work(ctx, len(r.Text)); err != nil {
				return err
			}
		}
		return nil
	})
}

// unsupported returns the error of a request all of whose texts, as far as detected, are in languages without a model. If only
// some texts are, these are flagged instead.
func (g *routing) unsupported(from []string) error {
	first := -1
	for i, code := range from {
		for _, to := range g.to {
			if code == "" {
				continue
			}
			if code == to || g.routes[pair{code, to}] != nil {
				return nil
			}
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 || g.req.Flagged || g.req.Sliced {
		return nil
	}
	return Unsupported(from[first], g.req.To)
}

// Unsupported returns the error of a text in a language that no model translates into the languages to.
func Unsupported(from string, to []string) *Error {
	name, ok := language.NameOf(from)
	if !ok {
		name.English = from
	}
	return invalid(CodeUnsupportedSource, "fromLang", "the text seems to be in %s (%s), which no model here translates into %s: "+
		"name its language if it is another one", name.English, from, excerpt.Quote(strings.Join(to, ", ")))
}
