package textfile

import "strings"

// What reading a text takes depends on what is in it: a parser makes a node for each line, item or element. The
// figures are peaks of the heap, garbage included, of documents that are nothing but these.

// each returns the memory of a kind that takes so many bytes for each of some ASCII characters.
func each(bytes int64, marks string) func(text string) int64 {
	return func(text string) int64 {
		n := 0
		for _, mark := range marks {
			n += strings.Count(text, string(mark))
		}
		return bytes * int64(n)
	}
}

// mostMarked is what the marks of one text may take, of which there are no more than package tagged allows.
const mostMarked = 150 << 20

// marked returns the memory of a kind that takes so many bytes for each line, and for each mark of the texts in it, which
// are read one by one.
func marked(lineBytes int64, ends string, markBytes int64, marks string) func(text string) int64 {
	return func(text string) int64 {
		return each(lineBytes, ends)(text) + min(each(markBytes, marks)(text), mostMarked)
	}
}

const (
	blockBytes = 700 // of a line of a paragraph, and of each block that a line starts
	cellBytes  = 200 // of a table
)

// markdownMemory is the memory of a text's blocks. A table has as many cells as its head has columns in each line
// up to an empty one, whatever is in them.
func markdownMemory(text string) int64 {
	var blocks, cells, columns int64
	for line := range strings.Lines(text) {
		content := strings.TrimLeft(line, " \t>*+-0123456789.)#:")
		for _, c := range line[:len(line)-len(content)] {
			if strings.ContainsRune(">*+-.)#:", c) {
				blocks++
			}
		}
		blocks++
		cells += columns
		switch {
		case strings.TrimLeft(line, " \t>\r\n") == "":
			columns = 0
		case strings.Trim(line, " \t\r\n>|:-*+.)0123456789") == "":
			columns = max(columns, int64(strings.Count(line, "|")+1))
		}
	}
	return blockBytes*blocks + cellBytes*cells
}
