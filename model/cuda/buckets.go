package cuda

import "dragoman/model"

// mostRows is the maximum number of rows in a run; a step with more rows takes several runs.
const mostRows = 512

// bucket rounds a number of rows up to a number for which steps are recorded. These numbers are few enough to record steps for
// all, and close enough together to waste little computation.
func bucket(rows int) int {
	switch {
	case rows <= 2:
		return max(rows, 1)
	case rows <= 4:
		return 4
	case rows <= 8:
		return 8
	case rows <= 128:
		return roundUp(rows, 16)
	case rows <= 256:
		return roundUp(rows, 32)
	default:
		return roundUp(rows, 64)
	}
}

// maxRows returns the largest bucket of a batch with room for a number of rows. A step can have more rows than the batch, because
// forced prefixes are fed as several tokens at once.
func maxRows(rows int) int64 { return int64(bucket(min(max(rows, 8), mostRows))) }

// buckets returns the buckets up to rows, the largest first.
func buckets(rows int64) []int {
	var all []int
	for n := int(rows); n > 0; n-- {
		if bucket(n) == n {
			all = append(all, n)
		}
	}
	return all
}

// tokensBucket is bucket for the tokens of the encoder. The encoder is not recorded, because its kernels are long, and there are
// many sizes.
func tokensBucket(tokens int) int {
	if tokens <= 512 {
		return roundUp(tokens, 32)
	}
	return roundUp(tokens, 256)
}

// encoderTokens returns the maximum number of tokens in an encoder run; a single sentence always fits. The maximum limits the
// memory of activations.
func encoderTokens(spec model.Spec) int { return max(4096, tokensBucket(spec.MaxPositions)) }

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
