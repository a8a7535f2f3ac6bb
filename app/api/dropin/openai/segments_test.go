package openai

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/lineartest"
	"dragoman/app/translate"
)

// The scanners of numbers, separators and blank lines match these regular expressions, which are ten times as slow.
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

// hostile calls do with repeated units, alone and after instructions.
func hostile(do func(begin, unit string)) {
	for _, unit := range []string{
		"a ", "a\n", "\n", "1\n", "1. a\n", "(a\n", "%%\n", "---\n", "from ", "into ", "translate to ", "text:", ":", "：", "\ninput: x\n", "翻译成", "🔤", "🔤.", "```", " ", "\t\n", "= ", "日",
		"line 1: a\n", "-->\n", `{"a":1},`, `"a",`, `"1",`, "[", "a\n\n", "1", "1,", "target_language ", "\"a\"\n", "\"", "Context: a\n\n", "glossary:\na\tb\n",
	} {
		for _, begin := range []string{"", "Translate to French:\n\n", "Translate to French. Text: ", "Translate ", "[", "```\n"} {
			do(begin, unit)
		}
	}
}

// Work on a message before its admission is linear. Only a bounded part is read as instructions, whose words take a hundred
// times as long.
func TestMessagesAreLinear(t *testing.T) {
	hostile(func(begin, unit string) {
		for _, most := range []int{leastInstructions, mostInstructions} {
			text := begin + strings.Repeat(unit, 100_000/len(unit))
			for _, p := range []prompt{read("", text, most, false), read(text, "a", most, false), read(text, text, most, false)} {
				assert.LessOrEqual(t, len(p.instructions.text), most+1, "%q%q", begin, unit)
			}
		}
	})
	const part, whole = 1 << 16, 1 << 19
	lineartest.New(t).Assert("messages", strings.Repeat(" ", part), strings.Repeat(" ", whole), func(size string) {
		hostile(func(begin, unit string) {
			text := begin + strings.Repeat(unit, len(size)/len(unit))
			p := read(text, text, mostInstructions, false)
			readOrder(p.text)
			_, _ = split(p.text)
		})
	})
}

// The field model may be as long as a body, so splitting it is linear.
func TestNamesAreLinear(t *testing.T) {
	long := "gpt-" + strings.Repeat("a", longestName) + ":fr" // each part of a stream would repeat it
	name, _ := splitName(long)
	assert.Equal(t, long, name)
	lineartest.New(t).Assert("names", strings.Repeat(" ", 1<<11), strings.Repeat(" ", 1<<14), func(size string) {
		for _, unit := range []string{"a-", "en-", "a:", "-", "o1", "EN_"} {
			splitName("dragoman:" + strings.Repeat(unit, len(size)/len(unit)))
		}
	})
}

// A text after instructions is complete, whatever its length.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("A dog. ", mostInstructions)
	for _, begin := range []string{"Translate to French:\n\n", "Translate to French: ", "Translate the text to French. Text: ", "翻译成法语：", "From English to French 🔤. it is in 🔤"} {
		p := read("", begin+long+"🔤", mostInstructions, false)
		assert.True(t, p.form, begin)
		assert.Equal(t, strings.TrimSpace(long), strings.TrimSpace(strings.TrimSuffix(p.text, "🔤")), begin)
	}
	p := read("Translate to French. "+long+" Do not translate names.", long, mostInstructions, false)
	assert.Equal(t, pair{to: []string{"fr"}}, p.instructions.languages())
	p = read(long+" Translate to French.", long, mostInstructions, false)
	assert.Equal(t, pair{to: []string{"fr"}}, p.instructions.languages())
}

// The terms of a glossary have the same order each time: of two with the same words, such as "cat" and " cat", the first counts.
func TestTermsAreSorted(t *testing.T) {
	want := make([]translate.Term, 26)
	members := make([]string, len(want))
	for i := range want {
		source := string(rune('a' + i))
		want[i], members[len(want)-1-i] = translate.Term{Source: source, Target: "x"}, quote(source)+`:"x"`
	}
	_, _, terms, ok := readOrder(`{"targetLanguage":"fr","segments":[],"glossary":{` + strings.Join(members, ",") + `}}`)
	require.True(t, ok)
	assert.Equal(t, want, terms)
}

