package openai

import (
	"regexp"
	"strings"

	"dragoman/app/translate"
)

// A program's instructions may have terms, below or behind the word glossary or terms:
//
//	Weblate to 5.14     "Use the following glossary during the translation:\nSOURCE<tab>TARGET\n…"
//	i18n-ai-translate   "Glossary (follow strictly):\n- Keep these terms exactly as written, do not translate them: "Acme".\n
//	                    - Use these exact translations for the following terms: "dog" → "chien"; "cat" → "chat"."
//	others              "Terminology:\n- dog -> chien\n- cat = chat"
var (
	ofTerms   = regexp.MustCompile(`(?i)\b(?:glossary|terms|terminology)\b|术语`)
	keepTerms = regexp.MustCompile(`(?i)\b(?:keep|not translate|don't translate|never translate|untranslated)\b`)
	termPair  = regexp.MustCompile(`"([^"]+)" *(?:->|=>|→|=|:) *"([^"]+)"`)
	termLine  = regexp.MustCompile(`^[ \t]*(?:[-*•][ \t]+)?"?([^\t"]*[^\t" ])"?(?:\t| *(?:->|=>|→|=) *)"?([^\t"]*[^\t"., ])"?[.,]?[ \t]*$`)
	inQuotes  = regexp.MustCompile(`"([^"]+)"`)
)

// termsIn returns the terms that instructions have.
func termsIn(instructions string) (terms []translate.Term) {
	within := false // the paragraph of a glossary
	for line := range strings.Lines(instructions) {
		line = strings.TrimRight(line, "\r\n")
		named := ofTerms.MatchString(line)
		if within = named || within && line != ""; !within {
			continue
		}
		if pairs := termPair.FindAllStringSubmatch(line, -1); pairs != nil {
			for _, pair := range pairs {
				terms = append(terms, translate.Term{Source: pair[1], Target: pair[2]})
			}
		} else if keepTerms.MatchString(line) {
			for _, kept := range inQuotes.FindAllStringSubmatch(line, -1) {
				terms = append(terms, translate.Term{Source: kept[1], Target: kept[1]})
			}
		} else if pair := termLine.FindStringSubmatch(line); pair != nil && !named {
			terms = append(terms, translate.Term{Source: strings.TrimSpace(pair[1]), Target: strings.TrimSpace(pair[2])})
		}
	}
	return terms
}
