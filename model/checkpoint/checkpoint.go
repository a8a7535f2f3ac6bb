// Package checkpoint reads the tensors and the description of a checkpoint of one of the networks of package model/family: Hugging
// Face's model.safetensors or pytorch_model.bin (of any version of torch), in one file or in shards, with an adapter of the library
// peft merged if there is one; a model of CTranslate2's converters, see package model/ctranslate2; or, after [Convert], a model of
// Firefox's, in Marian's format.
//
// [Open] reads headers and checks that the tensors are exactly those of the sizes. [Tensor.ReadFloat32] then streams values from the
// file, so a checkpoint of many gigabytes needs a few kilobytes of memory. Files are hostile: sizes are checked before anything is
// allocated, and no input makes the package panic.
package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"

	"dragoman/model"
	"dragoman/model/ctranslate2"
	"dragoman/model/family"
)

// Checkpoint is an open checkpoint. All its methods except Close are safe for concurrent use.
type Checkpoint struct {
	spec model.Spec
	weights
}

// Open opens the checkpoint in the folder dir. It fails, with the name of the field or tensor, if config.json is not of a supported
// model or the weights do not match it. The files stay open until Close.
func Open(dir string) (*Checkpoint, error) {
	if ok, err := ctranslate2.IsConverted(model.Folder(dir)); err != nil {
		return nil, err
	} else if ok {
		return openConverted(dir)
	}
	spec, network, err := readSpec(dir)
	if err != nil {
		return nil, err
	}
	w, err := openWeights(dir)
	if err != nil {
		return nil, err
	}
	if err := w.addAdapter(dir); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if _, ok := w.tensors["model.encoder.embed_positions.weight"]; ok && network.ReadsPositions {
		spec.Positions = model.TablePositions
	}
	if w.tensors, err = arrange(network, spec, w.tensors); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", w.path, err), w.Close())
	}
	return &Checkpoint{spec: spec, weights: *w}, nil
}

// ReadSpec reads the sizes, ids and decoding defaults of the checkpoint in dir. It fails, with the name of the field, if it is
// not a supported model.
func ReadSpec(dir string) (model.Spec, error) {
	if ok, err := ctranslate2.IsConverted(model.Folder(dir)); err != nil {
		return model.Spec{}, err
	} else if ok {
		ckpt, err := openConverted(dir)
		if err != nil {
			return model.Spec{}, err
		}
		return ckpt.Spec(), ckpt.Close()
	}
	spec, _, err := readSpec(dir)
	return spec, err
}

// readSpec reads the spec and the network of a checkpoint in Hugging Face's form, with its adapter's vocabulary.
func readSpec(dir string) (model.Spec, *family.Network, error) {
	spec, network, err := family.ReadConfig(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return spec, network, WithOtherForm(err, filesBelow(dir))
	}
	if err == nil {
		err = withAdapter(dir, &spec)
	}
	return spec, network, err
}

// Spec returns the model's sizes, special ids and decoding defaults.
func (c *Checkpoint) Spec() model.Spec { return c.spec }

// Tensor returns the tensor of a Hugging Face name, with the prefix "model." even if the file lacks it. For the name of a copy of
// an embedding, it returns the embedding.
func (c *Checkpoint) Tensor(name string) (Tensor, error) {
	t, ok := c.tensors[embeddingOf(name, c.spec)]
	if !ok {
		return Tensor{}, fmt.Errorf("no tensor %q in this model of %d encoder and %d decoder layers",
			name, c.spec.Encoder.Layers, c.spec.Decoder.Layers)
	}
	return t, nil
}
