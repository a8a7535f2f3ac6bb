package monitor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnits(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct{ got, want string }{
		{rate(nan), "-"}, {rate(0), "0"}, {rate(.44), "0.4"}, {rate(9.94), "9.9"}, {rate(9.96), "10"}, {rate(1234), "1234"},
		{whole(9999.4), "9999"}, {whole(9999.6), "10k"}, {whole(123456), "123k"}, {whole(4e6), "4M"}, {whole(4e12), "4e+12"}, {whole(math.Inf(1)), "+Inf"},
		{percent(.725), "72%"}, {percent(nan), "-"}, {percent(1.5), "150%"},
		{span(nan), "-"}, {span(0), "0s"}, {span(350e-6), "350µs"}, {span(1.24e-3), "1.24ms"}, {span(.0815), "81.5ms"}, {span(.9996), "1s"},
		{span(1.239), "1.24s"}, {span(12.39), "12.4s"}, {span(123), "2m3s"}, {span(1860), "31m0s"}, {span(1e300), "277777h46m40s"},
		{size(nan), "-"}, {size(0), "0B"}, {size(600 << 20), "600MiB"}, {size(1.5 * (1 << 30)), "1.5GiB"}, {size(math.MaxFloat64), "1.0EiB"},
	} {
		assert.Equal(t, test.want, test.got)
	}
}
