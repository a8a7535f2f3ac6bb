package language

import (
	"unicode"
)

// Foreign returns the runs of letters in a text, from byte to byte, that are of no script which
// texts in a language are written in: neither its own nor Latin. It is nil where such
// letters outweigh the others, for the text is in another language then, and for codes of no family.
func Foreign(text, code string) (runs [][2]int) {
	scripts := entries[code].scripts
	if scripts == 0 {
		return nil
	}
	own, foreign, open := 0, 0, false
	for i, r := range text {
		switch s := scriptOf(r); {
		case s == 0:
			open = open && (unicode.IsLetter(r) || unicode.IsMark(r))
		case s&(scripts|latin) != 0:
			own += plainWeight
			open = false
		default:
			foreign += word{script: s, letters: 1}.full()
			if !open {
				runs = append(runs, [2]int{i, i})
			}
			open = true
		}
		if open {
			runs[len(runs)-1][1] = i + len(string(r))
		}
	}
	if foreign > own {
		return nil
	}
	return runs
}
