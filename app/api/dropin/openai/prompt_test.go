package openai

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Messages whose instructions are in the user's message. The text may hold what looks like another form, and is complete.
func TestFormsOfPrompts(t *testing.T) {
	const i18n = "You are a professional translator.\n\nTranslate from English to French.\n\n- Translate each object in the array.\n- 'original' is the text to be translated.\n" +
		"- 'translated' must not be empty.\n\nSpecial Instructions:\n- Treat anything in the format {{variableName}} as a placeholder.\n\nReturn the translation as JSON.\n```json\n[{\"id\":1,\"original\":\"A dog\"}]\n```\n"
	const csv = "You are a professional translator.\n\nTranslate each line from English to French.\n\nReturn translations in the same text formatting.\n\nAll lines should start and end with an ASCII quotation mark (\").\n\n```\n\"A dog\"\n\"A cat\"\n```\n"
	const payload = "You are a machine-translation engine. Translate each string in the input JSON array from English (en) to French (fr).\n\nRules:\n" +
		"1. The output must be a valid JSON array of strings, with the same length and order as the input.\n2. SLUGS: Examples:\n   - \"about-us-copy\" (en) → \"o-nas-kopia\" (sk)\n5. Return only the JSON array.\n\nINPUT:\n[\"A dog\",\"7\"]"
	const weblate = "\nYou are a highly skilled translation assistant, adept at translating text\nfrom language 'en'\nto language 'pt_BR'\nwith precision and nuance.\n\nYou always reply with translated string only.\n"
	const strapi = "You are translating content from a CMS. Please translate the following JSON data to fr.\n\nIMPORTANT RULES:\n1. Preserve all JSON structure and keys exactly as provided\n2. Only translate string values\n\nSOURCE JSON:\n{\"title\": \"A dog\"}"
	for _, test := range []struct{ name, model, system, user, want, direction string }{
		{"i18n-ai-translate 5.1.0, JSON", "gpt-4o", "", i18n, `[{"id":1,"original":"A DOG"}]`, "en>fr"},
		{"i18n-ai-translate 5.1.0, CSV", "gpt-4o", "", csv, "\"A DOG\"\n\"A CAT\"", "en>fr"},
		{"i18n-ai-translate 5.1.0, a context", "gpt-4o", "", "Product context: a shop\n\n" + i18n, `[{"id":1,"original":"A DOG"}]`, "en>fr"},
		{"i18n-ai-translate 5.1.0, a glossary", "gpt-4o", "", "Product context: to Germany\n\nGlossary (follow strictly):\n- Keep these terms exactly as written, do not translate them: \"Acme\".\n- Use these exact translations for the following terms: \"dog\" → \"chien\".\n\n" + csv, "\"A chien\"\n\"A CAT\"", "en>fr"},
		{"@justanarthur/payload-plugin-translator 3.0.3", "gpt-4o-mini", "", payload, `["A DOG","7"]`, "en>fr"},
		{"@pigment/auto-translate 1.6.0", "gpt-4o", "You are a professional translator. Translate the JSON object values from en to fr.\n\nRules:\n- Only translate the values, never the keys", `{"a.b":"A dog"}`, `{"a.b":"A DOG"}`, "en>fr"},
		{"@payload-enchants/translator 1.3.0", "gpt-3.5-turbo", "", `Translate me the following array: ["A dog","7"] in locale=en to locale ja, respond me with the same array structure`, `["A DOG","7"]`, "en>ja"},
		{"a code with its name", "dragoman", "", "Translate the following array to ja (ja): [\"A dog\"]", `["A DOG"]`, "auto>ja"},
		{"Weblate to 5.14", "gpt-4o", weblate, "A dog\n==WEBLATE_PART==\nA cat", "A DOG\n==WEBLATE_PART==\nA CAT", "en>pt"},
		{"Weblate to 5.14, a glossary", "gpt-4o", weblate + "\nUse the following glossary during the translation:\ndog\tchien\n", "A dog", "A chien", "en>pt"},
		{"Weblate from 5.15", "gpt-4o", "You are a professional translation engine specialized in structured localization tasks.",
			`{"source_language": "en", "target_language": "fr", "glossary": [{"source": "dog", "target": "chien"}], "strings": [{"source": "A dog", "parts": [{"type": "text", "text": "A dog"}], "context": "menu"}, {"source": "7"}]}`, `["A chien","7"]`, "en>fr"},
		{"strapi-llm-translator 0.11.0", "dragoman", "You are a professional translator.", strapi, `{"title": "A DOG"}`, "auto>fr"},
		{"lingui-ai-translate 0.1.4", "dragoman", "Translate into fr. Only output the translation text. Do not translate text inside curly braces or ICU placeholders.", "A dog.", "A DOG.", "auto>fr"},
		{"LangChain's tutorial", "dragoman", "You are a helpful assistant that translates English to French. Translate the user sentence.", "A dog.", "A DOG.", "en>fr"},
		{"angle brackets", "dragoman", "", "Translate to French <<<A dog.>>>", "A DOG.", "auto>fr"},
		{"angle brackets that are named", "dragoman", "", "Translate the text between <<< and >>> from English to French.\n<<<A dog.\n\nA cat.>>>", "A DOG.\n\nA CAT.", "en>fr"},
		{"angle brackets, a line", "dragoman", "", "Translate from English into German:\n<<<\nA dog.\n>>>", "A DOG.", "en>de"},
		{"quotes of three", "dragoman", "", "Translate the text delimited by quotes into French.\n\"\"\"A dog.\"\"\"\nReturn only the translation.", "A DOG.", "auto>fr"},
		{"an arrow", "dragoman", "", "en -> fr\nA dog.", "A DOG.", "en>fr"},
		{"an arrow, a line", "dragoman", "", "English → French: A dog: brown.", "A DOG: BROWN.", "en>fr"},
		{"an arrow of the system's", "dragoman", "en->fr", "A dog.", "A DOG.", "en>fr"},
		{"a field", "dragoman", "", "Output language: French\n\nA dog.", "A DOG.", "auto>fr"},
		{"fields", "dragoman", "", "Source language: English\nTarget language: French\nText: A dog.", "A DOG.", "en>fr"},
		{"fields of the system's", "dragoman", "You translate.\nInput language: en\nOutput language: French", "A dog.", "A DOG.", "en>fr"},
		{"a quotation", "dragoman", "", `Translate "A dog, 'big'" into French.`, "A DOG, 'BIG'", "auto>fr"},
		{"the text first", "dragoman", "", "A dog.\n\nA cat.\n\nTranslate the text above into French.", "A DOG.\n\nA CAT.", "auto>fr"},
		{"a label behind a description", "dragoman", "", "You are a translator from English to French.\nHere is the text:\nA dog.", "A DOG.", "en>fr"},
		{"a lead of the system's language", "dragoman", "Translate into French.", "Translate the following text:\nA dog.", "A DOG.", "auto>fr"},
		{"labels of languages, as of ALMA and Tower", "dragoman", "", "Translate this from English to French:\nEnglish: A dog.\nFrench:", "A DOG.", "en>fr"},
		{"labels of languages alone", "dragoman", "", "English: A dog.\n\nA cat.\nFrench:", "A DOG.\n\nA CAT.", "en>fr"},
		{"labels after an example", "dragoman", "", "Translate from English to French.\nEnglish: A cat.\nFrench: Un chat.\nEnglish: A dog.\nFrench:", "A DOG.", "en>fr"},
		{"labels of a sentence", "dragoman", "", "Translate the following sentence to French:\nSentence: A dog.\nTranslation:", "A DOG.", "auto>fr"},
		{"Alpaca", "dragoman", "", "Below is an instruction that describes a task. Write a response.\n\n### Instruction:\nTranslate from English to French.\n\n### Input:\nA dog.\n\n### Response:", "A DOG.", "en>fr"},
		{"a tag that is named", "dragoman:fr", "", "Translate the text in <text_to_translate> tags.\n<text_to_translate>\nA dog.\n</text_to_translate>", "A DOG.", "auto>fr"},
		{"tags", "dragoman", "", "<task>Translate to French</task>\n<content>A dog.</content>", "A DOG.", "auto>fr"},
		{"a question with a quotation", "dragoman:fr", "", "Can you translate 'A dog' to French?", "A DOG", "auto>fr"},
		{"tildes", "dragoman:fr", "", "Translate the text between the ~~~ marks to French.\n~~~\nA dog.\n~~~", "A DOG.", "auto>fr"},
		{"single quotes of three", "dragoman", "", "Translate to French (keep {0}).\nText:\n'''\nA dog.\n'''", "A DOG.", "auto>fr"},
		{"an arrow in brackets", "dragoman", "", "[EN->FR] A dog.", "A DOG.", "en>fr"},
		{"codes of two languages", "dragoman:fr", "", "EN-FR: A dog.", "A DOG.", "auto>fr"},
		{"codes with a number for to", "dragoman", "", "en2fr: A dog.\nA cat.", "A DOG.\nA CAT.", "en>fr"},
		{"codes that are words", "dragoman:fr", "", "AM-PM: a dog", "AM-PM: A DOG", "auto>fr"},
		{"a direction", "dragoman", "", "English to French:\nA dog.", "A DOG.", "en>fr"},
		{"a direction, a title", "dragoman:fr", "", "English to French translation:\n\nA dog.", "A DOG.", "auto>fr"},
		{"short fields", "dragoman", "", "From: English\nTo: French\n\nA dog.", "A DOG.", "en>fr"},
		{"short fields and a label", "dragoman", "", "src: en\ntgt: fr\ntext: A dog.", "A DOG.", "en>fr"},
		{"JSON after a rule", "dragoman", "", "Return JSON.\nTranslate the values to French.\n{\"a\":\"A dog\"}", `{"a":"A DOG"}`, "auto>fr"},

		{"a text with a label", "dragoman", "", "Translate to French:\n\nText: a dog.", "TEXT: A DOG.", "auto>fr"},
		{"a text with a fence", "dragoman", "", "Translate to French:\n\nRun this:\n```\nls\n```", "RUN THIS:\n```\nLS\n```", "auto>fr"},
		{"a text that is a rule", "dragoman", "", "Translate to French.\n\nDo not open the door.", "DO NOT OPEN THE DOOR.", "auto>fr"},
		{"a text like instructions", "dragoman", "", "Translate to French:\n\nTranslate to German.", "TRANSLATE TO GERMAN.", "auto>fr"},
		{"a button", "dragoman:fr", "", "Translate this page", "TRANSLATE THIS PAGE", "auto>fr"},
		{"a sentence about translation", "dragoman:fr", "", "The translator came from Berlin to Paris.", "THE TRANSLATOR CAME FROM BERLIN TO PARIS.", "auto>fr"},
		{"a page's words", "dragoman:fr", "", "Translate this page\nSettings", "TRANSLATE THIS PAGE\nSETTINGS", "auto>fr"},
		{"a credit", "dragoman:fr", "", "French translation: Jean", "FRENCH TRANSLATION: JEAN", "auto>fr"},
		{"a letter", "dragoman:fr", "", "To: French embassy\nFrom: Anna", "TO: FRENCH EMBASSY\nFROM: ANNA", "auto>fr"},
		{"a sentence with two languages", "dragoman:fr", "", "He speaks English to French people.\nThey go.", "HE SPEAKS ENGLISH TO FRENCH PEOPLE.\nTHEY GO.", "auto>fr"},
		{"a question", "dragoman:fr", "", "Question: where?\nAnswer:", "QUESTION: WHERE?\nANSWER:", "auto>fr"},
		{"a text that ends with a label", "dragoman", "", "Translate to French:\n\nNote: a dog.\nAnswer:", "NOTE: A DOG.\nANSWER:", "auto>fr"},
		{"words with names of fields", "dragoman:fr", "", `{"to":"to","source":"x","language":"French"}`, `{"to":"TO","source":"X","language":"FRENCH"}`, "auto>fr"},
		{"a sentence with an arrow", "dragoman:fr", "", "Open File -> Print, then choose a page.", "OPEN FILE -> PRINT, THEN CHOOSE A PAGE.", "auto>fr"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, direction := ask(t, test.model, test.system, test.user)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.direction, direction)
		})
	}
}

