package google

import (
	"slices"

	"dragoman/app/api/dialect"
	"dragoman/app/translate"
)

// webAnswer is the answer of /translate_a/single with dj=1, reduced to the fields that clients of the name gtx read.
type webAnswer struct {
	Sentences  []webSentence `json:"sentences"` // one sentence for the whole text, because clients join them
	Source     string        `json:"src"`
	Confidence float64       `json:"confidence"`
	Detected   webDetected   `json:"ld_result"`
}

type webSentence struct {
	Translation string `json:"trans"`
	Original    string `json:"orig"`
}

type webDetected struct {
	Languages   []string  `json:"srclangs"`
	Confidences []float64 `json:"srclangs_confidences"`
	Extended    []string  `json:"extended_srclangs"`
}

// list returns the answer without dj, as an array of values at fixed positions.
func (a webAnswer) list() []any {
	sentences := make([]any, len(a.Sentences))
	for i, s := range a.Sentences {
		sentences[i] = []any{s.Translation, s.Original, nil, nil, 1}
	}
	return []any{
		sentences, nil, a.Source, nil, nil, nil, a.Confidence, []any{},
		[]any{a.Detected.Languages, nil, a.Detected.Confidences, a.Detected.Extended},
	}
}

// serveWeb serves /translate_a/single. Of the parts that dt names it has only t, the translation, and omits all others, as the
// web page does for empty parts.
func serveWeb(call *dialect.Call) (any, error) {
	texts := call.Needed("q")
	if len(texts) != 1 {
		call.Fail(dialect.Refuse("Invalid request: q has %d texts, send one", len(texts)))
	}
	if parts, _ := call.Texts("dt"); len(parts) > 0 && !slices.Contains(parts, "t") {
		call.Fail(dialect.Refuse("Invalid request: this server has translations only, send dt=t"))
	}
	call.Text("client") // any client
	named := call.Bool("dj")
	from, to := call.Pair("sl", "tl")
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: texts})
	if err != nil {
		return nil, err
	}
	answer, err := webAnswerOf(call, from, texts[0], results[0])
	if named || err != nil {
		return answer, err
	}
	return answer.list(), nil
}

// webAnswerOf returns the answer to a request for a text from a language.
func webAnswerOf(call *dialect.Call, from, text string, r translate.Result) (answer webAnswer, err error) {
	source, confidence := dialect.SourceOf(r), 1.0
	if from == translate.Auto {
		if confidence, err = call.Confidence(translate.Text, text, source); err != nil {
			return answer, err
		}
	}
	source = dialect.Regional().Of(source)
	return webAnswer{
		Sentences: []webSentence{{r.Text, text}}, Source: source, Confidence: confidence,
		Detected: webDetected{[]string{source}, []float64{confidence}, []string{source}},
	}, nil
}
