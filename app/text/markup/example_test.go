package markup_test

import (
	"fmt"
	"strings"

	"dragoman/app/text/markup"
)

func Example() {
	sentence := markup.Parse("Write to <b>ann@example.com</b> before 12:30. 😀", markup.Text)
	masked, _ := sentence.Mask(0)
	fmt.Println(masked.Text)

	text, err := masked.Restore("Avant 12h30, écrivez à [1].")
	fmt.Println(text, err)

	_, err = masked.Restore("Avant 13h30, écrivez à [1].")
	fmt.Println(err)
	// Output:
	// Write to [1] before 12:30.
	// Avant 12h30, écrivez à <b>ann@example.com</b>. 😀 <nil>
	// markup lost: the numbers differ: 1 of 1 missing, 1 new, 0 repeated
}

func ExampleSplitHTML() {
	for _, piece := range markup.SplitHTML("<p>Tom &amp;\n <b>Jerry</b></p><pre>as it is</pre>") {
		if piece.Unit {
			fmt.Printf("unit  %s\n", piece.Text())
		} else {
			fmt.Printf("fixed %s\n", strings.TrimSpace(piece.Raw))
		}
	}
	// Output:
	// fixed <p>
	// unit  Tom & <b>Jerry</b>
	// fixed </p><pre>as it is</pre>
}
