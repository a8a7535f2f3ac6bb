package export

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The first distance of each bucket, as in transformers 5.23.0; -1: the bucket has none.
func TestBucket(t *testing.T) {
	for _, test := range []struct {
		buckets, most int
		both          bool
		first         []int
	}{
		{32, 128, true, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91}},
		{32, 128, false, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}},
		{8, 20, true, []int{0, 1, 2, 7}},
		{8, 20, false, []int{0, 1, 2, 3, 4, 6, 9, 14}},
		{6, 9, true, []int{0, 1, 3}},
		{6, 9, false, []int{0, 1, 2, 3, 5, 7}},
		{32, 64, true, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 14, 18, 23, 30, 39, 50}},
		{48, 1000, true, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 18, 26, 37, 53, 76, 110, 159, 229, 331, 479, 692}},
		{48, 1000, false, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 29, 33, 39, 45,
			53, 61, 72, 84, 98, 114, 133, 155, 181, 212, 247, 289, 337, 394, 460, 538, 628, 733, 857}},
		{128, 8192, true, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
			31, 32, 39, 46, 54, 64, 77, 91, 108, 128, 153, 182, 216, 256, 305, 363, 431, 512, 609, 725, 862, 1024, 1218, 1449, 1723, 2048, 2436,
			2897, 3445, 4096, 4871, 5793, 6889}},
		{5, 3, true, []int{0, 1}},
		{5, 3, false, []int{0, 1, 2, -1, 3}},
		{4, 3, true, []int{0, 1}},
		{4, 3, false, []int{0, 1, 2, 3}},
	} {
		want := 0
		for far := range test.most + 10 {
			for b, first := range test.first {
				if first == far {
					want = b
				}
			}
			assert.Equal(t, want, bucket(-far, test.both, test.buckets, test.most), "%v before the query by %d", test, far)
			if test.both && far > 0 {
				assert.Equal(t, test.buckets/2+want, bucket(far, true, test.buckets, test.most), "%v behind the query by %d", test, far)
			}
		}
	}
}
