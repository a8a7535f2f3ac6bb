package language

// enoughWeight is the weight of foreign letters from which on a text can be told to
// be in the wrong script: 12 letters of plain words, 5 of a dense script, 36 of
// words with capitals.
const enoughWeight = 12 * plainWeight

// WrongScript says whether a text cannot be in a language because it is written in
// another script: a translation into Japanese without any Japanese letter. It says
// so only where it is sure, since a short text may be right in any language (OK,
// NATO, Linux 6.1, New York Times, https://example.com) and a long one may have
// foreign words in it.
//
// Letters of the language's own scripts are weighed against those of others. Links,
// paths and identifiers do not count; a foreign word with a capital letter, which
// may be a name, counts for a third; a letter of a dense script (Han, kana, Hangul)
// for almost three. The script is wrong where the foreign letters are enough to
// tell and the own ones weigh less than a ninth of them.
//
// It is false for codes of no family. Japanese has Han among its scripts,
// so a Chinese text passes for Japanese. Only the first kilobytes are read.
func WrongScript(text, code string) bool {
	scripts := entries[code].scripts
	if scripts == 0 {
		return false
	}
	own, foreign := 0, 0
	for w := range words(prose(sample(text))) {
		if w.script&scripts != 0 {
			own += w.full()
		} else {
			foreign += w.weight()
		}
	}
	return foreign >= enoughWeight && own*9 < foreign
}
