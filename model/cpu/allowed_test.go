package cpu_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
	"dragoman/model/family"
	"dragoman/model/modeltest"
	"dragoman/model/search"
	"dragoman/tokenizer"
)

// written returns the scripts of the bundled model's languages.
func written(language string) []string {
	return map[string][]string{"ja": {"Han", "Hiragana", "Katakana"}, "zh": {"Han"}, "en": {"Latin"}, "fr": {"Latin"}, "de": {"Latin"}, "th": {"Thai"}}[language]
}

func openScripts(t *testing.T, dir string, scripts func(string) []string) *cpu.Model {
	t.Helper()
	m, err := cputest.Runtime(t).Open(t.Context(), dir, cpu.Options{Scripts: scripts, Within: bundledTokenizer(t).Within})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func bundledTokenizer(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	tok, err := family.OpenTokenizer(cputest.Bundled(), "m2m100", nil)
	require.NoError(t, err)
	return tok
}

// everywhere matches pieces of Latin letters that all translations may have.
var everywhere = regexp.MustCompile(`^▁?([A-Za-z]{1,2}|[\p{Latin}\p{Greek}]|[A-Z0-9]+)$`)

// mayHave reports whether a translation into a language may have a piece, given the source. It checks the letters one by one.
func mayHave(tok *tokenizer.Tokenizer, piece string, id int64, language string, source []int64) bool {
	scripts, text := written(language), tok.Decode(source)
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Common) }) {
		scripts = append([]string{"Latin"}, scripts...)
	}
	foreign := strings.ContainsFunc(piece, func(r rune) bool {
		return !unicode.In(r, unicode.Common, unicode.Inherited) && !slices.ContainsFunc(scripts, func(s string) bool { return unicode.Is(unicode.Scripts[s], r) })
	})
	within := false
	tok.Within(source, func(found int64) { within = within || found == id })
	return !foreign || within || everywhere.MatchString(piece)
}

// A translation may have all pieces that a good one needs, and none of other languages.
func TestAllowed(t *testing.T) {
	tok, m := bundledTokenizer(t), openScripts(t, cputest.Exported(t, cputest.Bundled(), model.INT8), written)
	for name, c := range map[string]struct{ from, to, source, needed, foreign string }{
		"a name":                  {"en", "ja", "Mary lives in Boston.", "Maryはボストン(Boston)に住んでいます。", "because weil"},
		"a name between letters":  {"en", "zh", "Mary uses Facebook.", "Mary使用Facebook。", "ています because"},
		"an acronym":              {"fr", "ja", "L'OTAN a été fondée en 1949.", "NATOは1949年に設立された。", "weil because"},
		"a name of other letters": {"ja", "fr", "トムはマイクロソフトで働いている。", "Tom travaille chez Microsoft.", "私は"},
		"a quoted word":           {"fr", "de", "Il a écrit « トム » au tableau.", "Er schrieb „トム“ an die Tafel.", "ています"},
		"a name of a third kind":  {"ja", "zh", "Tomは東京に行きました。", "Tom去了Tokyo。", ""},
		"punctuation":             {"en", "fr", "\"Yes,\" he said – 3 € (20%)…", "« Oui, » a-t-il dit — 3 € (20 %)…", "と言"},
		"brackets":                {"en", "ja", "He said: \"No!\"", "彼は「いいえ!」、『ノー』と言った。〜・", "nein"},
		"only digits":             {"en", "ja", "3 + 4 = 7", "3+4=7。", "three"},
		"nothing":                 {"en", "ja", "", "", "the"},
	} {
		t.Run(name, func(t *testing.T) {
			source, err := tok.Encode(c.from, c.to, c.source)
			require.NoError(t, err)
			allowed, err := m.Allows(source, append([]int64{m.Spec().DecoderStart}, tok.Forced(c.from, c.to)...))
			require.NoError(t, err)
			needed, err := tok.EncodeTarget(c.needed)
			require.NoError(t, err)
			for _, id := range append(needed, m.Spec().EOS) {
				piece, _ := tok.Piece(id)
				assert.True(t, allowed[id], "needed: %q", piece)
			}
			foreign, err := tok.EncodeTarget(c.foreign)
			require.NoError(t, err)
			for _, id := range foreign {
				if piece, _ := tok.Piece(id); strings.ContainsFunc(piece, unicode.IsLetter) && !everywhere.MatchString(piece) {
					assert.False(t, allowed[id], "foreign: %q", piece)
				}
			}
		})
	}
}

