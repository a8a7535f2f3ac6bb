package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/model"
)

func TestParameters(t *testing.T) {
	small := model.Spec{VocabSize: 8109, DModel: 256, Encoder: model.Stack{Layers: 4, Heads: 4, FFN: 1024},
		Decoder: model.Stack{Layers: 3, Heads: 4, FFN: 1024}, TiedHead: true}
	assert.Equal(t, 8_396_288, small.Parameters()) // of the bundled checkpoint: its safetensors file over two bytes
	large := model.Spec{VocabSize: 128112, DModel: 1024, Encoder: model.Stack{Layers: 12, Heads: 16, FFN: 4096},
		Decoder: model.Stack{Layers: 12, Heads: 16, FFN: 4096}, TiedHead: true}
	assert.Equal(t, 483_905_536, large.Parameters()) // facebook/m2m100_418M
	large.TiedHead = false
	assert.Equal(t, 483_905_536+128112*1024, large.Parameters())
}
