package family

import (
	"fmt"
	"maps"
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

// tokenOf returns the token of a language, which must be among the tokens.
func tokenOf(tokens []languageToken, code string) string {
	return tokens[slices.IndexFunc(tokens, func(l languageToken) bool { return l.code == code })].token
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
			return fmt.Errorf("MODEL_LANGUAGES has %q, for which %s has no token", code, file)
		}
	}
	return nil
}
