package main

import (
	"maps"
	"strings"
)

// serbianLatin has the Latin letters of Serbian, which is written in both scripts,
// behind the Cyrillic ones. Three letters are missing that become two each: lj, nj
// and dž.
const serbianLatin = "аaбbвvгgдdђđеeжžзzиiјjкkлlмmнnоoпpрrсsтtћćуuфfхhцcчčшš"

// addSerbianLatin adds to a model in Cyrillic what its sequences are in Latin, but
// for those with a letter that becomes two.
func addSerbianLatin(m *model) {
	latin := map[rune]rune{}
	letters := []rune(serbianLatin)
	for i := 0; i < len(letters); i += 2 {
		latin[letters[i]] = letters[i+1]
	}
	for _, sequences := range m {
		added := map[string]float64{}
		for sequence, probability := range sequences {
			written := strings.Map(func(r rune) rune {
				if l, ok := latin[r]; ok {
					return l
				}
				return -1
			}, sequence)
			if len([]rune(written)) == len([]rune(sequence)) {
				added[written] = probability
			}
		}
		maps.Copy(sequences, added)
	}
}
