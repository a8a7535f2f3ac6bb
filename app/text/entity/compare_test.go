package entity

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"dragoman/app/text/char"
	"dragoman/app/text/lineartest"
)

func TestCompareNumbers(t *testing.T) {
	for _, test := range []struct {
		source, translation string
		same                bool
	}{
		// The same value in other digits and with other signs.
		{"He paid 1,234.5 dollars.", "Er zahlte 1.234,5 Dollar.", true},
		{"He paid 1,234.5 dollars.", "Il a payé 1 234,5 dollars.", true},
		{"He paid 1,234.5 dollars.", "Il a payé 1\u202f234,5 dollars.", true},
		{"He paid 1,234.5 dollars.", "Er zahlte 1'234.5 Franken.", true},
		{"1,234 people", "1.234 Menschen", true},
		{"1,234 people", "1234 Menschen", true},
		{"12,34,567 rupees", "1.234.567 Rupien", true},
		{"In 2024 there were 30.", "في عام ٢٠٢٤ كان هناك ٣٠.", true},
		{"In 2024.", "２０２４年に。", true},
		{"1,234.5", "١٬٢٣٤٫٥", true},
		{"1.50 euros", "1,50 Euro", true},
		{"1.50 euros", "1,5 Euro", false},
		{"about .5", "environ 0,5", true},
		{"on 05/06/2024", "am 6.5.2024", true},
		{"on 24 December", "am 24.12.", true},
		{"at 12:30", "um 12.30 Uhr", true},
		{"at 12:30", "à 12h30", true},
		{"at 3:30 PM", "à 15h30", true},
		{"at 3 p.m.", "um 15 Uhr", true},
		{"à 15h30", "at 3:30 PM", true},
		{"午後3時に", "at 3 PM", true},
		{"the 20th century", "le XXe siècle", true},
		{"el siglo XX", "the 20th century", true},
		{"the 1990s", "die 90er Jahre", true},
		{"the 3rd time", "第3回", true},
		{"the 3rd time", "zum 3. Mal", true},
		{"version 1.2.3", "Version 1.2.3", true},
		{"50% of 200", "50 Prozent von 200", true},
		{"numbers 1,2,3", "Zahlen 1, 2, 3", true},
		{"call 030 1234567", "rufen Sie 030 1234567 an", true},
		{"COVID-19", "COVID 19", true},

		// Powers of ten in words.
		{"10,000 yen", "1万円", true},
		{"1万円", "10,000 yen", true},
		{"1万円", "10 thousand yen", true},
		{"120,000,000 people", "1億2000万人", true},
		{"120,000,000 people", "１億２０００万人", true},
		{"1.5 million people", "150万人", true},
		{"150万人", "1.5 million people", true},
		{"35,000", "3万5千", true},
		{"5 kg", "5千克", true},
		{"1.5 million", "1,5 Millionen", true},
		{"5 trillion won", "5조 원", true},
		{"2,400,000", "2.4 million", true},
		{"1万円", "1 yen", false},
		{"150万人", "150 people", false},
		{"10,000 yen", "1億円", false},

		// Small numbers may be spelled out, but not changed.
		{"2 dogs", "zwei Hunde", true},
		{"12 dogs and 30 cats", "zwölf Hunde und 30 Katzen", true},
		{"2 dogs", "3 Hunde", false},
		{"It costs $5.", "Es kostet 500 Dollar.", false},
		{"20人", "二十人", true},
		{"二十人", "20 people", true},
		{"twenty dogs and 15 cats", "20只狗和15只猫", true},

		// Losses.
		{"13 dogs", "dreizehn Hunde", false},
		{"It costs 499 dollars.", "Es kostet Dollar.", false},
		{"It costs 499 dollars.", "Es kostet 4990 Dollar.", false},
		{"It costs 19.99.", "Es kostet 19,9.", false},
		{"It costs 5.10.", "Es kostet viel.", false},
		{"1,234.5", "1.2345", false},
		{"1,234", "12.34", false},
		{"in 2024", "in 2023", false},
		{"in 2024", "in 2024, in 2024", false},
		{"version 1.2.3", "Version 1.3.2", false},
		{"code 0123", "Code 123", false},
		{"100 and 200", "100", false},
		{"at 12:45", "um 12 Uhr", false},
		{"at 15:30", "at 4:30 PM", false},

		// Signs.
		{"-5 degrees", "-5 Grad", true},
		{"-5 degrees", "−5 Grad", true},
		{"-5 degrees", "5 Grad", false},
		{"-15 degrees", "零下15度", true},
		{"minus 15 degrees", "-15 Grad", true},
		{"-$20", "-20 $", true},
		{"pages 10-20", "Seiten 10 - 20", true},

		// Nothing to compare.
		{"no numbers", "in 2024", true},
		{"", "", true},
		{"MIX it, Mr. D", "egal", true},
	} {
		t.Run(test.source+" → "+test.translation, func(t *testing.T) {
			err := Compare(t.Context(), test.source, test.translation, "", "")
			if test.same {
				assert.NoError(t, err)
			} else {
				assert.Error(t, err)
			}
		})
	}
}

