package translate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
)

func TestTooShort(t *testing.T) {
	const (
		long     = "The committee that was chosen last year has decided to close the old station near the river, although most of the people who live there need it every day to get to work."
		german   = "Der Ausschuss, der letztes Jahr gewählt wurde, hat beschlossen, den alten Bahnhof am Fluss zu schließen, obwohl die meisten Leute, die dort wohnen, ihn jeden Tag brauchen, um zur Arbeit zu kommen."
		japanese = "昨年選ばれた委員会は、川の近くの古い駅を閉鎖することを決めたが、そこに住むほとんどの人々は毎日通勤のためにその駅を必要としている。"
		thai     = "คณะกรรมการที่ได้รับเลือกเมื่อปีที่แล้วตัดสินใจปิดสถานีเก่าใกล้แม่น้ำ"
	)
	upTo := func(text, end string) string { return text[:strings.Index(text, end)+len(end)] }
	for _, test := range []struct {
		from, to, source, translation string
		short                         bool
	}{
		{"en", "de", long, german, false},
		{"de", "en", german, long, false},
		{"en", "ja", long, japanese, false},
		{"ja", "en", japanese, long, false},
		{"ja", "de", japanese, german, false},
		{"de", "ja", german, japanese, false},
		// It breaks off after a half, or after a clause.
		{"en", "de", long, upTo(german, "Bahnhof"), true},
		{"en", "de", long, upTo(german, "schließen,"), true},
		{"en", "ja", long, upTo(japanese, "決めたが、"), true},
		{"ja", "de", japanese, upTo(german, "Bahnhof"), true},
		{"ja", "en", japanese, upTo(long, "station"), true},
		// It ends, but far too early.
		{"en", "de", long, "Der Ausschuss wurde letztes Jahr gewählt.", true},
		{"en", "ja", long, "委員会は駅を閉鎖する。", true},
		{"ja", "en", japanese, "The committee was chosen.", true},
		{"en", "de", strings.TrimSuffix(long, "."), "Der Ausschuss wurde letztes Jahr gewählt", true},
		{"en", "fr", "Choose whether the video stream should be redirected to the output", "Flux vidéo", true},
		// Without an end of its own, the source tells less.
		{"en", "de", "The committee that was chosen last year", "Der Ausschuss, der letztes", false},
		{"en", "de", "The committee that was chosen last year.", "Der Ausschuss, der letztes", true},
		{"en", "de", "He lives in Berlin, Paris etc.", "Er lebt in Berlin, Paris usw.", false},
		// Sentences of Thai have no mark at their end.
		{"en", "th", "The committee that was chosen last year has decided to close the station near the river.", upTo(thai, "สถานี"), false},
		{"en", "th", long, upTo(thai, "คณะ"), true},
		// Short texts differ much.
		{"en", "de", "I beg your pardon?", "Bitte", false},
		{"en", "zh", "A long time.", "好久", false},
		{"en", "de", "", "", false},
		{"en", "de", long, "", false},          // it is empty
		{"en", "de", "12345, 678.", "", false}, // no letters
		// A name, code or number counts like a word, in all languages.
		{"en", "ja", "See https://example.com/a/long/path/to/the/documentation.html.", "https://example.com/a/long/path/to/the/documentation.html を参照してください。", false},
		{"ja", "en", "https://example.com/a/long/path/to/the/documentation.html を参照してください。", "See https://example.com/a/long/path/to/the/documentation.html.", false},
		// Of languages without a known length, and of unknown codes.
		{"en", "ary", long, long, false},
		{"xyz", "tlh", long, long, false},
		{"xyz", "tlh", long, upTo(long, "chosen"), true},
	} {
		x := &sentence{Sentence: markup.Sentence{Text: test.source}, step: &step{from: test.from, to: test.to}}
		short, err := x.isTooShort(t.Context(), test.translation, language.LettersOf(test.translation))
		require.NoError(t, err)
		assert.Equal(t, test.short, short, "%s: %s", test.source, test.translation)
	}
}

func TestTooShortIsTriedInParts(t *testing.T) {
	const text = "they all went away early, as nobody had stayed."
	half := func(text string, _ engine.Job) (string, bool) {
		if len(text) > 40 {
			return strings.ToUpper(text[:20]), false
		}
		return strings.ToUpper(text), false
	}
	got, tried := translateOne(t, text, half)
	require.Len(t, tried, 2)
	assert.Equal(t, plainWay+": "+text, tried[0])
	assert.Equal(t, strings.ToUpper(text), got.Text)
	assert.Zero(t, got.Flags)

	got, tried = translateOne(t, text, func(text string, _ engine.Job) (string, bool) { return "ALL", false })
	assert.Equal(t, TooShort, got.Flags, "%q", tried)
	assert.LessOrEqual(t, len(tried), 4)

	once := texts(text)
	once.Once, once.Flagged = true, true
	results, err := service(t, runes{}, &upper{decode: half}).Translate(t.Context(), once)
	require.NoError(t, err)
	assert.Equal(t, TooShort, results[0].Flags)
}
