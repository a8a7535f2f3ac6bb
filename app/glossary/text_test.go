package glossary

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

var french = Pair{From: "en", To: "fr"}

// terms returns terms from alternating sources and targets.
func terms(texts ...string) (list []translate.Term) {
	for i := 0; i < len(texts); i += 2 {
		list = append(list, translate.Term{Source: texts[i], Target: texts[i+1]})
	}
	return list
}

func TestParse(t *testing.T) {
	long := strings.Repeat("é", MaxTermBytes/2)
	for _, test := range []struct {
		format Format
		text   string
		want   []translate.Term
	}{
		{FormatTSV, "", nil},
		{FormatTSV, "\uFEFF\r\n \t \n", nil},
		{FormatTSV, "cat\tchat", terms("cat", "chat")},
		{FormatTSV, "\uFEFFcat\tchat\r\n\r\n big cat \t  gros chat\u00a0\r\n", terms("cat", "chat", "big cat", "gros chat")},
		{FormatTSV, "Acme\nAcme Corp\t\nCAT\tCAT\n", terms("Acme", "Acme", "Acme Corp", "Acme Corp", "CAT", "CAT")},
		{FormatTSV, "\"cat\"\t'chat', \"x\n", terms(`"cat"`, `'chat', "x`)},
		{FormatTSV, "cat\tchat\nCat\tChat\n", terms("cat", "chat", "Cat", "Chat")},
		{FormatTSV, "猫\tchat 🐈\n", terms("猫", "chat 🐈")},
		{FormatTSV, long + "\t" + long, terms(long, long)},
		{FormatCSV, "", nil},
		{FormatCSV, "\uFEFF\"cat, big\",\"gros \"\"chat\"\"\"\r\n\r\nAcme\nAcme Corp,\n", terms("cat, big", `gros "chat"`, "Acme", "Acme", "Acme Corp", "Acme Corp")},
		{FormatCSV, "cat,chat,en,fr\ndog,chien,EN,fr-FR\nold,vieux,,\n", terms("cat", "chat", "dog", "chien", "old", "vieux")},
		{FormatCSV, "a;b,\n", terms("a;b", "a;b")},
	} {
		got, err := Parse(test.format, test.text, french, 10)
		require.NoError(t, err, "%q", test.text)
		assert.Equal(t, Terms{french, test.want}, got, "%q", test.text)
	}
}

func TestParseRefuses(t *testing.T) {
	long := strings.Repeat("x", MaxTermBytes+1)
	for _, test := range []struct {
		format Format
		text   string
		want   string
	}{
		{FormatTSV, "cat\tchat\n\n\tchien\n", "line 3: the source is empty"},
		{FormatTSV, "cat\tchat\tnoun\n", "line 1: there is more than one tab"},
		{FormatTSV, "a\tb\n" + strings.Repeat("\t", 1000), ""}, // a blank line
		{FormatTSV, "cat\tchat\r\ndog\tchien\r\n cat \tminou\r\n", `line 3: "cat" is there already, in line 1`},
		{FormatTSV, "a\tb\n" + long + "\tb\n", "line 2: the source has 1025 bytes, at most 1024 are allowed"},
		{FormatTSV, "a\tb\nc\t" + long, "line 2: the target has 1025 bytes"},
		{FormatTSV, "a\tb\xff\n", "line 1: the target is not UTF-8"},
		{FormatTSV, "a\x00\tb\n", `line 1: the source "a\x00" has a control character`},
		{FormatTSV, "a\rb\tc\n", `line 1: the source "a\rb" has a control character`},
		{FormatTSV, "a\tb\u2028c\n", `line 1: the target "b\u2028c" has a control character or a line break`},
		{FormatCSV, "cat,chat\n\"dog,chien\n", `line 2: it is no CSV at byte `},
		{FormatCSV, "cat,chat\ndog,\"ch\"ien\n", `line 2: it is no CSV at byte 8`},
		{FormatCSV, "\"a\nb\",c\n", `line 1: the source "a\nb" has a control character`},
		{FormatCSV, "a,b\n\"c\",\"d\"\n\n,e\n", `line 4: the source is empty`},
		{FormatCSV, "cat;chat\n", `line 1: "cat;chat" has a semicolon and no comma`},
		{FormatCSV, "a,b,en,fr,x\n", "line 1: there are 5 columns"},
		{FormatCSV, "a,b,en,de\n", `line 1: column 4 is "de", expected "fr"`},
		{FormatCSV, "a,b,noun\n", `line 1: column 3 is "noun", expected "en"`},
		{FormatCSV, "a,b\na,c", `line 2: "a" is there already, in line 1`},
	} {
		_, err := Parse(test.format, test.text, french, 100)
		if test.want == "" {
			assert.NoError(t, err)
			continue
		}
		var wrong *fault.ItemError
		require.ErrorAs(t, err, &wrong, "%.100q", test.text)
		assert.Contains(t, err.Error(), test.want)
		assert.Less(t, len(err.Error()), 700)
	}
}

// Parsing stops at the maximum number of terms.
func TestParseTooMany(t *testing.T) {
	for format, line := range map[Format]string{FormatTSV: "%d\tx\n", FormatCSV: "%d,x\n"} {
		var text strings.Builder
		for i := range 4 {
			fmt.Fprintf(&text, line, i)
		}
		_, err := Parse(format, text.String(), french, 4)
		assert.NoError(t, err)
		_, err = Parse(format, text.String()+"x\n\x00 what is not read", french, 4)
		var limit *fault.Failure
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, fault.TooLarge, limit.Kind)
		assert.EqualError(t, err, "the dictionary from en to fr has more than 4 terms: divide it between several glossaries")
	}
}

// Written terms read back the same. Terms that were read contain nothing that could break a line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"cat\tchat\r\n", "\uFEFF\"a, b\",\"c\"\"d\",en,fr\n", "a;b", "\"", "a\t\t", "\xff,", " \u2028\n", "a\nb\na\n", "\r\r\n"} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, isCSV bool) {
		format := FormatTSV
		if isCSV {
			format = FormatCSV
		}
		const most = 100
		got, err := Parse(format, text, french, most)
		if err != nil {
			assert.True(t, utf8.ValidString(err.Error()), err)
			return
		}
		assert.LessOrEqual(t, len(got.List), most)
		for _, term := range got.List {
			assert.NotEmpty(t, term.Source)
			assert.NotEmpty(t, term.Target)
			assert.NotContains(t, term.Source+term.Target, "\t")
		}
		tsv := TSV(got.List)
		assert.Equal(t, got.List, append([]translate.Term(nil), fromTSV(tsv, len(got.List))...))
		for form, written := range map[Format]string{FormatTSV: tsv, FormatCSV: CSV(got.List)} {
			again, err := Parse(form, written, french, most)
			require.NoError(t, err, "%s %q", form, written)
			assert.Equal(t, got.List, again.List)
		}
	})
}
