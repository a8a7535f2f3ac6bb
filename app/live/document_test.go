package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/translate"
)

// cutOf is a text whose sentences end at a stop.
func cutOf(text string) (cut translate.Cut) {
	cut.From, cut.To = "en", "fr"
	for part := range strings.SplitAfterSeq(text, " ") {
		if part != "" {
			cut.Parts = append(cut.Parts, translate.Part{Text: strings.TrimSuffix(part, " "), Translated: true})
			cut.Ended = strings.HasSuffix(strings.TrimSpace(part), ".")
		}
		if strings.HasSuffix(part, " ") {
			cut.Parts = append(cut.Parts, translate.Part{Text: " "})
		}
	}
	return cut
}

func (d *document) ids() (ids []int64) {
	for _, g := range d.segments {
		ids = append(ids, g.id)
	}
	return ids
}

// Sentences keep their ids from one cut to the next.
func TestMatch(t *testing.T) {
	d := newDocument(cutOf(""))
	for _, test := range []struct {
		text    string
		ids     []int64
		removed []int64
	}{
		{"a. b. c.", []int64{1, 2, 3}, nil},
		{"a. x. c.", []int64{1, 2, 3}, nil},             // changed
		{"a. x. y. c.", []int64{1, 2, 4, 3}, nil},       // one comes in
		{"x. y. c.", []int64{2, 4, 3}, []int64{1}},      // the first goes
		{"x. c.", []int64{2, 3}, []int64{4}},            // one in the middle
		{"", nil, []int64{2, 3}},                        // all
		{"a. a. a.", []int64{5, 6, 7}, nil},             // equal ones
		{"a. a.", []int64{5, 6}, []int64{7}},            // the last of them
		{"b. c. d. e.", []int64{5, 6, 8, 9}, []int64{}}, // all are other ones
	} {
		seen := d.revision
		d.match(cutOf(test.text))
		d.show(&memo{most: 1 << 20})
		d.commit()
		assert.Equal(t, test.ids, d.ids(), test.text)
		assert.ElementsMatch(t, test.removed, d.update(seen).Removed, test.text)
	}
}

// A client is told once what changes, and one that knows nothing all that there is.
func TestUpdates(t *testing.T) {
	d, known := newDocument(cutOf("")), &memo{most: 1 << 20}
	d.match(cutOf("a. b"))
	d.show(known)
	d.commit()
	first := d.update(1)
	assert.Len(t, first.Segments, 2)
	assert.False(t, first.All)
	assert.Empty(t, d.update(first.Revision).Segments)

	known.put(d.segments[0].key, translation{text: "A."})
	known.put(d.segments[1].key, translation{text: "B"})
	d.show(known)
	d.commit()
	second := d.update(first.Revision)
	assert.Len(t, second.Segments, 1, "the other one may go on")
	assert.Equal(t, "A.", *second.Segments[0].Text)
	assert.True(t, second.Segments[0].Final)

	d.goesOn = false
	d.show(known)
	d.commit()
	third := d.update(second.Revision)
	assert.Equal(t, []int64{2}, []int64{third.Segments[0].ID})
	assert.True(t, third.Segments[0].Final)

	all := d.update(0)
	assert.True(t, all.All)
	assert.Len(t, all.Segments, 2)
	assert.Equal(t, "en", all.From)
}

// A draft is stable as far as the last ones agree, and no more where the sentence is known.
func TestHypothesize(t *testing.T) {
	d := newDocument(cutOf(""))
	d.match(cutOf("a"))
	d.hypothesize(1, "k1", translation{text: "Where is"})
	assert.Zero(t, d.segments[0].stable)
	d.hypothesize(1, "k2", translation{text: "Where was"})
	assert.Zero(t, d.segments[0].stable)
	d.hypothesize(1, "k3", translation{text: "Where are they"})
	assert.Equal(t, len("Where"), d.segments[0].stable)
	d.hypothesize(2, "k4", translation{text: "of another"})
	d.segments[0].settled = true
	d.hypothesize(1, "k5", translation{text: "too late"})
	assert.Equal(t, "Where are they", d.segments[0].text)
	assert.Equal(t, "k3", d.segments[0].draft)
}
