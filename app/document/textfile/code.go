package textfile

import "dragoman/app/markup"

// isCode says whether a value has no language in it: all of it is placeholders, addresses, paths and
// names of programs. Such values are in files of data and messages.
func isCode(text string) bool { return !hasLanguage(markup.Parse(text, markup.Text)) }
