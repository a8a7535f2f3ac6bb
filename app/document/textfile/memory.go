package textfile

import "strings"

// The memory for reading a text depends on its content: a parser allocates a node for each line, item or element. The figures are
// peak heap sizes, with garbage, of documents that consist of these only.

// each returns the memory of a kind that takes a number of bytes for each of the given ASCII characters.
func each(bytes int64, marks string) func(text string) int64 {
	return func(text string) int64 {
		n := 0
		for _, mark := range marks {
			n += strings.Count(text, string(mark))
		}
		return bytes * int64(n)
	}
}

// mostMarked limits the memory for the marks of one text, whose number package tagged limits.
const mostMarked = 150 << 20

// marked returns the memory of a kind that takes lineBytes for each line and markBytes for each mark of its texts, which are read
// one by one.
func marked(lineBytes int64, ends string, markBytes int64, marks string) func(text string) int64 {
	return func(text string) int64 {
		return each(lineBytes, ends)(text) + min(each(markBytes, marks)(text), mostMarked)
	}
}

const (
	blockBytes = 700 // per line of a paragraph, and per block that a line starts
	cellBytes  = 200 // per table cell
)

// markdownMemory returns the memory for the blocks of a text. In each line up to an empty one, a table has as many cells as its
// head has columns, whatever their content.
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
