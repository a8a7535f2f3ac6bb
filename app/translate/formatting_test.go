package translate_test

import (
	"bytes"
	"hash/fnv"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/translate"
)

// marker matches a marker in any style, part a piece of a text.
const marker = `\[\d+\]|XA\d+|<\d+>|#\d+`

var (
	aMarker  = regexp.MustCompile(marker)
	spaced   = regexp.MustCompile(`\s*(` + marker + `)\s*`)
	behind   = regexp.MustCompile(`\s*(?:` + marker + `)`)
	isMarker = regexp.MustCompile("^(?:" + marker + ")$")
	inWord   = regexp.MustCompile(`(\pL)\s*(` + marker + `)`)
	isWord   = regexp.MustCompile(`^\p{L}`)
	isOdd    = regexp.MustCompile(`<su[bp]>|<note/>|\x{AD}|\x{200B}`)
	part     = regexp.MustCompile(`(?:` + marker + `)|[\p{Han}\p{Hiragana}\p{Katakana}ー]{1,2}|\p{L}+|\s+|.`)
)

// words translates word by word into another script, the same word always alike.
func words(to string) func(text string) string {
	isCJK := to == "ja" || to == "zh"
	return func(text string) string {
		var out strings.Builder
		cjkBefore := false
		for _, t := range part.FindAllString(text, -1) {
			first := []rune(t)[0]
			cjk := first > 0x2E80 && strings.TrimSpace(t) != "" && !strings.ContainsAny(t, "。、")
			if cjk && cjkBefore && !isCJK {
				out.WriteByte(' ')
			}
			switch {
			case isMarker.MatchString(t):
				out.WriteString(t)
			case t == "。":
				out.WriteString(map[bool]string{true: "。", false: ". "}[isCJK])
			case t == "、":
				out.WriteString(map[bool]string{true: "、", false: ", "}[isCJK])
			case strings.TrimSpace(t) == "":
				if !isCJK {
					out.WriteByte(' ')
				}
			case isWord.MatchString(t):
				out.WriteString(word(t, isCJK))
			default:
				out.WriteString(t)
			}
			cjkBefore = cjk
		}
		return strings.TrimSpace(out.String())
	}
}

// word makes up a word.
func word(source string, isCJK bool) string {
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, strings.ToLower(source))
	n := hash.Sum32()
	letters := []rune("blanomersu")
	if isCJK {
		letters = []rune("山川木林森花草鳥魚虫")
	}
	out := []rune{}
	for range map[bool]int{true: 2, false: 5}[isCJK] {
		out = append(out, letters[n%10])
		n /= 10
	}
	return string(out)
}

// habits are the typical errors of models with markers.
var habits = []struct {
	name  string
	apply func(text string) string
}{
	{"keeps them", func(text string) string { return text }},
	{"glues them", func(text string) string {
		return spaced.ReplaceAllString(text, "$1")
	}},
	{"spaces them", func(text string) string {
		return strings.TrimSpace(spaced.ReplaceAllString(text, " $1 "))
	}},
	{"puts them into words", func(text string) string {
		return inWord.ReplaceAllString(text, "$2$1")
	}},
	{"turns them", func(text string) string {
		all := aMarker.FindAllString(text, -1)
		slices.Reverse(all)
		return aMarker.ReplaceAllStringFunc(text, func(string) (m string) {
			m, all = all[0], all[1:]
			return m
		})
	}},
	{"puts them last", func(text string) string {
		all := aMarker.FindAllString(text, -1)
		return behind.ReplaceAllString(text, "") + strings.Join(all, "")
	}},
	{"drops them", func(text string) string { return aMarker.ReplaceAllString(text, "") }},
}

// Formatting in words comes back on whole words in all kinds of files, or the translation is flagged, whatever a model does to
// markers.
func TestFormattingInWords(t *testing.T) {
	cases := formattingCases()
	require.GreaterOrEqual(t, len(cases), 300)
	for _, to := range []string{"fr", "de", "ja", "zh"} {
		for number, habit := range habits {
			plain := translate.Decoding(t, words(to))
			s := translate.Decoding(t, func(text string) string { return habit.apply(words(to)(text)) })
			for _, format := range formattingFormats() {
				intact, flagged, broken := 0, 0, 0
				for i, c := range cases {
					if c.lang == to || testing.Short() && (i+number)%8 != 0 {
						continue
					}
					source, result, flag := throughFile(t, s, format, c, to)
					damage := c.damage(source, result)
					if habit.name == "keeps them" && !flag && isPlain(c, to) {
						want := translated(t, plain, c.lang, to, source.text())
						if got := result.text(); want != got {
							damage = append(damage, "the text is "+got+", not "+want)
						}
					}
					switch {
					case flag:
						flagged++
					case len(damage) > 0:
						broken++
						assert.Empty(t, damage, "%s, %s into %s: %s\n%s", habit.name, format.name, to, c, result.canonical())
					default:
						intact++
					}
				}
				t.Logf("%s, %s into %s: %d intact, %d flagged, %d broken", habit.name, format.name, to, intact, flagged, broken)
			}
		}
	}
}

// isPlain reports whether the words of a case are translated without regard to its formatting: the fake needs spaces around
// words.
func isPlain(c formattingCase, to string) bool {
	return c.lang != "ja" && c.lang != "zh" && to != "ja" && to != "zh" && c.kind != "several" && c.kind != "abbreviation" && c.kind != "spaces at edges" &&
		!isOdd.MatchString(c.text)
}

// throughFile translates a case as a file.
func throughFile(t *testing.T, s *translate.Service, format formattingFormat, c formattingCase, to string) (source, result formatted, flagged bool) {
	file := format.write(c)
	kind, err := kinds.Find("x."+format.name, "", file[:min(len(file), kinds.Head)])
	require.NoError(t, err)
	var records []translate.Record
	require.NoError(t, document.Texts(t.Context(), kind, bytes.NewReader(file), int64(len(file)), document.Options{}, func(text string, isNew bool) error {
		if isNew {
			records = append(records, translate.Record{Text: text})
		}
		return nil
	}))
	require.NotEmpty(t, records, c)
	results, err := s.Translate(t.Context(), translate.Request{From: c.lang, To: []string{to}, Records: records, Format: translate.FormatOf(kind.Form), Flagged: true})
	require.NoError(t, err)
	var out bytes.Buffer
	kept, err := document.Put(t.Context(), &out, kind, bytes.NewReader(file), int64(len(file)), document.Options{}, func(string) (string, error) {
		next := results[0]
		results = results[1:]
		flagged = flagged || next.Flags != 0
		return next.Text, nil
	})
	require.NoError(t, err)
	source, err = format.read(file)
	require.NoError(t, err)
	result, err = format.read(out.Bytes())
	require.NoError(t, err, "%s", c)
	return source, result, flagged || kept > 0
}

func translated(t *testing.T, s *translate.Service, from, to, text string) string {
	results, err := s.Translate(t.Context(), translate.Request{From: from, To: []string{to}, Records: []translate.Record{{Text: text}}, Format: translate.Text, Flagged: true})
	require.NoError(t, err)
	return results[0].Text
}
