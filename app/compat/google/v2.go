package google

import (
	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/excerpt"
	"dragoman/app/failure"
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
	Detected string `json:"detectedSourceLanguage,omitempty"` // where the request names no source
	Model    string `json:"model,omitempty"`                  // where the request names one
}

// serve serves /language/translate/v2.
func serve(call compat.Call) (any, error) {
	texts, err := call.Fields.Needed("q")
	if err != nil {
		return nil, err
	}
	from, to, err := call.Pair("source", "target")
	if err != nil {
		return nil, err
	}
	format, err := formatOf(call.Fields)
	if err != nil {
		return nil, err
	}
	if call.Fields.Given("cid") {
		return nil, compat.Refuse("Invalid request: this server has no customization, leave cid out")
	}
	model, err := call.Fields.Text("model")
	if err != nil {
		return nil, err
	}
	results, err := call.Translate(compat.Job{From: from, To: to, Texts: texts, Format: format})
	if err != nil {
		return nil, err
	}
	list := make([]translation, len(results)) // not nil: none are [] in JSON
	for i, r := range results {
		list[i] = translation{Text: r.Text, Model: model}
		if from == translate.Auto {
			list[i].Detected = compat.Regional().Of(compat.SourceOf(r))
		}
	}
	return data{translations{list}}, nil
}

// formatOf reads the field format.
func formatOf(fields compat.Fields) (translate.Format, error) {
	switch name, err := fields.Text("format"); {
	case err != nil:
		return "", err
	case name == "" || name == "html":
		return translate.HTML, nil
	case name == "text":
		return translate.Text, nil
	default:
		return "", compat.Refuse("Invalid request: format is %q, use html or text", excerpt.Of(name))
	}
}

// detections is the answer of /language/translate/v2/detect: of each text a list of one.
type detections struct {
	Detections [][1]detection `json:"detections"`
}

type detection struct {
	Language   string  `json:"language"` // und where it is unknown
	Reliable   bool    `json:"isReliable"`
	Confidence float64 `json:"confidence"`
}

// detect serves /language/translate/v2/detect.
func detect(server *dialect.Server, call compat.Call) (any, error) {
	detector := call.Models.Detector()
	if detector == nil {
		return nil, compat.RefuseAs(failure.NotOffered, "Language detection is not offered by this server.")
	}
	texts, err := call.Fields.Needed("q")
	if err != nil {
		return nil, err
	}
	if err := server.ChargeDetection(call.Context, texts); err != nil {
		return nil, err
	}
	list := make([][1]detection, len(texts)) // not nil: none are [] in JSON
	for i, text := range texts {
		list[i][0].Language = "und"
		if code, confidence, ok := detector.Detect(text); ok {
			list[i][0] = detection{Language: compat.Regional().Of(code), Confidence: confidence}
		}
	}
	return data{detections{list}}, nil
}

// languageList is the answer of /language/translate/v2/languages.
type languageList struct {
	Languages []language `json:"languages"`
}

type language struct {
	Language string `json:"language"`
	Name     string `json:"name,omitempty"` // in English, where the request says in which language it is to be
}

// languages serves /language/translate/v2/languages.
func languages(call compat.Call) (any, error) {
	target, err := call.Fields.Text("target")
	if err != nil {
		return nil, err
	}
	list := make([]language, len(call.Languages)) // not nil: none are [] in JSON
	for i, code := range call.Languages {
		list[i].Language = compat.Regional().Of(code)
		if target != "" {
			list[i].Name = compat.NameOf(code).English
		}
	}
	return data{languageList{list}}, nil
}
