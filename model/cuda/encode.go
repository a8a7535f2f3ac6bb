package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"dragoman/model"
	"dragoman/model/cuda/kernels"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// encoding is the encoder bound to a batch's cross-attention memory.
type encoding struct {
	model   *Model
	program *program
	feed    *channel // int32 [fields, tokens]
	tokens  int      // capacity of feed
	trash   int32    // the row of the memory for padding tokens
}

// open reserves memory for the encoder's feed.
func (e *encoding) open(m *Model, cross unsafe.Pointer, limits model.Limits) (err error) {
	spec := m.manifest.Spec
	e.model, e.tokens, e.trash = m, encoderTokens(spec), int32(limits.Rows)
	if e.feed, err = newChannel(m.machine, kernels.EncoderFields*int64(e.tokens)); err != nil {
		return fmt.Errorf("the encoder's input: %w", err)
	}
	e.program = &program{model: m, session: m.encoder, bound: map[shape]*bound{}, bind: func(b *onnxruntime.Binding, s shape) {
		b.Input("feed", e.feed.device, onnx.Int32, kernels.EncoderFields, s.rows)
		b.Input("cross", cross, onnx.Uint8, spec.Decoder.Layers, limits.Rows+1, spec.MaxPositions, int(tokenSize(m.manifest)))
		// The output has no meaning. Its memory is the feed's, because the feed is not read any more when the output is written.
		b.Output("stored", e.feed.device, onnx.Int32, 1)
	}}
	return nil
}

// warmUp runs the encoder on the maximum number of tokens, all of them padding, because the memory that ONNX Runtime reserves for
// this run serves runs of fewer tokens too, while memory reserved for fewer tokens is of little use for more. With unlimited
// memory it does nothing.
func (e *encoding) warmUp() error {
	if free, err := e.model.machine.Available(); err != nil || free < 0 {
		return err
	}
	if err := e.run(nil, nil, e.tokens); err != nil {
		return fmt.Errorf("encoder on %d tokens: %w", e.tokens, err)
	}
	return nil
}

// run runs the encoder on sources and writes their cross-attention keys and values to the rows of the memory in slots. run waits
// for the device, because the feed is reused.
func (e *encoding) run(sources [][]int64, slots []int32, tokens int) error {
	n := tokensBucket(tokens)
	feed := e.feed.view(kernels.EncoderFields * n)
	at := 0
	for i, source := range sources {
		first := at
		for position, id := range source {
			put(feed, n, at, int32(id), int32(position), slots[i], int32(first), int32(len(source)))
			at++
		}
	}
	for ; at < n; at++ { // padding: sentences of one token, never read
		put(feed, n, at, 0, 0, e.trash, int32(at), 1)
	}
	if err := e.feed.upload(len(feed)); err != nil {
		return err
	}
	if err := e.program.run(shape{rows: n}); err != nil {
		return err
	}
	return e.model.machine.Wait()
}

// put sets the fields of a row of a feed [fields, n].
func put(feed []int32, n, row int, fields ...int32) {
	for i, v := range fields {
		feed[i*n+row] = v
	}
}

func (e *encoding) close() error { return errors.Join(e.program.close(), e.feed.close()) }
