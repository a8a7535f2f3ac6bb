// Package checkpoint reads a Hugging Face checkpoint of one of the networks of package model/family: the
// weights of model.safetensors or pytorch_model.bin (of any version of torch), in one file or in shards; or one that
// CTranslate2's converters made, see package model/ctranslate2.
//
// [Open] reads headers only and checks everything that can be checked without
// the weights themselves: every tensor that the sizes demand is there with the
// right shape, and nothing else is. [Tensor.ReadFloat32] then streams values
// from the file, so that a checkpoint of many gigabytes needs a few kilobytes
// of memory. Files are hostile until proved otherwise: sizes are bounded before
// anything is allocated, and no input makes the package panic.
package checkpoint

import (
	"errors"
	"fmt"

	"dragoman/model"
	"dragoman/model/family"
)

// Names of the files of a checkpoint.
const (
	SafetensorsFile      = "model.safetensors"
	SafetensorsIndexFile = "model.safetensors.index.json"
	TorchFile            = "pytorch_model.bin"
	TorchIndexFile       = "pytorch_model.bin.index.json"
)

// WeightFiles are the files that weights are read from, or their indices. The first that is there counts: safetensors, whose header
// says all and of which nothing is executed, goes before torch.
var WeightFiles = []string{SafetensorsFile, SafetensorsIndexFile, TorchFile, TorchIndexFile}

// Checkpoint is an open checkpoint. All its methods but Close may be called
// concurrently.
type Checkpoint struct {
	spec model.Spec
	weights
}

// Open opens the checkpoint in the folder dir. It fails, naming the field or the
// tensor, where config.json is not that of a model that is supported or where the weights
// do not fit it. The weight files stay open until Close.
func Open(dir string) (*Checkpoint, error) {
	if ok, err := IsConverted(model.Folder(dir)); err != nil {
		return nil, err
	} else if ok {
		return openConverted(dir)
	}
	spec, network, err := family.ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	w, err := openWeights(dir)
	if err != nil {
		return nil, err
	}
	if _, ok := w.tensors["model.encoder.embed_positions.weight"]; ok && network.ReadsPositions {
		spec.Positions = model.TablePositions
	}
	if w.tensors, err = arrange(network, spec, w.tensors); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", w.path, err), w.Close())
	}
	return &Checkpoint{spec: spec, weights: *w}, nil
}

// ReadSpec reads the sizes, ids and decoding defaults of the checkpoint in dir
// without its weights. It fails, naming the field, where they are not those of
// a model that is supported.
func ReadSpec(dir string) (model.Spec, error) {
	if ok, err := IsConverted(model.Folder(dir)); err != nil {
		return model.Spec{}, err
	} else if ok {
		ckpt, err := openConverted(dir)
		if err != nil {
			return model.Spec{}, err
		}
		return ckpt.Spec(), ckpt.Close()
	}
	spec, _, err := family.ReadConfig(dir)
	return spec, err
}

// Spec returns the model's sizes, special ids and decoding defaults.
func (c *Checkpoint) Spec() model.Spec { return c.spec }

// Tensor returns the tensor of that Hugging Face name, with the "model." prefix
// even where the file leaves it out. Where the name is that of a copy of an embedding it is the
// embedding.
func (c *Checkpoint) Tensor(name string) (Tensor, error) {
	t, ok := c.tensors[embeddingOf(name, c.spec)]
	if !ok {
		return Tensor{}, fmt.Errorf("no tensor %q in this model of %d encoder and %d decoder layers",
			name, c.spec.Encoder.Layers, c.spec.Decoder.Layers)
	}
	return t, nil
}
