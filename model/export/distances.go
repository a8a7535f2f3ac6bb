package export

import (
	"math"

	"dragoman/model/checkpoint"
)

// distances is what is added to the scores of self-attention in a stack by the distance of two
// tokens, as the operators of attention read it, for all distances up to the greatest that is told
// from others: [heads, 2·MaxDistance+1] of the encoder, [MaxDistance+1, heads] of the decoder.
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

// bucket is the row of the table that belongs to a distance, key minus query, as Hugging Face's T5
// has it, in 32 bits. With both sides, the second half of the buckets is for keys behind the query. Half of
// what a side has are one distance each, the others grow with its logarithm.
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