// A message that begins like instructions, in no form that is known, is never translated as if it were text.
func TestInstructionsAreNotTranslated(t *testing.T) {
	for _, user := range []string{
		"Translate into French. Keep it short. A dog.",
		"You are a professional translator from English to French.\n\nBe brief.\n\nA dog.",
		"Translate to French.\n\n- Keep names.\n- Be brief.\n\nA dog.",
		"Please translate to French and then say what you think of A dog",
		"Act as a translator into French and answer A dog",
		"A dog.\n\nPlease translate to French.", "\n\n\nA dog.\n\nPlease translate to French.",
		"/translate fr A dog.", "/tr French: A dog.", "Hello! Could you please translate this text to French? A dog.", "Hi, I'd like you to translate this to French: A dog.",
		"Only return the translation. Translate to French: A dog.", "Output only the translation.\n\nTranslate to French:\n\nA dog.", "Q: Translate \"A dog\" to French\nA:",
		"I need this in French: A dog.", "Localize the following strings to French:\nA dog.", "Convert to French: A dog.", "Rewrite the following text in French:\n\nA dog.",
		"Say in French: A dog.", "French translation of \"A dog\":", "What is the French translation of \"A dog\"?", "Text: A dog.\nTarget: French",
		"A dog.\n\nReturn the correct JSON response within a ```json codeblock. not the JSON_SCHEMA", "user:\nA dog.\n\nassistant:\n", "Translate to French.\n\nuser:\nA dog.\n\nassistant:\n",
		"[INST] Translate to French: A dog. [/INST]", "<|im_start|>user\nTranslate to French: A dog.<|im_end|>", "Translate this to French, `A dog.`",
		`{"text":"A dog","target_lang":"fr"}`, `{"from":"en","to":"fr","texts":["A dog"]}`, `{"content":"A dog","target":"French"}`,
		"Bitte ins Französische übersetzen: A dog.", "Översätt till franska: A dog.", "Přelož do francouzštiny: A dog.", "Fransızcaya çevir: A dog.", "Dịch sang tiếng Pháp: A dog.",
		"フランス語に翻訳してください：\nA dog.", "프랑스어로 번역해 주세요:\nA dog.", "ترجم إلى الفرنسية: A dog.", "把下面的句子翻成法语：\nA dog.",
		"Übersetze ins Französische: A dog.", "Traduis en français :\nA dog.", "Переведи на французский: A dog.", "Traduce al francés:\n\nA dog.",
	} {
		for _, model := range []string{"dragoman:fr", "dragoman"} {
			got, direction := ask(t, model, "", user)
			assert.Empty(t, direction, user)
			assert.Contains(t, got, "Translate ", "%s: %s", model, user)
			assert.Contains(t, got, "dragoman:en-fr", "%s: %s", model, user)
		}
	}
}

