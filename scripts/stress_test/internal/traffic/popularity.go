package traffic

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Popularity draws numbers below n from a Poisson distribution with mean lambda, truncated at n: k has a probability proportional
// to lambda^k / k!. With a small lambda 0 is by far the most frequent: with 0.3, 0 to 2 have 74%, 22% and 3%. It is not safe for
// concurrent use; n and lambda must be above 0.
func Popularity(n int, lambda float64, src rand.Source) func() int {
	poisson, weights := distuv.Poisson{Lambda: lambda}, make([]float64, n)
	for k := range weights {
		weights[k] = poisson.Prob(float64(k))
	}
	law := distuv.NewCategorical(weights, src)
	return func() int { return int(law.Rand()) }
}
