package markup

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestDbg(t *testing.T) {
	for _, line := range strings.Split(os.Getenv("DBG"), "||") {
		f, text, _ := strings.Cut(line, ":")
		var list []HTMLPiece
		if f == "html" {
			list, _ = SplitHTML(t.Context(), text)
		} else if f == "xml" {
			list, _ = SplitXML(t.Context(), text)
		} else {
			s, _ := Parse(t.Context(), text, Text)
			s, _ = s.In(t.Context(), f)
			for i, sp := range s.Spans {
				fmt.Printf("   %d %q kind %d pair %d\n", i, s.spanText(i), sp.Kind, sp.Pair)
			}
			continue
		}
		for _, p := range list {
			fmt.Printf("PIECE unit=%v %q\n", p.Unit, p.Raw)
			if p.Unit {
				s, err := p.Parse(t.Context())
				if err != nil {
					fmt.Println(err)
				}
				for i, sp := range s.Spans {
					fmt.Printf("   parse %d %q kind %d pair %d\n", i, s.spanText(i), sp.Kind, sp.Pair)
				}
				s, _ = s.Whole(t.Context())
				s, _ = s.In(t.Context(), "en")
				for i, sp := range s.Spans {
					fmt.Printf("   %d %q kind %d pair %d\n", i, s.spanText(i), sp.Kind, sp.Pair)
				}
			}
		}
	}
}
