package translate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The branches of a message are translated also with inline codes in them, and its keywords stay.
func TestMessagesWithCodes(t *testing.T) {
	for in, want := range map[string]string{
		`{VAR_PLURAL, plural, =1 {one cat} other {<x id="INTERPOLATION"/> cats}}`:                                                                `{VAR_PLURAL, plural, =1 {ONE CAT} other {<x id="INTERPOLATION"/> CATS}}`,
		`{VAR_PLURAL, plural, =0 {no cats} =1 {<x id="START_BOLD_TEXT"/>one<x id="CLOSE_BOLD_TEXT"/> cat} other {<x id="INTERPOLATION"/> cats}}`: `{VAR_PLURAL, plural, =0 {NO CATS} =1 {<x id="START_BOLD_TEXT"/>ONE<x id="CLOSE_BOLD_TEXT"/> CAT} other {<x id="INTERPOLATION"/> CATS}}`,
		`You have {0,choice,0#no cats|1#one cat|2#<x id="1"/> {0} cats}.`:                                                                        `YOU HAVE {0,choice,0#NO CATS|1#ONE CAT|2#<x id="1"/> {0} CATS}.`,
		`You have {0,choice,0#no cats|1&lt;some &lt;b cats|2&lt;<x id="1"/> {0} cats}.`:                                                          `YOU HAVE {0,choice,0#NO CATS|1&lt;SOME &lt;b CATS|2&lt;<x id="1"/> {0} CATS}.`,
		`{n, select, a &amp; b {x} other {y}} {0,choice,0#R&amp;D cats|1&lt;cats}`:                                                               `{n, select, a &amp; b {x} other {y}} {0,choice,0#R&amp;D CATS|1&lt;CATS}`,
		`See {0,choice,0#no cats|cats}.`: `SEE {0,choice,0#no cats|cats}.`,
		`See {n, plural, one {a <pc id="1">cat</pc>} other {<ph id="2" disp="{{n}}"/> cats &amp; dogs}}.`: `SEE {n, plural, one {A <pc id="1">CAT</pc>} other {<ph id="2" disp="{{n}}"/> CATS &amp; DOGS}}.`,
		`{n, plural, one {{sex, select, male {his <x id="1"/> cat} other {their cat}}} other {cats}}`:     `{n, plural, one {{sex, select, male {HIS <x id="1"/> CAT} other {THEIR CAT}}} other {CATS}}`,
	} {
		req := texts(in)
		req.Format, req.Flagged = XML, true
		got, err := service(t, runes{}, &upper{}).Translate(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, want, got[0].Text)
	}
	// A pair that begins in one branch and ends in another one is no part of a message.
	req := texts(`{n, plural, one {a <b>cat} other {cats</b>}}`)
	req.Format, req.Flagged = XML, true
	got, err := service(t, runes{}, &upper{}).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(got[0].Text, "</b>"))
}
