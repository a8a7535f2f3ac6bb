package segment_test

import (
	"fmt"

	"dragoman/app/text/segment"
)

func Example() {
	pieces := segment.Split("## Notes\n- Dr. Wu came. Who else?\n", "en")
	for _, p := range pieces {
		fmt.Printf("%t %q\n", p.Sentence, p.Text)
	}
	fmt.Printf("%q\n", segment.Join(pieces, []string{"笔记", "吴博士来了。", "还有谁？"}, "en", "zh"))
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
	for _, p := range segment.Finer("When it rains in the town, we do not go out.", "en") {
		fmt.Printf("%t %q\n", p.Sentence, p.Text)
	}
	// Output:
	// true "When it rains in the town,"
	// false " "
	// true "we do not go out."
}