// With scripts a translation has only pieces of its scripts. A greedy translation that had only such pieces before is unchanged.
func TestScripts(t *testing.T) {
	g := modeltest.Bundled(t)
	cases, dir := modeltest.Sample(3, g.Cases), cputest.Exported(t, cputest.Bundled(), model.INT8)
	tok := bundledTokenizer(t)
	languages := map[int64]string{}
	for _, code := range tok.Languages() {
		id, _ := tok.LanguageID(code)
		languages[id] = code
	}
	without, with := openScripts(t, dir, nil), openScripts(t, dir, written)
	unchanged := 0
	for _, setting := range []string{"greedy", "beam5"} {
		options := search.DefaultOptions(g.Settings[setting])
		before, after := decode(t, without, options, cases), decode(t, with, options, cases)
		for i, c := range cases {
			language := languages[c.Prefix[len(c.Prefix)-1]]
			allowed := func(tokens []int64) bool {
				return !slices.ContainsFunc(tokens, func(id int64) bool {
					piece, ok := tok.Piece(id)
					return ok && !mayHave(tok, piece, id, language, c.Source)
				})
			}
			require.True(t, allowed(after[i].Tokens), "%s into %s: %q", setting, language, tok.Decode(after[i].Tokens))
			if options.Beams == 1 && allowed(before[i].Tokens) {
				require.Equal(t, before[i].Tokens, after[i].Tokens, "%q", tok.Decode(before[i].Tokens))
				unchanged++
			}
		}
	}
	assert.Greater(t, unchanged, len(cases)/2)
}

// With scripts, too, a result does not depend on the other sentences in the batch, whatever their languages.
func TestScriptsInvariance(t *testing.T) {
	m := openScripts(t, cputest.Exported(t, cputest.Bundled(), model.INT8), written)
	modeltest.CheckInvariance(t, m, modeltest.MixedJobs(m, modeltest.Sample(6, modeltest.Bundled(t).Cases), 40), 0, 3)
}

// If the target language is unknown, or has no scripts, translations may have all pieces.
func TestScriptsOfNoLanguage(t *testing.T) {
	g := modeltest.Bundled(t)
	cases, dir := modeltest.Sample(20, g.Cases), cputest.Export(t, cputest.Bundled(), model.INT8)
	options := search.DefaultOptions(g.Settings["greedy"])
	want := decode(t, openScripts(t, dir, nil), options, cases)
	assert.Equal(t, want, decode(t, openScripts(t, dir, func(string) []string { return nil }), options, cases), "of no known script")

	manifest, err := model.ReadManifest(dir)
	require.NoError(t, err)
	told, absent := manifest.Scripts.Languages, int64(manifest.Spec.VocabSize-1) // a made-up word
	for _, c := range cases {
		require.NotContains(t, c.Source, absent)
	}
	for _, inSource := range []bool{false, true} {
		manifest.Scripts.Languages, manifest.Scripts.InSource = map[string]int64{"ja": absent}, inSource
		require.NoError(t, manifest.Write(dir))
		assert.Equal(t, want, decode(t, openScripts(t, dir, written), options, cases), "without a token")
	}
	manifest.Scripts.Languages = told // the first token of these sources
	require.NoError(t, manifest.Write(dir))
	m := openScripts(t, dir, func(string) []string { return []string{"Thai"} })
	tok := bundledTokenizer(t)
	for i, r := range decode(t, m, options, cases) {
		for _, id := range r.Tokens {
			piece, ok := tok.Piece(id)
			han := ok && strings.ContainsFunc(piece, func(r rune) bool { return unicode.Is(unicode.Han, r) })
			assert.False(t, han && !mayHave(tok, piece, id, "th", cases[i].Source), "case %d has %q", i, piece)
		}
	}
}

func TestDamagedScripts(t *testing.T) {
	for name, damage := range map[string]func(*model.Scripts){
		"too few outputs": func(s *model.Scripts) { s.Runs = s.Runs[1:] },
		"too many":        func(s *model.Scripts) { s.Runs[0].Outputs++ },
		"a negative run": func(s *model.Scripts) {
			s.Runs[0].Outputs, s.Runs[1].Outputs = -1, s.Runs[0].Outputs+s.Runs[1].Outputs+1
		},
		"no runs":          func(s *model.Scripts) { s.Runs = nil },
		"behind the file":  func(s *model.Scripts) { s.Tokens = 1 << 60 },
		"before the file":  func(s *model.Scripts) { s.Tokens = -1 },
		"something else":   func(s *model.Scripts) { s.Tokens = 0 },
		"no such language": func(s *model.Scripts) { s.Languages["xx"] = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			dir := cputest.Export(t, cputest.Bundled(), model.INT8)
			manifest, err := model.ReadManifest(dir)
			require.NoError(t, err)
			damage(manifest.Scripts)
			require.NoError(t, manifest.Write(dir))
			_, err = cputest.Runtime(t).Open(t.Context(), dir, cpu.Options{Scripts: written})
			if name == "no such language" {
				require.NoError(t, err, "nobody asks for it")
				return
			}
			require.ErrorIs(t, err, model.ErrDamaged)
		})
	}
}
