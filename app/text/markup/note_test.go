package markup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A model that puts a space on each side of a marker, as they do: what stood right behind something still does.
func TestNotesStayBehindWhatTheyStoodBehind(t *testing.T) {
	for _, test := range []struct {
		format   Format
		in, mask string // {n} stands for marker n
		out      string // of the model
		want     string
	}{
		{HTML, "It is old,<sup>1</sup> but large.", "It is old,{1} but large.", "Il est vieux, {1} mais grand.", "Il est vieux,<sup>1</sup> mais grand."},
		{HTML, "It is old,<sup>a</sup> but large.", "It is old,{1} but large.", "Il est vieux, {1} mais grand.", "Il est vieux,<sup>a</sup> mais grand."},
		{HTML, "It is old,<a href=#n>1</a> but large.", "It is old,{1} but large.", "它是 {1} 旧的。", "它是<a href=#n>1</a>旧的。"},
		{HTML, "The house<sup><a href=#n>*</a></sup> is old.", "The house {1} is old.", "这栋房子 {1} 旧。", "这栋房子<sup><a href=#n>*</a></sup>旧。"},
		{HTML, "家<sup>1</sup>は古い。", "家 {1} は古い。", "The house {1} is old.", "The house<sup>1</sup> is old."},
		{XML, `It is old,<x id="1"/> but large.`, "It is old,{1} but large.", "Il est vieux, {1} mais grand.", `Il est vieux,<x id="1"/> mais grand.`},
		{XML, `It is “old”<x id="1"/> but large.`, "It is “old”{1} but large.", "Il est « vieux » {1} mais grand.", `Il est « vieux »<x id="1"/> mais grand.`},
		{Text, "It is old,[^1] but large.", "It is old,{1} but large.", "Il est vieux, {1} mais grand.", "Il est vieux,[^1] mais grand."},
		// At the end of a sentence no model sees them.
		{HTML, "It is old.<sup>1</sup>", "It is old.", "古い。", "古い。<sup>1</sup>"},
		{HTML, "It is old.<sup>1</sup><sup>2</sup>", "It is old.", "古い。", "古い。<sup>1</sup><sup>2</sup>"},
		{HTML, `It is old.<a epub:type="noteref" href="#n"><sup>1</sup></a>`, "It is old.", "古い。", `古い。<a epub:type="noteref" href="#n"><sup>1</sup></a>`},
		{Text, "It is old.[^a]", "It is old.", "古い。", "古い。[^a]"},
		{Text, "It is old.[12]", "It is old.", "古い。", "古い。[12]"},
		{Text, "It is old.¹²", "It is old.", "古い。", "古い。¹²"},
		// What is no mark of a note goes where the model has it.
		{HTML, "It is:<b>old</b> and large.", "It is:{1} old {2} and large.", "C'est : {1} vieux {2} et grand.", "C'est : <b>vieux</b> et grand."},
		{Text, "Name:{x} is here.", "Name:{1} is here.", "Nom : {1} est ici.", "Nom : {x} est ici."},
		{HTML, "See <a href=#p>12</a> and more.", "See {1} 12 {2} and more.", "Voir {1} 12 {2} et plus.", "Voir <a href=#p>12</a> et plus."},
	} {
		m, ok := must2(must(read(test.in, test.format).Whole(lasting)).Mask(lasting, 0))
		require.True(t, ok, test.in)
		named := strings.NewReplacer("{1}", "[1]", "{2}", "[2]")
		assert.Equal(t, named.Replace(test.mask), m.Text, test.in)
		got, err := m.Restore(lasting, named.Replace(test.out))
		require.NoError(t, err, test.in)
		assert.Equal(t, test.want, got)
	}
}

func TestNoted(t *testing.T) {
	for in, want := range map[string]string{
		"It is old.<sup>1</sup> It is":         "It is old.¹¹¹¹¹¹ It is",
		"It is “old.”<x id=\"1\"/> It is":      "It is “old.”⁴¹¹¹¹ It is",
		"It is old.[^1][^2] It is":             "It is old.¹¹¹¹ It is",
		"<b>It is old.</b><sup>1</sup> It is":  "<b>It is old.¹¹¹¹¹¹¹¹ It is",
		"<b>It is old.</b> It is":              "<b>It is old.</b> It is",
		"It is old.<b>It</b> is":               "It is old.<b>It</b> is",
		"It is old. <sup>1</sup> It is":        "It is old. <sup>1</sup> It is",
		"The house<sup>1</sup> is (<x/>) here": "The house<sup>1</sup> is (<x/>) here",
	} {
		got := read(in, HTML)
		if strings.Contains(in, "[^") {
			got = read(in, Text)
		}
		assert.Equal(t, want, must(got.Noted(lasting)), in)
		assert.Len(t, must(got.Noted(lasting)), len(in))
	}
}

func FuzzNoted(f *testing.F) {
	f.Add("It is old.<sup>1</sup> It.[^1] It.[1]¹<a href=x>1</a>")
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []Format{Text, HTML, XML} {
			assert.Len(t, must(read(text, format).Noted(lasting)), len(text))
		}
	})
}
