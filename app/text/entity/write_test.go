package entity

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrite(t *testing.T) {
	for _, test := range []struct{ number, from, to, want string }{
		{"8万5千", "ja", "en", "85000"}, {"8万5千", "ja", "zh", "8万5千"}, {"1億2000万", "ja", "fr", "120000000"}, {"3만", "ko", "de", "30000"},
		{"1.5亿", "zh", "en", "150000000"}, {"8千5百元", "zh", "en", "8500 yuan"}, {"25万円", "ja", "en", "250000 yen"},
		{"2023年5月4日", "zh", "en", "4 May 2023"}, {"3月4日", "ja", "fr", "4 mars"}, {"12月24日", "zh", "de", "24. Dezember"},
		{"2023年5月4日", "zh", "th", "2023-05-04"}, {"5月", "zh", "en", "May"}, {"3月4日", "zh", "th", "3月4日"}, {"3月4日", "zh", "es", "4 de marzo"},
		{"令和5年", "ja", "en", "2023"}, {"10時〜12時", "ja", "en", "10:00–12:00"}, {"1週間", "ja", "en", "1 week"}, {"平成30年4月1日", "ja", "en", "1 April 2018"}, {"1998年", "zh", "en", "1998"}, {"5年", "zh", "en", "5 years"},
		{"14時30分", "ja", "en", "14:30"}, {"3点", "zh", "fr", "3:00"}, {"9時5分", "ja", "de", "9:05"}, {"3点", "zh", "ja", "3点"},
		{"10公里", "zh", "en", "10 km"}, {"45分钟", "zh", "de", "45 Minuten"}, {"1小时", "zh", "en", "1 hour"}, {"120元", "zh", "en", "120 yuan"},
		{"5〜7日", "ja", "en", "5–7 days"}, {"20日", "ja", "en", "20日"}, {"90分", "zh", "en", "90分"}, {"502号", "zh", "en", "502号"},
		{"30 August 1991", "en", "ja", "1991年8月30日"}, {"March 5, 2020", "en", "zh", "2020年3月5日"}, {"4 July", "en", "fr", "4 juillet"},
		{"30 août 1991", "fr", "en", "30 August 1991"}, {"30. August 1991", "de", "en", "30 August 1991"}, {"4 July", "en", "ko", "7월 4일"},
		{"30 August 1991", "en", "en", "30 August 1991"}, {"30 books 1991", "en", "ja", "30 books 1991"},
		{"1,234.5", "en", "de", "1,234.5"}, {"20–25", "en", "de", "20–25"}, {"5 kg", "en", "ja", "5 kg"}, {"", "zh", "en", ""}, {"号", "zh", "en", "号"},
	} {
		assert.Equal(t, test.want, Write(test.number, test.from, test.to), "%s in %s", test.number, test.to)
	}
}

func TestDateAt(t *testing.T) {
	for text, want := range map[string][]string{
		"Born 30 August 1991, died on March 5th, 2020.": {"30 August 1991", "March 5th, 2020"},
		"on the 21st of June and Dec 24":                {"21st of June", "Dec 24"},
		"4 July 2021":                                   {"4 July 2021"},
		"in 5 minutes, May 2020 or 30 books":            nil,
		"I may 5 times":                                 {"may 5"}, // no model takes it for a date where it copies the number
	} {
		var found []string
		for i, end := 0, 0; i < len(text); i++ {
			if i < end || text[i] < '0' || text[i] > '9' || i > 0 && text[i-1] >= '0' && text[i-1] <= '9' {
				continue
			}
			if from, to := DateAt(text, i, "en"); to > 0 {
				found, end = append(found, text[from:to]), to
			}
		}
		assert.Equal(t, want, found, text)
	}
	_, end := DateAt("4 July", 0, "xx")
	assert.Zero(t, end)
}
