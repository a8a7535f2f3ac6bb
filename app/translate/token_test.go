package translate

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// oddToken makes up a word that is not plain: letters with a digit, a capital, a sign or a numeric character inside.
func oddToken(random *rand.Rand) string {
	pick := func(from string) string {
		letters := []rune(from)
		return string(letters[random.IntN(len(letters))])
	}
	letters := func(least int) (text string) {
		for range least + random.IntN(4) {
			text += pick("abcdefghijklmnopqrstuvwxyzéß")
		}
		return text
	}
	capitals := strings.ToUpper(letters(1))
	digits := pick("123456789") + pick("0123456789")
	return []func() string{
		func() string { return capitals + digits },
		func() string { return letters(1) + digits + letters(1) },
		func() string { return letters(2) + strings.ToUpper(letters(1)) + letters(1) },
		func() string { return letters(1) + "_" + letters(1) },
		func() string { return pick("½¼¾⅓①②Ⅳ⁵₂") },
		func() string { return pick("23456789") + pick("½¼¾") },
		func() string { return capitals + pick("₂₃²³") + letters(0) },
		func() string { return pick("mkscg") + "/" + pick("sh") + pick("²³") },
		func() string { return letters(2) + "/" + letters(2) + "/" + letters(2) },
		func() string { return letters(2) + "=" + digits },
		func() string { return pick("$@%") + letters(3) + ":" + capitals },
		func() string { return capitals + pick("&+@") + capitals },
		func() string { return capitals + "-" + digits + capitals },
		func() string { return "0x" + digits + "AF" },
		func() string { return "{ " + pick("-$") + letters(2) + " }" },
		func() string { return letters(1) + "@" + letters(1) + "." + letters(2) },
		func() string { return "\u2068{" + letters(2) + "}\u2069" },
		func() string { return pick("αβжШ") + pick("λщ") },
	}[random.IntN(18)]()
}

// tokenFrames are sentences around a token. In some, another word or number follows.
var tokenFrames = []string{"See %s now.", "%s", "%s is good, or not", "The word (%s) has 5 letters!", "It's \"%s\"", "One %s, two %s.", "Is it %s?"}

// manglers damage a text as models do.
var manglers = []func(random *rand.Rand, text string) string{
	func(_ *rand.Rand, text string) string { return strings.ToLower(text) },
	func(_ *rand.Rand, text string) string { return strings.ToUpper(text) },
	func(random *rand.Rand, text string) string { // drops characters
		return strings.Map(func(r rune) rune {
			if random.IntN(8) == 0 {
				return -1
			}
			return r
		}, text)
	},
	func(random *rand.Rand, text string) string { // another digit
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) && random.IntN(2) == 0 {
				return '0' + rune(random.IntN(10))
			}
			return r
		}, text)
	},
	func(random *rand.Rand, text string) string { // drops a word, repeats another
		words := strings.Fields(text)
		i := random.IntN(len(words))
		words[i] = strings.Repeat(words[i]+" ", random.IntN(3))
		return strings.Join(words, " ")
	},
	func(_ *rand.Rand, text string) string { // drops everything but letters
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsSpace(r) {
				return r
			}
			return -1
		}, text)
	},
	func(_ *rand.Rand, text string) string { return strings.ReplaceAll(text, "", " ") },
}

// checkToken translates a sentence with a token by a model that mangles: the token must come back unchanged and as often, or the
// translation must be flagged.
func checkToken(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 36))
	token := oddToken(random)
	frame := tokenFrames[random.IntN(len(tokenFrames))]
	if r := []rune(token)[0]; r > 0x0370 && unicode.IsLetter(r) {
		frame = "See %s" // a text without letters of its language is left to the model
	}
	text := strings.ReplaceAll(frame, "%s", token)
	mangle := manglers[random.IntN(len(manglers))]
	s := corpusService(t, &upper{decode: func(text string, _ engine.Job) (string, bool) { return mangle(random, text), false }})
	results, err := s.Translate(t.Context(), Request{
		From: "en", To: []string{[]string{"de", "fr", "ja", "zh"}[random.IntN(4)]}, Records: []Record{{Text: text}}, Flagged: true,
	})
	require.NoError(t, err)
	if r := results[0]; r.Flags == 0 {
		assert.Equal(t, strings.Count(text, token), strings.Count(r.Text, token), "%d: %q became %q", seed, text, r.Text)
	}
}

func TestTokensAreKeptOrFlagged(t *testing.T) {
	for seed := range uint64(1500) {
		checkToken(t, seed)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add(uint64(36))
	f.Fuzz(checkToken)
}

// A small number that a model drops is restored or flagged, wherever it stands.
func TestSmallNumbersAreKeptOrFlagged(t *testing.T) {
	drop := func(text string, _ engine.Job) (string, bool) {
		return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, text)), " "), false
	}
	s := corpusService(t, &upper{decode: drop})
	for _, frame := range []string{
		"I have %d cats.", "Room %d", "€%d is the price.", "It costs US$ %d.", "We met on %d Feb 2021.", "Paris,France,%d",
		"Lesson %d", "No. %d", "She is %d years old and has 7 cats.", "It is %d km to the city.", "See %d/12/2020", "at %d pm",
	} {
		for n := 2; n <= 12; n++ {
			text := fmt.Sprintf(frame, n)
			results, err := s.Translate(t.Context(), Request{From: "en", To: []string{"de", "fr", "ja"}, Records: []Record{{Text: text}}, Flagged: true})
			require.NoError(t, err)
			for _, r := range results {
				if r.Flags == 0 {
					assert.Contains(t, r.Text, strconv.Itoa(n), text)
				}
			}
		}
	}
}
