package char

import (
	"context"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The functions find the same in long texts as in short ones.
func TestLooksFindTheSame(t *testing.T) {
	for _, expression := range []string{`\d+(?::\d+)+`, `\p{Sc}[ \x{a0}]?\pN|\pN[ \x{a0}]?\p{Sc}`, `^-?\pL[\pL\pM]*$`, `[XxＸ]\p{Zs}{0,2}([AaＡ])`, `a$`, `^`} {
		re := regexp.MustCompile(expression)
		for _, unit := range []string{"1:2 x a3 ", "$ 5 € ", "é", "Ｘ　Ａ1\xff", "a"} {
			text := strings.Repeat(unit, 3*BetweenLooks/len(unit))
			require.NoError(t, Look(t.Context(), len(text), func(l *Looks) {
				assert.Equal(t, re.MatchString(text), l.Match(re, text), "%s in %q", expression, unit)
				assert.Equal(t, re.FindStringSubmatchIndex(text), l.Find(re, text), "%s in %q", expression, unit)
				if expression != "^" {
					assert.Equal(t, re.FindAllStringSubmatchIndex(text, -1), l.FindAll(re, text), "%s in %q", expression, unit)
				}
			}))
		}
	}
}

func TestLook(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	err := Look(ctx, math.MaxInt, func(l *Looks) {
		for ; ; steps++ {
			if l.Past(1); steps == 10*BetweenLooks {
				cancel()
			}
		}
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.LessOrEqual(t, steps, 11*BetweenLooks)

	other := errors.New("another")
	assert.ErrorIs(t, Look(t.Context(), math.MaxInt, func(l *Looks) { l.Check(other) }), other)
	assert.PanicsWithValue(t, "a fault", func() { _ = Look(t.Context(), math.MaxInt, func(*Looks) { panic("a fault") }) }, "what is no end of a context goes on")
	var none *Looks
	none.Past(BetweenLooks + 1)
	assert.Equal(t, []int{0, 1}, none.Find(regexp.MustCompile("a"), "a"))
}
