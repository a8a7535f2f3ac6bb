package export

import (
	"math"

	"dragoman/model/checkpoint"
)

// distances adds the bias of self-attention scores in a stack by the distance of two tokens, in the layout of the attention
// operators, for all distances up to the largest distinct one: [heads, 2·MaxDistance+1] in the encoder, [MaxDistance+1, heads] in
// the decoder.
func (b *builder) distances(stack string) string {
	most, heads, encoder := b.spec.MaxDistance, b.spec.Decoder.Heads, stack == "encoder"
	table, err := b.w.read(checkpoint.DistanceWeights(stack))
	shape, values := []int{most + 1, heads}, []float32{}
	if encoder {
		heads = b.spec.Encoder.Heads
		shape = []int{heads, 2*most + 1}
	}
	weight := func(distance, head int) float32 {
		return table[bucket(distance, encoder, b.spec.Buckets, most)*heads+head]
	}
	for i := 0; err == nil && i < shape[0]*shape[1]; i++ {
		if encoder {
			values = append(values, weight(i%shape[1]-most, i/shape[1]))
		} else {
			values = append(values, weight(-(i/heads), i%heads))
		}
	}
	return b.numbers(stack+".distances", shape, values, err)
}

// bucket returns the row of the table for a distance, key minus query, as in Hugging Face's T5, in 32 bits. If both is true, the
// second half of the buckets is for keys after the query. On each side, half of the buckets have one distance each, and the
// others grow logarithmically.
func bucket(distance int, both bool, buckets, most int) int {
	first, far := 0, -distance
	if both {
		buckets /= 2
		if distance > 0 {
			first, far = buckets, distance
		}
	}
	exact := buckets / 2
	if far < exact {
		return first + far
	}
	grown := float32(math.Log(float64(float32(far)/float32(exact)))) / float32(math.Log(float64(most)/float64(exact)))
	return first + min(exact+int(grown*float32(buckets-exact)), buckets-1)
}
