package translate

import (
	"os"
	"strings"
	"testing"
	"unique"

	"github.com/stretchr/testify/require"
)

// BenchmarkProse takes 2 MB of plain text through all but the model, which answers at once: cut finds sentences and spans, check
// compares each sentence with its translation. DRAGOMAN_PROSE names a file with two language codes, a sentence and its translation
// by a person in each line, with tabs between them; without it, a translation is the sentence itself.
//
//	DRAGOMAN_PROSE=pairs.tsv go test -run '^$' -bench Prose ./app/translate
func BenchmarkProse(b *testing.B) {
	const size = 2 << 20
	path, own := "../text/language/testdata/sentences.tsv", os.Getenv("DRAGOMAN_PROSE")
	if own != "" {
		path = own
	}
	file, err := os.ReadFile(path)
	require.NoError(b, err)
	type answer struct{ to, text string }
	answers := map[string]map[string]answer{} // by language and sentence
	add := func(from, into, source, translation string) {
		if answers[from] == nil {
			answers[from] = map[string]answer{}
		}
		answers[from][source] = answer{unique.Make(into).Value(), translation} // one string, as in a request
	}
	for line := range strings.Lines(string(file)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if own == "" {
			add(columns[0], "de", columns[1], columns[1])
			continue
		}
		add(columns[0], columns[1], columns[2], columns[3])
		add(columns[1], columns[0], columns[3], columns[2])
	}
	for _, lang := range []string{"en", "de", "fr", "ja", "zh", "ru"} {
		var text strings.Builder
		for text.Len() < size && len(answers[lang]) > 0 {
			n := 0
			for source := range answers[lang] {
				if text.Len() >= size {
					break
				}
				text.WriteString(source)
				if n++; n%8 == 0 {
					text.WriteString("\n\n")
				} else {
					text.WriteByte(' ')
				}
			}
		}
		if text.Len() == 0 {
			continue
		}
		b.Run(lang+"/cut", func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				_, err := Sentences(b.Context(), text.String(), lang, Text)
				require.NoError(b, err)
			}
		})
		sentences, err := Sentences(b.Context(), text.String(), lang, Text)
		require.NoError(b, err)
		translations := make([]answer, len(sentences))
		for i, s := range sentences {
			translations[i] = answer{lang, s.Text}
			if a, ok := answers[lang][s.Text]; ok {
				translations[i] = a
			}
		}
		b.Run(lang+"/check", func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				for i, s := range sentences {
					if _, _, err := Check(b.Context(), s, translations[i].text, lang, translations[i].to); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