// The same holds if the message names no language that is known, and the model's name has the languages.
func TestLanguagesThatAreNotKnown(t *testing.T) {
	for _, user := range []string{"Translate: A dog.", "Translate into Klingon: A dog.", "Translate to Frnech:\n\nA dog.", "Translate into Klingon\nA dog."} {
		got, direction := ask(t, "dragoman:fr", "", user)
		assert.Empty(t, direction, user)
		assert.Contains(t, got, "not clear where the text begins", user)
	}
}

// A program that lets a model check translations is told that this one does not.
func TestChecksAreRefused(t *testing.T) {
	for _, user := range []string{
		"You are a professional translator.\n\nCheck translations from English to French.\n\n- Verify each object in the array.\n\nReturn the verified output as JSON.\n```json\n[{\"id\":1,\"original\":\"A dog\",\"translated\":\"Un chien\"}]\n```\n",
		`{"source_language":"en","target_language":"fr","units":[{"unit_id":1,"strings":[{"source":"A dog"}],"translations":["Un chien"]}]}`,
		"### Task:\nGenerate a concise title",
	} {
		for _, model := range []string{"dragoman", "dragoman:fr"} {
			got, direction := ask(t, model, "", user)
			assert.Empty(t, direction)
			assert.Contains(t, got, "no other task", user)
		}
	}
}

