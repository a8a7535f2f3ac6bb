package family

import (
	"fmt"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
)

// Network describes a kind of network, its config.json and its weight files.
type Network struct {
	// modelType is the model_type of config.json. models has the names that users know; "": only this program writes such a
	// config.json.
	modelType, models string
	// classes are the beginnings of the names of the network's classes in transformers.
	classes []string
	// fixed are the settings that change the architecture, with their only supported value.
	fixed  []setting
	scaled bool // default of scale_embedding
	// sizes reads the sizes except the vocabulary and the width; nil: see [parseSizes].
	sizes func(o *object.Fields, spec *model.Spec)
	// parts reads the special ids and the parts of the network.
	parts func(o *object.Fields, spec *model.Spec)
	// forcesTarget reports that requests force the first token of a translation, the language's, regardless of the settings.
	forcesTarget bool
	// stored is [Network.Stored]; nil: files have the names of the layout.
	stored func(name string, gated bool) string

	// Unused are tensors of files that the model does not read, in addition to those of all networks.
	Unused []string
	// TiesMissingHead reports that transformers 5 ties a missing head, regardless of the settings, and saves tied tensors once.
	TiesMissingHead bool
	// ReadsPositions reports that tables of positions are read if files have them, even if they were rounded to 16 bits.
	ReadsPositions bool
}

// setting is a field of config.json and its value.
type setting struct{ name, literal string }

// commonSettings are fixed in all networks.
var commonSettings = []setting{
	{"is_encoder_decoder", "true"},
}

// Stored returns the name of a tensor in files.
func (n *Network) Stored(name string, spec model.Spec) string {
	if n.stored == nil {
		return name
	}
	return n.stored(name, spec.Gated)
}

// familiesOf returns the network of a model_type and the families that have it.
func familiesOf(modelType string) (network *Network, having []*Family) {
	for _, f := range families {
		for _, n := range f.networks {
			if n.modelType == modelType {
				network, having = n, append(having, f)
			}
		}
	}
	return network, having
}

// supportedTypes lists the values of model_type with their models.
func supportedTypes() string {
	var list []string
	for _, f := range families {
		for _, n := range f.networks {
			if entry := fmt.Sprintf("%q (%s)", n.modelType, n.models); n.models != "" && !slices.Contains(list, entry) {
				list = append(list, entry)
			}
		}
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
