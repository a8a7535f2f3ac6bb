package markup_test

import (
	"context"
	"fmt"
	"strings"

	"dragoman/app/text/markup"
)

func Example() {
	ctx := context.Background()
	sentence, _ := markup.Parse(ctx, "Write to <b>ann@example.com</b> before 12:30. 😀", markup.Text)
	sentence, _ = sentence.In(ctx, "en")
	masked, _, _ := sentence.Mask(ctx, 0)
	fmt.Println(masked.Text)

	text, err := masked.Restore(ctx, "Avant 12h30, écrivez à [1].")
	fmt.Println(text, err)

	_, err = masked.Restore(ctx, "Avant 13h30, écrivez à [1].")
	fmt.Println(err)
	// Output:
	// Write to [1] before 12:30.
	// Avant 12h30, écrivez à <b>ann@example.com</b>. 😀 <nil>
	// markup lost: the numbers differ: 1 of 1 missing, 1 new, 0 repeated
}

func ExampleSplitHTML() {
	ctx := context.Background()
	pieces, _ := markup.SplitHTML(ctx, "<p>Tom &amp;\n <b>Jerry</b></p><pre>as it is</pre>")
	for _, piece := range pieces {
		if piece.Unit {
			text, _ := piece.Text(ctx)
			fmt.Printf("unit  %s\n", text)
		} else {
			fmt.Printf("fixed %s\n", strings.TrimSpace(piece.Raw))
		}
	}
	// Output:
	// fixed <p>
	// unit  Tom & <b>Jerry</b>
	// fixed </p><pre>as it is</pre>
}
