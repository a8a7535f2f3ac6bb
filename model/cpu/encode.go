package cpu

import "dragoman/model/onnxruntime"

// encoderTokens returns the maximum number of tokens in an encoder run, except for a single longer sentence: 64 per thread.
// Activations of that number stay in the cache; a run of 1024 takes 1.2 to 1.3 times as long per token in int8. With fewer than
// 128 tokens, a run would mostly wait for weights.
func encoderTokens(threads int) int { return min(max(128, 64*threads), 1024) }

// encoding is the encoder bound to the cross-attention memory.
type encoding struct {
	session *onnxruntime.Session
	*tensors
}

// run runs the encoder on sources and writes their cross-attention keys and values to the rows of the store in slots.
func (e *encoding) run(sources [][]int64, slots []int32, tokens int, cross *store, allowed *allowed) (err error) {
	if e.tensors == nil {
		if e.tensors, err = newTensors(e.session); err != nil {
			return err
		}
		cross.bind(e.binding, "cross")
		allowed.bind(e.binding, true)
	}
	ids, pos := input[int64](e.tensors, "ids", tokens), input[int64](e.tensors, "pos", tokens)
	offsets := input[int32](e.tensors, "offsets", len(sources)+1)
	at := 0
	for i, source := range sources {
		offsets[i] = int32(at)
		copy(ids[at:], source)
		for j := range source {
			pos[at+j] = int64(j)
		}
		at += len(source)
	}
	offsets[len(sources)] = int32(at)
	copy(input[int32](e.tensors, "slots", len(slots)), slots)
	output[int32](e.tensors, "stored", 1)
	return e.tensors.run()
}
