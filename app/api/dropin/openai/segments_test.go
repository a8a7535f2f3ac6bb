package openai

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/lineartest"
)

// The numbers of lines, the separators and the empty lines are those that these expressions tell, which take ten times as long.
func TestLikeExpressions(t *testing.T) {
	numbered := regexp.MustCompile(`^\s*(?:\[\d+\]|\(\d+\)|<\d+>|#?\d+[.)、](?:\s|$)|#\d+|\d+\s*[|:：]|(?i:line) ?\d+:)\s*`)
	separator := regexp.MustCompile(`^[ \t]*(?:%%|---+|===+|\|\|\|)[ \t]*$`)
	blank := regexp.MustCompile(`\n[ \t]*\n\s*`)
	signs := []string{"1", "2", "#", ".", ")", "、", "[", "]", "(", "<", ">", "|", ":", "：", "\n", " ", "\t", "\r", "line", "LiNe", "a", "%%", "--", "=="}
	tried := 0
	var try func(text string, more int)
	try = func(text string, more int) {
		tried++
		require.Equal(t, len(numbered.FindString(text)), number(text), "%q", text)
		if !strings.ContainsAny(text, "\r\n") {
			require.Equal(t, separator.MatchString(text), separates(text), "%q", text)
		}
		before, empty, after, ok := cutBlank(text)
		require.Equal(t, text, before+empty+after)
		require.Equal(t, blank.FindString(text), empty, "%q", text)
		require.Equal(t, blank.MatchString(text), ok, "%q", text)
		if more > 0 {
			for _, sign := range signs {
				try(text+sign, more-1)
			}
		}
	}
	try("", 4)
	require.Greater(t, tried, 300_000)
}

// hostile are messages of one unit again and again, as they are and behind instructions.
func hostile(do func(begin, unit string)) {
	for _, unit := range []string{
		"a ", "a\n", "\n", "1\n", "1. a\n", "(a\n", "%%\n", "---\n", "from ", "into ", "translate to ", "text:", ":", "：", "\ninput: x\n", "翻译成", "🔤", "🔤.", "```", " ", "\t\n", "= ", "日",
		"line 1: a\n", "-->\n", `{"a":1},`, `"a",`, `"1",`, "[", "a\n\n", "1", "1,", "target_language ",
	} {
		for _, begin := range []string{"", "Translate to French:\n\n", "Translate to French. Text: ", "Translate ", "[", "```\n"} {
			do(begin, unit)
		}
	}
}

// What is done with a message before anything is admitted is linear, and only so much of it is taken for instructions, in which each
// word takes a hundred times as long.
func TestMessagesAreLinear(t *testing.T) {
	hostile(func(begin, unit string) {
		for _, most := range []int{leastInstructions, mostInstructions} {
			text := begin + strings.Repeat(unit, 100_000/len(unit))
			for _, p := range []prompt{read("", text, most), read(text, "a", most), read(text, text, most)} {
				assert.LessOrEqual(t, len(p.instructions), most+1, "%q%q", begin, unit)
			}
		}
	})
	const part, whole = 1 << 16, 1 << 19
	lineartest.New(t).Assert("messages", strings.Repeat(" ", part), strings.Repeat(" ", whole), func(size string) {
		hostile(func(begin, unit string) {
			text := begin + strings.Repeat(unit, len(size)/len(unit))
			p := read(text, text, mostInstructions)
			readKiss(p.text)
			_, _ = split(p.text)
		})
	})
}

// The field model may be as long as a body.
func TestNamesAreLinear(t *testing.T) {
	long := "gpt-" + strings.Repeat("a", longestName) + ":fr" // which each part of a stream would repeat
	name, _ := splitName(long)
	assert.Equal(t, long, name)
	lineartest.New(t).Assert("names", strings.Repeat(" ", 1<<11), strings.Repeat(" ", 1<<14), func(size string) {
		for _, unit := range []string{"a-", "en-", "a:", "-", "o1", "EN_"} {
			splitName("dragoman:" + strings.Repeat(unit, len(size)/len(unit)))
		}
	})
}

// A text that is behind instructions is whole, however long it is.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("A dog. ", mostInstructions)
	for _, begin := range []string{"Translate to French:\n\n", "Translate to French: ", "Translate the text to French. Text: ", "翻译成法语：", "From English to French 🔤. it is in 🔤"} {
		p := read("", begin+long+"🔤", mostInstructions)
		assert.True(t, p.form, begin)
		assert.Equal(t, strings.TrimSpace(long), strings.TrimSpace(strings.TrimSuffix(p.text, "🔤")), begin)
	}
	p := read("Translate to French. "+long+" Do not translate names.", long, mostInstructions)
	assert.Equal(t, pair{to: []string{"fr"}}, languagesIn(p.instructions))
	p = read(long+" Translate to French.", long, mostInstructions)
	assert.Equal(t, pair{to: []string{"fr"}}, languagesIn(p.instructions))
}

// What is allocated for a message of KISS Translator grows with it, also where its segments have nothing to translate.
func TestKissIsLinear(t *testing.T) {
	allocated := func(segments int) float64 {
		text := `{"targetLanguage":"fr","segments":[` + strings.Repeat(`{"id":1,"text":"12345678901234567890"},`, segments) + `{"id":2,"text":"a"}]}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parts, _, _, ok := readKiss(text)
		runtime.ReadMemStats(&after)
		require.True(t, ok)
		require.Len(t, parts, 2)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	assert.Less(t, allocated(8000)/allocated(1000), 12.0)
}

// The texts of a message are refused when there are too many, not when all of them are there.
func TestTooManySegments(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("1. a\n", 2*maxParts), strings.Repeat("a\n---\n", 2*maxParts), "[" + strings.Repeat(`"a",`, 2*maxParts) + `"b"]`,
		`{"targetLanguage":"fr","segments":[` + strings.Repeat(`{"id":1,"text":"a"},`, 2*maxParts) + `{"id":2,"text":"a"}]}`,
	} {
		_, _, _, ok := readKiss(text)
		assert.False(t, ok)
		_, err := split(text)
		assert.ErrorContains(t, err, "more than 10000 texts")
	}
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	for what, text := range lineartest.Texts("a ", "1. a\n", "%%\n", "---\n", "translate to ", "line 1: a\n", `{"a":1},`, "```\n") {
		timed.Assert(what, text, func(text string) {
			for _, begin := range []string{"", "Translate to French:\n\n", "["} {
				p := read(begin+text, text, mostInstructions)
				readKiss(p.text)
				_, _ = split(p.text)
			}
		})
	}
}
