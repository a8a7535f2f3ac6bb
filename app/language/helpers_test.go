package language

// Codes returns the codes of M2M100's languages, in the order of the alphabet.
func Codes() []string {
	codes := make([]string, len(table))
	for i, entry := range table {
		codes[i] = entry.code
	}
	return codes
}

// Scripts returns the writing systems of a language by their names in Unicode, as
// [unicode.Scripts] has them: those that running text is written in today. Most
// languages have one; Serbian has two, Japanese three. Codes that are not M2M100's
// have none.
func Scripts(code string) []string {
	var names []string
	for i, s := range scriptTables {
		if entries[code].scripts&(1<<i) != 0 {
			names = append(names, s.name)
		}
	}
	return names
}
