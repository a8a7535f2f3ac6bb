// Package glossary stores glossaries: lists of terms with their translations, which are stored once and named by requests.
//
// A [Store] stores them, in one file or in Redis. The APIs use a [Service]: it validates glossaries, shows owners their own, and
// finds the terms for a request's languages.
//
//	glossary.go  glossaries
//	text.go      terms as TSV and CSV
//	limits.go    limits
//	store.go     the interface of stores
//	service.go   creating, changing and using glossaries
package glossary

import (
	"fmt"
	"slices"
	"time"

	"dragoman/app/fault"
	"dragoman/app/text/language"
	"dragoman/app/translate"
)

// Pair is the language of terms and the language of their translations, as model codes.
type Pair = language.Pair

// Dictionary describes the terms of a glossary for a pair of languages.
type Dictionary struct {
	Pair
	Terms int // at least one
	Bytes int // of all terms, as TSV
}

// Glossary describes a glossary without its terms. It is plain data.
type Glossary struct {
	ID           string
	Owner        string
	Name         string
	Created      time.Time
	Changed      time.Time    // Created, until it is changed
	Dictionaries []Dictionary // ordered by pair
}

// Dictionary returns the dictionary for languages in any notation; see [language.Find].
func (g Glossary) Dictionary(p Pair) (found Dictionary, ok bool) {
	froms, tos := make([]string, len(g.Dictionaries)), []string(nil)
	for i, d := range g.Dictionaries {
		froms[i] = d.From
	}
	from, ok := language.Find(froms, p.From)
	if !ok {
		return Dictionary{}, false
	}
	for _, d := range g.Dictionaries {
		if d.From == from {
			tos = append(tos, d.To)
		}
	}
	to, ok := language.Find(tos, p.To)
	if !ok {
		return Dictionary{}, false
	}
	i, ok := g.find(Pair{From: from, To: to})
	if !ok {
		return Dictionary{}, false
	}
	return g.Dictionaries[i], true
}

// find returns the index of a pair's dictionary, or the index at which it would be inserted.
func (g Glossary) find(p Pair) (at int, ok bool) {
	return slices.BinarySearchFunc(g.Dictionaries, p, func(d Dictionary, p Pair) int { return d.Compare(p) })
}

func (g Glossary) bytes() (n int) {
	for _, d := range g.Dictionaries {
		n += d.Bytes
	}
	return n
}

// Terms are the terms of a dictionary.
type Terms struct {
	Pair
	List []translate.Term
}

// Whole is a glossary with its terms.
type Whole struct {
	Glossary
	Terms map[Pair]string // TSV of each dictionary
}

// put sets the terms of a pair to a validated list; an empty list removes its dictionary.
func (w *Whole) put(p Pair, list []translate.Term) {
	at, there := w.find(p)
	if there {
		w.Dictionaries = slices.Delete(w.Dictionaries, at, at+1)
		delete(w.Terms, p)
	}
	if len(list) == 0 {
		return
	}
	text := TSV(list)
	w.Dictionaries = slices.Insert(w.Dictionaries, at, Dictionary{p, len(list), len(text)})
	w.Terms[p] = text
}

// Errors of glossaries. All other errors of a [Service] can be shown to the sender, too.
var (
	ErrUnknown error = fault.New(fault.UnknownGlossary, "", "there is no such glossary: its id is wrong, it is another key's, or it was deleted")
	ErrName    error = fault.New(fault.InvalidGlossary, "name", "the name of a glossary has 1 to %d bytes, and no control characters", MaxNameBytes)
	ErrEmpty   error = fault.New(fault.InvalidGlossary, "dictionaries", "a glossary needs a dictionary with at least one term")
)

// wrong returns the fault of a term at a place, or with "" of the whole.
func wrong(place, format string, args ...any) error {
	return &fault.ItemError{Kind: fault.InvalidGlossary, Place: place, Message: fmt.Sprintf(format, args...)}
}

// TooMany returns the error of an owner who has the maximum number of glossaries.
func TooMany(most int) error {
	return fault.New(fault.TooManyGlossaries, "", "there are %d glossaries already, and no more are allowed: delete one", most)
}
