package moses

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// dataFile has a list in each line: its type, its name, and its elements. testdata/make.py generates it.
//
//go:embed data.txt
var dataFile string

// data holds the lists: classes of characters by name, and words by language.
type data struct {
	classes      map[string]*unicode.RangeTable
	words, ahead map[string]map[string]bool
}

// lists parses the data once.
var lists = sync.OnceValue(func() data {
	d := data{map[string]*unicode.RangeTable{}, map[string]map[string]bool{}, map[string]map[string]bool{}}
	for line := range strings.Lines(dataFile) {
		switch fields := strings.Fields(line); fields[0] {
		case "class":
			d.classes[fields[1]] = table(fields[2:])
		case "words":
			d.words[fields[1]] = set(fields[2:])
		case "ahead":
			d.ahead[fields[1]] = set(fields[2:])
		}
	}
	return d
})

// table returns the characters of ranges such as 41-5a.
func table(ranges []string) *unicode.RangeTable {
	t := new(unicode.RangeTable)
	for _, text := range ranges {
		first, last, ok := strings.Cut(text, "-")
		if !ok {
			last = first
		}
		lo, _ := strconv.ParseUint(first, 16, 32) // no error, because the tests parse all ranges
		hi, _ := strconv.ParseUint(last, 16, 32)
		if hi > 0xffff {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(lo), Hi: uint32(hi), Stride: 1})
			continue
		}
		if t.R16 = append(t.R16, unicode.Range16{Lo: uint16(lo), Hi: uint16(hi), Stride: 1}); hi <= unicode.MaxLatin1 {
			t.LatinOffset++
		}
	}
	return t
}

func set(words []string) map[string]bool {
	s := make(map[string]bool, len(words))
	for _, word := range words {
		s[word] = true
	}
	return s
}
