package remote

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/prompt"
)

func newTestReader() *Reader {
	return NewReader(map[string][]string{
		"en": {"English", "英语"}, "fr": {"French", "法语"}, "de": {"German"}, "zh": {"Chinese", "中文"}, "es": {"Spanish"}, "ja": {"Japanese"}, "no": {"Norwegian"}, "da": {"Danish"},
	})
}

const (
	roomEn = "The hotel has a small garden behind the old house."
	roomFr = "L'hôtel a un petit jardin derrière la vieille maison."
)

// Answers that are more or less than a translation of roomEn.
func TestReadAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		answer, text string
		fault        prompt.Fault
	}{
		"plain":                     {roomFr, roomFr, ""},
		"spaces":                    {"\n  " + roomFr + " \r\n", roomFr, ""},
		"thinking":                  {"<think>\nThe user wants French.\n\nLet me see.\n</think>\n\n" + roomFr, roomFr, ""},
		"thinking without begin":    {"The user wants French.\n</think>\n" + roomFr, roomFr, ""},
		"thinking without end":      {"<think>The user wants French, so I will", "", prompt.Refused},
		"only thinking":             {"<think>The user wants French.</think>", "", prompt.Refused},
		"marks of a template":       {"<|im_start|>assistant\n" + roomFr + "<|im_end|>\n<|im_start|>user\nThanks!", roomFr, ""},
		"end of turn":               {roomFr + "<end_of_turn>", roomFr, ""},
		"a fence":                   {"```\n" + roomFr + "\n```", roomFr, ""},
		"a fence with a language":   {"```text\n" + roomFr + "\n```", roomFr, ""},
		"an element":                {"<target>" + roomFr + "</target>", roomFr, ""},
		"JSON":                      {`{"translation": "` + roomFr + `"}`, roomFr, ""},
		"quotation marks":           {`"` + roomFr + `"`, roomFr, ""},
		"French marks":              {"« " + roomFr + " »", roomFr, ""},
		"bold":                      {"**" + roomFr + "**", roomFr, ""},
		"a label":                   {"French: " + roomFr, roomFr, ""},
		"a bold label":              {"**French:** " + roomFr, roomFr, ""},
		"its own label":             {"Français : " + roomFr, roomFr, ""},
		"a Chinese label":           {"译文：" + roomFr, roomFr, ""},
		"an announcement":           {"Sure! Here is the French translation of the text:\n\n" + roomFr, roomFr, ""},
		"an announcement and marks": {"Here's the translation:\n\n\"" + roomFr + "\"", roomFr, ""},
		"a French announcement":     {"Voici la traduction :\n" + roomFr, roomFr, ""},
		"a note":                    {roomFr + "\n\n(Note: \"jardin\" can also mean yard.)", roomFr, ""},
		"an explanation":            {roomFr + "\n\n**Explanation:**\n- jardin: garden\n- maison: house", roomFr, ""},
		"a Chinese note":            {roomFr + "\n注：jardin 也可以指院子。", roomFr, ""},
		"an offer":                  {roomFr + "\n\nLet me know if you need anything else!", roomFr, ""},
		"the source before it":      {roomEn + "\n" + roomFr, roomFr, ""},
		"an arrow":                  {roomEn + " → " + roomFr, roomFr, ""},
		"an unknown addition":       {roomFr + "\n\nThis sentence describes a hotel.", roomFr + "\n\nThis sentence describes a hotel.", prompt.Chatter},
		"much longer": {roomFr + " Cette phrase décrit un hôtel ; le mot jardin désigne un espace vert, et la maison est ancienne. On peut aussi dire cour, ou parc, selon " +
			"la région où l'on habite, et selon que l'on parle à des amis ou à des inconnus.", "", prompt.Chatter},
		"English":             {"The inn owns a little park at the back of that ancient building.", "", prompt.OtherLanguage},
		"Spanish":             {"El hotel tiene un pequeño jardín detrás de la casa antigua, donde los niños juegan.", "", prompt.OtherLanguage},
		"a refusal":           {"I'm sorry, but I can't assist with that request.", "", prompt.Refused},
		"a refusal in French": {"Je suis désolé, mais je ne peux pas traduire ce texte.", "", prompt.Refused},
		"what it is":          {"As an AI language model, I cannot provide translations of copyrighted text.", "", prompt.Refused},
		"a Chinese refusal":   {"抱歉，我无法协助翻译该内容。", "", prompt.Refused},
		"a German refusal":    {"Es tut mir leid, aber ich kann Ihnen dabei nicht helfen.", "", prompt.Refused},
		"empty":               {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, fault := newTestReader().Read(roomEn, test.answer, "en", "fr")
			assert.Equal(t, test.fault, fault, "%q", text)
			if test.text != "" || fault == "" || fault == prompt.Refused {
				assert.Equal(t, test.text, text)
			}
		})
	}
}

