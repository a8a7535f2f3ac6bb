package family

import (
	"fmt"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
)

// Network is a kind of network, as config.json and the weight files describe it.
type Network struct {
	// modelType is the model_type of config.json. models are what users know it by; "": only this program writes it.
	modelType, models string
	// fixed are the settings that change the architecture, with the one value that the
	// exported graphs implement.
	fixed  []setting
	scaled bool // what scale_embedding is where it is absent
	// sizes reads the sizes but for the vocabulary and the width; nil: see [parseSizes].
	sizes func(o *object.Fields, spec *model.Spec)
	// parts reads the special ids and which parts the network has.
	parts func(o *object.Fields, spec *model.Spec)
	// forcesTarget says that requests force the first token of a translation, that of its language, whatever the settings force.
	forcesTarget bool
	// stored is [Network.Stored]; nil: names are the layout's.
	stored func(name string, gated bool) string

	// Unused are tensors that files may hold and the model never reads, beside those of any network.
	Unused []string
	// TiesMissingHead says that transformers 5 ties the head where there is none, whatever the settings say, and saves what it
	// tied once.
	TiesMissingHead bool
	// ReadsPositions says that the tables of positions are read where files have them, also where they were rounded to 16 bits.
	ReadsPositions bool
}

// setting is a field of config.json and its value.
type setting struct{ name, literal string }

// commonSettings are the fixed settings of all networks.
var commonSettings = []setting{
	{"is_encoder_decoder", "true"},
	{"quantization_config", "null"},
}

// Stored is what files call a tensor of the network.
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

// supportedTypes lists the values of model_type with the models that have them.
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
