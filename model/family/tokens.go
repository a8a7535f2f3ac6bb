package family

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"dragoman/tokenizer"
)

// The framings of sources.
var (
	sourceFirst = tokenizer.Framing{
		Before: []tokenizer.Part{tokenizer.Source}, After: []tokenizer.Part{tokenizer.End}, Forced: []tokenizer.Part{tokenizer.Target},
	}
	targetFirst = tokenizer.Framing{Before: []tokenizer.Part{tokenizer.Target}, After: []tokenizer.Part{tokenizer.End}}
	onlyEnd     = tokenizer.Framing{After: []tokenizer.Part{tokenizer.End}}
)

// languageToken is the token of a language, with the code for users.
type languageToken struct{ code, token string }

// addedForms match the tokens of languages that fine-tunes have added, in the forms of the families' own: __tyv__, tyv_Cyrl, tyv_XX.
var addedForms = regexp.MustCompile(`^(?:__([a-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*)__|([a-z]{2,3}_[A-Z][a-z]{3})|([a-z]{2,3})_(?:XX|([A-Z]{2})))$`)

// isAdded reports whether an added token has the form of a language's.
func isAdded(token string) bool { return addedForms.MatchString(token) }

// addedCode returns the code of the language of an added token: the shortest tag of BCP 47 that is not taken, or else the name in the
// token, such as that of a language without a registered code.
func addedCode(token string, taken map[string]bool) string {
	match := addedForms.FindStringSubmatch(token)
	name := cmp.Or(match[1], match[2], match[3])
	names := []string{name}
	if region := match[4]; region != "" { // pt_BR beside pt_XX
		names = append(names, name+"_"+region)
	}
	for _, name := range names {
		if code, known := codeOf(name); known && !taken[code] {
			return code
		}
	}
	return names[len(names)-1]
}

// withAdded returns the languages of a family, and those whose tokens a fine-tune has added, given the ids of added tokens. tokens are
// the family's own.
func withAdded(list []tokenizer.Language, tokens []languageToken, added map[string]int64) []tokenizer.Language {
	taken, own := map[string]bool{}, map[string]bool{}
	for _, l := range tokens {
		own[l.token] = true
	}
	for _, l := range list {
		taken[l.Code] = true
	}
	byID := func(a, b string) int { return cmp.Compare(added[a], added[b]) }
	for _, token := range slices.SortedFunc(maps.Keys(added), byID) {
		if own[token] || !isAdded(token) {
			continue
		}
		if code := addedCode(token, taken); !taken[code] {
			taken[code] = true
			list = append(list, tokenizer.Language{Code: code, ID: added[token]})
		}
	}
	return list
}

// codesOf returns the codes of languages, sorted.
func codesOf(list []tokenizer.Language) (codes []string) {
	for _, l := range list {
		codes = append(codes, l.Code)
	}
	return slices.Sorted(slices.Values(codes))
}

// inOrder returns languages whose tokens have consecutive ids from first on.
func inOrder(tokens []languageToken, first int) (list []tokenizer.Language) {
	for i, l := range tokens {
		list = append(list, tokenizer.Language{Code: l.code, ID: int64(first + i)})
	}
	return list
}

// withTokens returns languages with the ids of their tokens, -1 without one.
func withTokens(codes []string, tokens map[string]int64) (list []tokenizer.Language) {
	for _, code := range codes {
		id, ok := tokens[code]
		if !ok {
			id = -1
		}
		list = append(list, tokenizer.Language{Code: code, ID: id})
	}
	return list
}

// targetTokens are the tokens of target languages: a language between open and close.
type targetTokens struct{ open, close string }

func (t targetTokens) has(token string) bool {
	return strings.HasPrefix(token, t.open) && strings.HasSuffix(token, t.close)
}

// languages returns the ids of the tokens by language. The first of several tokens of a language, such as >>cmn<< and
// >>cmn_Hans<<, counts, because pieces are in the order of their frequency in training.
func (t targetTokens) languages(vocabulary map[string]int64) map[string]int64 {
	tokens := map[string]int64{}
	for token, id := range vocabulary {
		if !t.has(token) {
			continue
		}
		if code, ok := codeOf(strings.TrimSuffix(token[len(t.open):], t.close)); ok {
			if other, taken := tokens[code]; !taken || id < other {
				tokens[code] = id
			}
		}
	}
	return tokens
}

// into returns directions into the targets with tokens in the vocabulary of a file, unless d has targets. Targets in d need a
// token if the vocabulary has tokens of targets.
func (t targetTokens) into(vocabulary map[string]int64, d Directions, file string) (Directions, error) {
	tokens := slices.Sorted(maps.Keys(t.languages(vocabulary)))
	if len(d.Targets) == 0 {
		d.Targets = tokens
	}
	if len(tokens) > 0 {
		return d, checkTokens(d.Targets, tokens, file)
	}
	return d, nil
}

// checkTokens fails if a language that needs a token has none in the file.
func checkTokens(need, have []string, file string) error {
	for _, code := range need {
		if !slices.Contains(have, code) {
			return fmt.Errorf("MODEL_LANGUAGES has %q, for which %s has no token: use of %s", code, file, strings.Join(have, ", "))
		}
	}
	return nil
}