// Translations of sources that look like something else stay as they are.
func TestReadKeepsTranslations(t *testing.T) {
	for _, test := range []struct{ source, from, to, answer string }{
		{"I'm sorry, but I can't help you with that.", "en", "fr", "Je suis désolé, mais je ne peux pas vous aider."},
		{"Es tut mir leid, ich kann diesen Text nicht übersetzen.", "de", "en", "I'm sorry, I cannot translate this text."},
		{"对不起，我不能帮你翻译。", "zh", "en", "I'm sorry, I can't help you translate."},
		{"Note: the garden is closed.", "en", "fr", "Remarque : le jardin est fermé."},
		{"The house.\nNote: closed.", "en", "fr", "La maison.\nNote : fermée."},
		{"\"Come in,\" she said. \"Sit down.\"", "en", "fr", "« Entrez », dit-elle. « Asseyez-vous. »"},
		{"\"Come in!\"", "en", "fr", "« Entrez ! »"},
		{"Here is the list:", "en", "fr", "Voici la liste :"},
		{"Voici la liste", "fr", "en", "Here is the list"},
		{"French: a language", "en", "fr", "Français : une langue"},
		{"Translation: house", "en", "fr", "Traduction : maison"},
		{"<think>", "en", "fr", "<think>"},
		{"Use the tag <s> here.", "en", "fr", "Utilisez ici la balise <s>."},
		{"```\nx = 1\n```", "en", "fr", "```\nx = 1\n```"},
		{"**Bold**", "en", "fr", "**Gras**"},
		{"Paris", "en", "fr", "Paris"},
		{"你好", "zh", "en", "Hello"},
		{"Ok: go on.", "en", "fr", "D'accord : continuez."},
		{"Jeg liker å lese bøker i hagen hver dag.", "no", "da", "Jeg kan godt lide at læse bøger i haven hver dag."},
		{"First.\n\nSecond.", "en", "fr", "Premier.\n\nDeuxième."},
		{"The song \"Here comes the sun, and I say it's all right\" by The Beatles", "en", "fr", "La chanson \"Here comes the sun, and I say it's all right\" des Beatles"},
		{"他说：", "zh", "en", "He said:"},
		{"Please let me know.", "en", "fr", "Faites-le-moi savoir."},
	} {
		text, fault := newTestReader().Read(test.source, test.answer, test.from, test.to)
		assert.Empty(t, fault, "%q", test.answer)
		assert.Equal(t, test.answer, text)
	}
}

// No translation of people is changed or has a fault.
func TestReadKeepsCorpus(t *testing.T) {
	raw, err := os.ReadFile("../../scripts/quality/dev.tsv")
	require.NoError(t, err)
	r, n := newTestReader(), 0
	for line := range strings.Lines(string(raw)) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, field, 5)
		for _, pair := range [][4]string{{field[1], field[2], field[3], field[4]}, {field[2], field[1], field[4], field[3]}} {
			text, fault := r.Read(pair[2], pair[3], pair[0], pair[1])
			assert.Equal(t, strings.TrimSpace(pair[3]), text)
			assert.Empty(t, fault, "%q", pair)
			n++
		}
	}
	assert.Greater(t, n, 4000)
}

func FuzzRead(f *testing.F) {
	r := newTestReader()
	f.Add(roomEn, "<think>x</think>**French:** \""+roomFr+"\"\n\nNote: x")
	f.Add("x", "```\n```")
	f.Fuzz(func(t *testing.T, source, answer string) {
		text, _ := r.Read(source, answer, "en", "fr")
		assert.LessOrEqual(t, len(text), len(answer))
	})
}
