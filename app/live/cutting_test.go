package live

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/translate"
)

// slowCutter is a translator whose cuts of texts wait for a test, or for the end of their context.
type slowCutter struct {
	Translator
	begun chan string   // gets each text
	goOn  chan struct{} // lets one cut go on
	ended chan error    // gets the cause of each that ends
}

func (c slowCutter) Cut(ctx context.Context, req translate.Request) (translate.Cut, error) {
	if req.Records[0].Text == "" { // of a session that is opened
		return c.Translator.Cut(ctx, req)
	}
	c.begun <- req.Records[0].Text
	select {
	case <-c.goOn:
		return c.Translator.Cut(ctx, req)
	case <-ctx.Done():
		c.ended <- ctx.Err()
		return translate.Cut{}, ctx.Err()
	}
}

// While a text is cut its session takes edits. The first of them ends the cutting, for the text is another; a second does
// not, or nothing would ever be shown. A session that ends has nothing cut any more.
func TestEditsAndEndsEndTheCutting(t *testing.T) {
	c := slowCutter{translator(t, &upper{}), make(chan string), make(chan struct{}), make(chan error)}
	x := open(t, start(t, Config{}, c))
	edit := func(number int64, text string) {
		taken, err := x.Edit(appended(number, text), admitted)
		assert.NoError(t, err)
		assert.Equal(t, number, taken)
	}
	edit(1, "One. ")
	assert.Equal(t, "One. ", <-c.begun)
	edit(2, "Two. ")
	assert.ErrorIs(t, <-c.ended, context.Canceled)
	assert.Equal(t, "One. Two. ", <-c.begun)
	edit(3, "Three. ")
	c.goOn <- struct{}{}
	u, err := x.Wait(t.Context(), 0, 0)
	assert.NoError(t, err)
	assert.Equal(t, "One. Two. Three. ", <-c.begun, "what was edited meanwhile is cut next")
	assert.LessOrEqual(t, u.Shown, int64(2))
	x.End(ReasonDeleted)
	assert.ErrorIs(t, <-c.ended, context.Canceled)
	u, err = x.Wait(t.Context(), 0, 0)
	assert.NoError(t, err)
	assert.Equal(t, ReasonDeleted, u.Ended)
}