func TestCompareNumbersSaysHowMany(t *testing.T) {
	assert.EqualError(t, Compare(t.Context(), "100, 200 and 300", "200, 200 und 5", "", ""),
		"the numbers differ: 2 of 3 missing, 1 new, 1 repeated")
	assert.EqualError(t, Compare(t.Context(), "-15 and -16", "-15 und 16", "", ""),
		"1 numbers with another sign")
}

// Every decimal digit that Unicode has is worth what stands at its place among ten.
func TestPlainDigit(t *testing.T) {
	count := rune(0)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := r
		if unicode.IsDigit(r) {
			want = '0' + count%10
			count++
		}
		if got := char.PlainDigit(r); got != want {
			t.Fatalf("%U is %U, not %U", r, got, want)
		}
	}
	assert.Zero(t, count%10)
}

func TestRomanValue(t *testing.T) {
	for letters, want := range map[string]int{
		"I": 1, "IV": 4, "IX": 9, "XIV": 14, "XX": 20, "XIX": 19, "MCMXC": 1990, "MMXXIV": 2024,
		"": 0, "IIII": 0, "IL": 0, "VV": 0, "DVD": 0, "ABC": 0,
	} {
		assert.Equal(t, want, romanValue(letters), letters)
	}
}

func TestCompareTimes(t *testing.T) {
	for _, test := range []struct {
		source, translation string
		same                bool
	}{
		{"at 10:30", "um 10:30 Uhr", true},
		{"at 10:30", "um 10.30 Uhr", true},
		{"at 10:30", "à 10 h 30", true},
		{"at 10:30", "10時30分に", true},
		{"10時30分に", "at 10:30", true},
		{"at 3:30 PM", "um 15:30 Uhr", true},
		{"at 3:00", "um 3 Uhr", true},
		{"at 10:30", "um 30 Uhr", false},
		{"at 10:30", "um 30:10 Uhr", false},
		{"at 10:30", "um 11:30 Uhr", false},
		{"at 10:30 and 11:45", "um 10:45 und 11:30 Uhr", false},
	} {
		if err := Compare(t.Context(), test.source, test.translation, "", ""); test.same {
			assert.NoError(t, err, test.translation)
		} else {
			assert.Error(t, err, test.translation)
		}
	}
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	for what, text := range lineartest.Texts("1", "1,", "一", "万", "千", "〇", "I", "May ", "one ", "hundred ", "8 pm ", "1:00 ") {
		timed.Assert(what, text, func(text string) {
			_ = Compare(t.Context(), text, text, "en", "fr")
			_ = Compare(t.Context(), "7 "+text, text, "", "")
		})
	}
}
