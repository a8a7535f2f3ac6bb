package entity

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrite(t *testing.T) {
	for _, test := range []struct{ number, lang, want string }{
		{"8万5千", "en", "85000"}, {"8万5千", "zh", "8万5千"}, {"1億2000万", "fr", "120000000"}, {"3만", "de", "30000"},
		{"2023年5月4日", "en", "4 May 2023"}, {"3月4日", "fr", "4 mars"}, {"12月24日", "de", "24 Dezember"},
		{"2023年5月4日", "th", "2023-05-04"}, {"5月", "en", "5月"}, {"3月4日", "th", "3月4日"},
		{"14時30分", "en", "14:30"}, {"3点", "fr", "3:00"}, {"9時5分", "de", "9:05"}, {"3点", "ja", "3点"},
		{"1,234.5", "en", "1,234.5"}, {"20–25", "de", "20–25"}, {"", "en", ""}, {"5年", "en", "5年"},
	} {
		assert.Equal(t, test.want, Write(test.number, test.lang), "%s in %s", test.number, test.lang)
	}
}
