package lineartest

import (
	"fmt"
	"iter"
	"strings"
)

// signs are signs at which texts are cut or which recognizers search for: quotes, brackets, punctuation, operators, marks of
// Markdown, signs of CJK, combining and invisible characters, and white space.
var signs = append(strings.Fields("« » “ ” „ ‚ ‘ ’ ‹ › \" ' ` ( ) [ ] { } < > . , : ; ! ? … - – — _ * ~ # & @ % $ € ^ + = / \\ | ° · • ¿ 。 、 「 」 （ ！ ¹ ™ → 😀 − \ufffc \u0301 \u200d"),
	" ", "\n", "\t", "\u00a0", "\u200b", "\u00ad", "\xff")

// fillers stand between signs.
var fillers = []string{"a", "A", "1", " ", "ab ", "日", "Δ", "٣", "<b>", "</b>", "<br/>", "&amp;", "a\n", " 1", "true", "'a", "https://a.de/", "{x}", "**", "x = ", ". A"}

// Texts yields texts of any size that are hostile to searches in a loop: each sign and each pair of signs, repeated, with fillers
// between them, nested, and in sequence. words are specific to the tested package.
func Texts(words ...string) iter.Seq2[string, func(size int) string] {
	return func(yield func(string, func(int) string) bool) {
		n := 0
		put := func(name string, parts ...string) bool { // each part is repeated
			n++
			return n%share() != 0 || yield(name, func(size int) string {
				var out strings.Builder
				for _, part := range parts {
					out.WriteString(strings.Repeat(part, max(1, size/len(parts)/len(part))))
				}
				return out.String()
			})
		}
		for i, a := range append(signs[:len(signs):len(signs)], words...) {
			if !yield(fmt.Sprintf("%q", a), func(size int) string { return strings.Repeat(a, max(1, size/len(a))) }) {
				return
			}
			for k, b := range signs {
				filler := fillers[(i+k)%len(fillers)]
				if !put(fmt.Sprintf("%q", a+b), a+b) || !put(fmt.Sprintf("%q", a+filler+b), a+filler+b) || !put(fmt.Sprintf("%q", a+b+filler), a+b+filler) ||
					!put(fmt.Sprintf("%q %q", a, b), a, b) || !put(fmt.Sprintf("%q %q", a+filler, b), a+filler, b) || !put(fmt.Sprintf("%q %q", filler, a+b), filler, a+b) {
					return
				}
			}
		}
		for _, form := range []string{"a%d ", "a!%d ", "%d:0 ", "%d-1 ", "x%d/y ", "<b>%d</b>", "&#%d;", "«a%d» ", "[%d] ", "{a%d}", "1+%d=2 ", "<a%d>", "%d. "} { // each is another
			if !yield(form, func(size int) string {
				var out strings.Builder
				for i := 1; out.Len() < size; i++ {
					fmt.Fprintf(&out, form, i)
				}
				return out.String()
			}) {
				return
			}
		}
	}
}
