package entity

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzCompare(f *testing.F) {
	for _, seed := range []string{
		"", "-1.234,5 und 1 234.5", "10:30, 3 PM, 2024-05-06, 10時30分", "einundzwanzig 1万 XX 三十 half past two", "½ of 5%, $20 or 20 €", "0007 ٣٤ １，２３４",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, lang := range []string{"de", "ja", ""} {
			require.NoError(t, Compare(t.Context(), text, text, lang, lang), "a text says what it says")
		}
	})
}