// The allocations for a message of KISS Translator are linear, also for segments without letters.
func TestKissIsLinear(t *testing.T) {
	allocated := func(segments int) float64 {
		text := `{"targetLanguage":"fr","segments":[` + strings.Repeat(`{"id":1,"text":"12345678901234567890"},`, segments) + `{"id":2,"text":"a"}]}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parts, _, _, ok := readOrder(text)
		runtime.ReadMemStats(&after)
		require.True(t, ok)
		require.Len(t, parts, 2)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	assert.Less(t, allocated(8000)/allocated(1000), 12.0)
}

// A message with too many texts is refused before all of them are parsed.
func TestTooManySegments(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("1. a\n", 2*maxParts), strings.Repeat("a\n---\n", 2*maxParts), "[" + strings.Repeat(`"a",`, 2*maxParts) + `"b"]`,
		`{"targetLanguage":"fr","segments":[` + strings.Repeat(`{"id":1,"text":"a"},`, 2*maxParts) + `{"id":2,"text":"a"}]}`,
	} {
		_, _, _, ok := readOrder(text)
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
				p := read(begin+text, text, mostInstructions, false)
				readOrder(p.text)
				_, _ = split(p.text)
			}
		})
	}
}

// Lines in quotation marks keep them; those of a dialog are translated as they are.
func TestQuotedLines(t *testing.T) {
	for text, want := range map[string][]string{
		"\"A dog\"\n\"A cat\"": {"A dog", "A cat"},
		"\"A dog.\"":           {"A dog."},
		" \"A dog\" \r\n\n\"Read \"this\" now\"\n": {"A dog", "Read \"this\" now"},
		`"Say \"hi\"."`:                               {`Say \"hi\".`},
		"\"7\"\n\"A cat\"":                            {"A cat"},
		"\"A dog,\" he said, \"barks.\"":              {"\"A dog,\" he said, \"barks.\""},
		"\"Yes.\"\n\"No,\" he said. \"It is a cat.\"": {"\"Yes.\"\n\"No,\" he said. \"It is a cat.\""},
		"\"A dog\"\nA cat":                            {"\"A dog\"\nA cat"},
		"\"":                                          nil,
		"\"\"\n\"A\"":                                 {"A"},
	} {
		parts, err := split(text)
		require.NoError(t, err)
		var texts []string
		joined := ""
		for _, part := range parts {
			joined += part.before + part.text
			if part.text != "" {
				texts = append(texts, part.text)
			}
		}
		assert.Equal(t, want, texts, "%q", text)
		assert.Equal(t, text, joined)
	}
}

// The terms in a program's instructions count, wherever the program writes them.
func TestTermsOfInstructions(t *testing.T) {
	for instructions, want := range map[string][]translate.Term{
		"Translate.\nUse the following glossary during the translation:\n\ndog\tchien\n":               nil, // a blank line ends a glossary
		"Translate.\nUse the following glossary during the translation:\nthe dog\tle chien\ncat\tchat": {{Source: "the dog", Target: "le chien"}, {Source: "cat", Target: "chat"}},
		"Glossary (follow strictly):\n- Keep these terms exactly as written, do not translate them: \"Acme\", \"A-1\".\n- Use these exact translations for the following terms: \"dog\" → \"chien\"; \"cat\" → \"chat\".\n\nYou translate.": {
			{Source: "Acme", Target: "Acme"}, {Source: "A-1", Target: "A-1"}, {Source: "dog", Target: "chien"}, {Source: "cat", Target: "chat"}},
		"Terminology:\r\n- dog -> chien\r\n* a cat = un chat\r\n- none\r\n\r\nA = B": {{Source: "dog", Target: "chien"}, {Source: "a cat", Target: "un chat"}},
		"术语：\n\"dog\": \"chien\"":                                                    {{Source: "dog", Target: "chien"}},
		"Translate en -> fr.\nDo not say \"hi\"":                                     nil,
		"":                                                                           nil,
	} {
		assert.Equal(t, want, termsIn(instructions), instructions)
	}
}
