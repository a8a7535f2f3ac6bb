// Command spmtool does the same as spm_encode and spm_decode, line by line from standard input to standard output, with package
// spm. scripts/tokenizer_diff.sh compares the two.
//
//	spmtool -model sentencepiece.bpe.model encode < text   > pieces
//	spmtool -model sentencepiece.bpe.model decode < pieces > text
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"dragoman/tokenizer/spm"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "spmtool:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("spmtool", flag.ContinueOnError)
	path := flags.String("model", "", "SentencePiece model `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	file, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	model, err := spm.Parse(file)
	if err != nil {
		return fmt.Errorf("%s: %w", *path, err)
	}
	var do func(line string) string
	switch flags.Arg(0) {
	case "encode":
		do = func(line string) string { return strings.Join(model.Encode(line), " ") }
	case "decode":
		do = func(line string) string { return model.Decode(strings.Split(line, " ")) }
	default:
		return fmt.Errorf("unknown command %q: use encode or decode", flags.Arg(0))
	}
	return eachLine(in, out, do)
}

// eachLine writes the result of do for each line without its "\n". Lines are split like std::getline: "\r" and NUL stay, and a
// last line may lack its "\n".
func eachLine(in io.Reader, out io.Writer, do func(line string) string) error {
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if line == "" {
			return w.Flush()
		}
		if _, err := w.WriteString(do(strings.TrimSuffix(line, "\n")) + "\n"); err != nil {
			return err
		}
	}
}