func TestSpellingsOfLanguages(t *testing.T) {
	for code, names := range map[string][]string{
		"fr": {"French", "french", "FRENCH", "fr", "FR", "fr-FR", "fr_FR", "fra", "fre", "français", "Français", "French (France)", "French (fr)", "fr (French)", "fr (fr)", `"fr"`, "'French'", "**French**",
			"[fr]", "`fr-FR`", "<French>", "the French language", "French language", "language French", "the language French", "locale fr", "locale=fr", "language: French", "法语", "法文", "Canadian French",
			"French (Canada)", "French/Français", "fr|French", "target language French", "fluent French", "native French"},
		"pt": {"Portuguese", "pt", "pt-BR", "pt_BR", "Brazilian Portuguese", "Portuguese (Brazil)", "Portuguese (Portugal)", "European Portuguese", "português", "葡萄牙语"},
		"zh": {"Chinese", "Simplified Chinese", "Chinese (Simplified)", "Chinese (zh-CN)", "zh", "zh-CN", "zh_CN", "zh-Hans", "zh-Hans-CN", "中文", "简体中文", "Mandarin", "Mandarin Chinese"},
		"es": {"Spanish", "es", "es-419", "Latin American Spanish", "Mexican Spanish", "Castilian Spanish", "Castilian", "castellano", "español", "西班牙语"},
		"ja": {"Japanese", "ja", "ja-JP", "jpn", "日本語", "日语", "日文", "Japanese (日本語)"},
	} {
		for _, name := range names {
			for _, form := range []string{"Translate to %s:\n\nA dog.", "Translate from English to %s:\n\nA dog.", "Translate the text into %s.\n\nA dog."} {
				got, direction := ask(t, "dragoman", "", strings.ReplaceAll(form, "%s", name))
				assert.Equal(t, "A DOG.", got, "%s: %s", name, form)
				assert.Equal(t, code, direction[strings.IndexByte(direction, '>')+1:], "%s: %s", name, form)
			}
		}
	}
	for _, name := range []string{"Traditional Chinese", "Chinese (Traditional)", "Chinese Traditional", "Chinese (zh-TW)", "zh-TW", "zh-Hant", "Chinese (Taiwan)"} {
		got, _ := ask(t, "dragoman", "", "Translate to "+name+":\n\nA dog.")
		assert.Contains(t, got, "traditional Chinese", name)
	}
}
