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

// encoding is the encoder bound to a batch's memory of cross attention.
type encoding struct {
	model   *Model
	program *program
	feed    *channel // int32 [fields, tokens]
	tokens  int      // room in feed
	trash   int32    // the row of the memory for tokens that fill up
}

// open reserves memory for what the encoder is fed.
func (e *encoding) open(m *Model, cross unsafe.Pointer, limits model.Limits) (err error) {
	spec := m.manifest.Spec
	e.model, e.tokens, e.trash = m, encoderTokens(spec), int32(limits.Rows)
	if e.feed, err = newChannel(m.machine, kernels.EncoderFields*int64(e.tokens)); err != nil {
		return fmt.Errorf("the encoder's input: %w", err)
	}
	e.program = &program{model: m, session: m.encoder, bound: map[shape]*bound{}, bind: func(b *onnxruntime.Binding, s shape) {
		b.Input("feed", e.feed.device, onnx.Int32, kernels.EncoderFields, s.rows)
		b.Input("cross", cross, onnx.Uint8, spec.Decoder.Layers, limits.Rows+1, spec.MaxPositions, int(tokenSize(m.manifest)))
		// What it puts there means nothing, and nothing reads the feed any more.
		b.Output("stored", e.feed.device, onnx.Int32, 1)
	}}
	return nil
}

// warmUp runs the encoder on as many tokens as it takes at once, all of which fill up:
// in the memory that ONNX Runtime reserves for that, there is room for fewer, while what
// it reserved for fewer is of little use for more. Where there is as much memory as
// wanted it does nothing.
func (e *encoding) warmUp() error {
	if free, err := e.model.machine.Available(); err != nil || free < 0 {
		return err
	}
	if err := e.run(nil, nil, e.tokens); err != nil {
		return fmt.Errorf("encoder on %d tokens: %w", e.tokens, err)
	}
	return nil
}

// run runs the encoder on sources and writes the keys and values of their cross
// attention to the rows of the memory that slots names. It waits for the device: the
// feed is used again.
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
	for ; at < n; at++ { // sentences of one token, which nothing reads
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

// put fills in the fields of a row of a feed [fields, n].
func put(feed []int32, n, row int, fields ...int32) {
	for i, v := range fields {
		feed[i*n+row] = v
	}
}

func (e *encoding) close() error { return errors.Join(e.program.close(), e.feed.close()) }
