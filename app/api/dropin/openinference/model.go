package openinference

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/catalog"
	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
)

// Names of a model's tensors.
const (
	textTensor  = "text" // an input and an output
	fromTensor  = "from"
	toTensor    = "to"
	scoreTensor = "score"
)

// Types of tensors.
const (
	bytesType = "BYTES"
	floatType = "FP32"
)

// tensor describes an input or an output.
type tensor struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// metadata serves /v2/models/NAME.
func (a *api) metadata(c *gin.Context, models Models) (any, error) {
	index := models.Index()
	m, err := a.find(c, index)
	if err != nil {
		return nil, err
	}
	describe := func(name, datatype string) tensor { return tensor{name, datatype, []int64{-1, 1}} }
	versions := []string{m.Version}
	if c.Param("version") == "" {
		versions = versionsOf(index, m.Name)
	}
	return struct {
		Name     string   `json:"name"`
		Versions []string `json:"versions"`
		Platform string   `json:"platform"`
		Inputs   []tensor `json:"inputs"`
		Outputs  []tensor `json:"outputs"`
	}{
		m.Name, versions, "dragoman",
		[]tensor{describe(textTensor, bytesType), describe(fromTensor, bytesType), describe(toTensor, bytesType)},
		[]tensor{describe(textTensor, bytesType), describe(scoreTensor, floatType)},
	}, nil
}

// modelReady serves /v2/models/NAME/ready.
func (a *api) modelReady(c *gin.Context, models Models) (any, error) {
	m, err := a.find(c, models.Index())
	if err != nil {
		return nil, err
	}
	return gin.H{"name": m.Name, "ready": true}, nil
}

// find returns the model and version named by a request's path. The error lists the alternatives, or says why the model is not
// ready.
func (a *api) find(c *gin.Context, index []catalog.Status) (catalog.Status, error) {
	return a.findNamed(c.Param("model"), c.Param("version"), index)
}

func (a *api) findNamed(name, version string, index []catalog.Status) (catalog.Status, error) {
	i := slices.IndexFunc(index, func(s catalog.Status) bool {
		return named(s, name) && (s.Version == version || version == "" && s.Current)
	})
	if i >= 0 && ready(index[i]) {
		return index[i], nil
	}
	_, err := a.Select(reference(name, version))
	switch {
	case err != nil:
		return catalog.Status{}, err
	case i >= 0:
		return catalog.Status{}, fault.New(fault.NotReady, "", "the model %s is not ready: %s", reference(index[i].Name, index[i].Version), index[i].Reason)
	}
	return catalog.Status{}, fault.New(fault.UnknownModel, "", "there is no model %q", excerpt.Of(reference(name, version)))
}

func named(s catalog.Status, name string) bool {
	return s.Name == name || slices.Contains(s.Aliases, name)
}

// ready reports whether a model accepts requests.
func ready(s catalog.Status) bool {
	return s.Served && (s.Reason == "" || s.State == catalog.Ready)
}

// reference returns the name by which a request refers to a model, or to one of its versions.
func reference(name, version string) string {
	if version == "" {
		return name
	}
	return name + ":" + version
}

// versionsOf returns the versions of a model that are ready.
func versionsOf(index []catalog.Status, name string) (list []string) {
	for _, s := range index {
		if s.Name == name && ready(s) {
			list = append(list, s.Version)
		}
	}
	return list
}

// configTensor is an input or output in Triton's model configuration.
type configTensor struct {
	Name     string  `json:"name"`
	DataType string  `json:"data_type"`
	Dims     []int64 `json:"dims"` // without the batch dimension
	Optional bool    `json:"optional,omitempty"`
}

// config serves /v2/models/NAME/config, in the form of Triton's ModelConfig.
func (a *api) config(c *gin.Context, models Models) (any, error) {
	index := models.Index()
	m, err := a.find(c, index)
	if err != nil {
		return nil, err
	}
	input := func(name string, optional bool) configTensor {
		return configTensor{name, "TYPE_STRING", []int64{1}, optional}
	}
	var versions []int64
	for _, v := range versionsOf(index, m.Name) {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			versions = append(versions, n)
		}
	}
	return gin.H{
		"name": m.Name, "platform": "", "backend": "dragoman", "runtime": "",
		"version_policy":   gin.H{"specific": gin.H{"versions": versions}},
		"max_batch_size":   cmp.Or(a.MaxRecords, 1),
		"input":            []configTensor{input(textTensor, false), input(fromTensor, true), input(toTensor, true)},
		"output":           []configTensor{input(textTensor, false), {scoreTensor, "TYPE_FP32", []int64{1}, false}},
		"dynamic_batching": gin.H{"preferred_batch_size": []int{}, "max_queue_delay_microseconds": 0, "preserve_ordering": false, "priority_levels": lowest, "default_priority_level": normal},
		"instance_group":   []string{}, "default_model_filename": "", "parameters": parametersOf(m),
	}, nil
}

// parametersOf describes a model in the form of Triton's ModelParameter.
func parametersOf(m catalog.Status) gin.H {
	all := gin.H{}
	for name, value := range map[string]string{
		"family": m.Family, "precision": string(m.Precision), "source": m.Source, "revision": m.Revision, "license": m.License,
		"from": strings.Join(m.From, ","), "to": strings.Join(m.To, ","), "pipeline": strconv.FormatBool(m.Pipeline),
	} {
		if value != "" {
			all[name] = gin.H{"string_value": value}
		}
	}
	return all
}
