package google

import (
	"dragoman/app/api/dialect"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// data is the envelope of answers.
type data struct {
	Data any `json:"data"`
}

// translations is the answer of /language/translate/v2.
type translations struct {
	Translations []translation `json:"translations"` // in the order of the texts
}

type translation struct {
	Text     string `json:"translatedText"`
	Detected string `json:"detectedSourceLanguage,omitempty"` // if the request names no source
	Model    string `json:"model,omitempty"`                  // if the request names one
}

// serve serves /language/translate/v2.
func serve(call *dialect.Call) (any, error) {
	texts := call.Needed("q")
	from, to := call.Pair("source", "target")
	format := dialect.Choose(call.Fields, "format", map[string]translate.Format{"": translate.HTML, "html": translate.HTML, "text": translate.Text}, func(text string) error {
		return dialect.Refuse("Invalid request: format is %q, use html or text", excerpt.Of(text))
	})
	if call.Given("cid") {
		call.Fail(dialect.Refuse("Invalid request: this server has no customization, leave cid out"))
	}
	model := call.Text("model")
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: texts, Format: format})
	return data{translations{dialect.Each(results, func(r translate.Result) translation {
		out := translation{Text: r.Text, Model: model}
		if from == translate.Auto {
			out.Detected = dialect.Regional().SourceOf(r)
		}
		return out
	})}}, err
}

// detections is the answer of /language/translate/v2/detect: a list of one for each text.
type detections struct {
	Detections [][1]detection `json:"detections"`
}

type detection struct {
	Language   string  `json:"language"` // und if unknown
	Reliable   bool    `json:"isReliable"`
	Confidence float64 `json:"confidence"`
}

// detect serves /language/translate/v2/detect.
func detect(call *dialect.Call) (any, error) {
	call.NeedsDetector("Language detection is not offered by this server.")
	found, err := call.Detect(call.Needed("q"), translate.Text)
	return data{detections{dialect.Each(found, func(d dialect.Detection) [1]detection {
		if d.Code == "" {
			return [1]detection{{Language: "und"}}
		}
		return [1]detection{{Language: dialect.Regional().Of(d.Code), Confidence: d.Confidence}}
	})}}, err
}

// languageList is the answer of /language/translate/v2/languages.
type languageList struct {
	Languages []language `json:"languages"`
}

type language struct {
	Language string `json:"language"`
	Name     string `json:"name,omitempty"` // in English, if the request names a language for it
}

// languages serves /language/translate/v2/languages.
func languages(call *dialect.Call) (any, error) {
	named := call.Text("target") != ""
	return data{languageList{dialect.Each(call.Languages, func(code string) language {
		out := language{Language: dialect.Regional().Of(code)}
		if named {
			out.Name = dialect.NameOf(code).English
		}
		return out
	})}}, nil
}
