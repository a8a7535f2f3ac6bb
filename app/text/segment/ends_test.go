package segment

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEnds(t *testing.T) {
	for _, test := range []struct {
		text, lang string
		want       bool
	}{
		{"", "en", true},
		{"  \n", "en", true},
		{"1. ", "en", true},
		{"Good morning", "en", false},
		{"Good morning.", "en", true},
		{"Good morning. ", "en", true},
		{"Good morning\n", "en", true},
		{"Is it late?", "en", true},
		{"Is it late?\" ", "en", true},
		{"Good morning, Dr.", "en", false},
		{"Good morning. It is", "en", false},
		{"今天很好。", "zh", true},
		{"今天很好", "zh", false},
		{"यह अच्छा है।", "hi", true},
		{"هل أنت هنا؟", "ar", true},
	} {
		assert.Equal(t, test.want, must(Ends(lasting, test.text, test.lang)), "%q in %s", test.text, test.lang)
	}
}
