package segment_test

import (
	"context"
	"fmt"

	"dragoman/app/text/segment"
)

func Example() {
	ctx := context.Background()
	pieces, _ := segment.Split(ctx, "## Notes\n- Dr. Wu came. Who else?\n", "en")
	for _, p := range pieces {
		fmt.Printf("%t %q\n", p.Sentence, p.Text)
	}
	joined, _ := segment.Join(ctx, pieces, []string{"笔记", "吴博士来了。", "还有谁？"}, "en", "zh")
	fmt.Printf("%q\n", joined)
	// Output:
	// false "## "
	// true "Notes"
	// false "\n- "
	// true "Dr. Wu came."
	// false " "
	// true "Who else?"
	// false "\n"
	// "## 笔记\n- 吴博士来了。还有谁？\n"
}

func ExampleFiner() {
	pieces, _ := segment.Finer(context.Background(), "When it rains in the town, we do not go out.", "en")
	for _, p := range pieces {
		fmt.Printf("%t %q\n", p.Sentence, p.Text)
	}
	// Output:
	// true "When it rains in the town,"
	// false " "
	// true "we do not go out."
}
