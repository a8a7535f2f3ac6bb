package openinference

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/catalog"
	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// infer serves /v2/models/NAME/infer.
func (a *api) infer(c *gin.Context, models Models) (any, error) {
	m, err := a.find(c, models.Index())
	if err != nil {
		return nil, err
	}
	raw, err := readBody(c)
	if err != nil {
		return nil, err
	}
	req, err := decode(c.Request.Header, raw, a.MaxRecords)
	if err != nil {
		return nil, err
	}
	results, err := a.translate(c, &m, req)
	if err != nil {
		return nil, err
	}
	return req.answer(c, answer{ID: req.id, Model: m.Name, Version: m.Version}, results)
}

// translate translates the texts of a request. It sets the version in m to the version that translated the texts.
func (a *api) translate(c *gin.Context, m *catalog.Status, req request) ([]translate.Result, error) {
	dialect.Within(c, req.timeout)
	parts, places := req.parts(reference(c.Param("model"), c.Param("version")))
	translated, err := a.TranslateAll(c, parts)
	if err != nil {
		return nil, err
	}
	results := make([]translate.Result, len(req.texts.elements))
	for i, part := range translated {
		for j, r := range part {
			results[places[i][j]] = r
			if r.Model == m.Name { // a new version may have replaced the version in m
				m.Version = r.Version
			}
		}
	}
	return results, nil
}

// request is a decoded inference request.
type request struct {
	id       string
	whole    translate.Request // without languages and texts
	timeout  time.Duration     // 0: the service's own timeout
	texts    texts
	from, to []string // one for all texts, or one for each
	outputs  []output // requested outputs, in order
}

type output struct {
	name   string
	binary bool
}

// decode reads a request, whose tensors may have most elements, or any number if most is 0.
func decode(h http.Header, raw []byte, most int) (req request, err error) {
	header, data, err := split(h, raw)
	if err != nil {
		return req, err
	}
	var parsed inferBody
	if err := unmarshal(header, &parsed); err != nil {
		return req, err
	}
	return parsed.request(&decoder{most, data})
}

// request converts the body to a request, with the tensors read by d.
func (b inferBody) request(d *decoder) (req request, err error) {
	req.id = b.ID
	inputs, err := d.tensors(b.Inputs)
	if err != nil {
		return req, err
	}
	var ok bool
	if req.texts, ok = inputs[textTensor]; !ok {
		return req, refuse("the input %s is missing", textTensor)
	}
	if req.from, err = req.languages(fromTensor, inputs, b.Parameters.From); err != nil {
		return req, err
	}
	if req.to, err = req.languages(toTensor, inputs, b.Parameters.To); err != nil {
		return req, err
	}
	if req.to[0] == "" {
		return req, refuse("there is no language to translate into: send it as the input %s, or as the parameter %s", toTensor, toTensor)
	}
	if req.outputs, err = b.outputs(); err != nil {
		return req, err
	}
	req.whole, req.timeout, err = b.Parameters.request()
	return req, err
}

// languages returns the languages of an input, or of the parameter that replaces it.
func (req request) languages(name string, inputs map[string]texts, parameter string) ([]string, error) {
	t, ok := inputs[name]
	switch n := len(req.texts.elements); {
	case !ok:
		return []string{parameter}, nil
	case parameter != "":
		return nil, refuse("%s is both an input and a parameter: send one of them", name)
	case len(t.elements) != 1 && len(t.elements) != n:
		return nil, refuse("the input %s has %d elements: send one, or %d as in %s", name, len(t.elements), n, textTensor)
	}
	return t.elements, nil
}

// outputs returns the requested outputs, or all if the request names none.
func (b inferBody) outputs() ([]output, error) {
	if len(b.Outputs) == 0 {
		return []output{{textTensor, b.Parameters.BinaryOutput}, {scoreTensor, b.Parameters.BinaryOutput}}, nil
	}
	var list []output
	for _, o := range b.Outputs {
		switch {
		case o.Name != textTensor && o.Name != scoreTensor:
			return nil, refuse("unexpected output %q: a model has %s and %s", excerpt.Of(o.Name), textTensor, scoreTensor)
		case slices.ContainsFunc(list, func(other output) bool { return other.name == o.Name }):
			return nil, refuse("the output %s is there twice", o.Name)
		case o.Parameters.Classification != 0:
			return nil, fault.New(fault.NotOffered, "", "the output %s has no classification", o.Name)
		case o.Parameters.Region != "":
			return nil, fault.New(fault.NotOffered, "", "the output %s cannot be in shared memory, which this server does not support", o.Name)
		}
		wanted := output{o.Name, b.Parameters.BinaryOutput}
		if o.Parameters.Binary != nil {
			wanted.binary = *o.Parameters.Binary
		}
		list = append(list, wanted)
	}
	return list, nil
}

// parts returns one part for each pair of languages. places has the indices of their texts.
func (req request) parts(model string) (parts []translate.Request, places [][]int) {
	type pair struct{ from, to string }
	known := make(map[pair]int)
	for i, text := range req.texts.elements {
		p := pair{cmp.Or(req.from[i%len(req.from)], translate.Auto), req.to[i%len(req.to)]}
		at, ok := known[p]
		if !ok {
			at = len(parts)
			known[p] = at
			part := req.whole
			part.Model, part.From, part.To = model, p.from, []string{p.to}
			parts, places = append(parts, part), append(places, nil)
		}
		parts[at].Records = append(parts[at].Records, translate.Record{ID: fmt.Sprintf("%s[%d]", textTensor, i), Text: text})
		places[at] = append(places[at], i)
	}
	return parts, places
}
