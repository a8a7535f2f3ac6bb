// Command spmtool does what spm_encode and spm_decode do, line by line from
// standard input to standard output, with package spm. scripts/tokenizer_diff.sh
// compares the two.
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
	model, err := spm.Open(*path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 1<<20)
	switch flags.Arg(0) {
	case "encode":
		err = encode(model, in, w)
	case "decode":
		err = eachLine(in, func(line string) error {
			_, err := w.WriteString(model.Decode(strings.Split(line, " ")) + "\n")
			return err
		})
	default:
		err = fmt.Errorf("unknown command %q: use encode or decode", flags.Arg(0))
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

// encode writes the pieces of each line with spaces between them.
func encode(model *spm.Model, in io.Reader, w *bufio.Writer) error {
	var normalized []byte
	var tokens []spm.Token
	return eachLine(in, func(line string) error {
		normalized = model.AppendNormalized(normalized[:0], line)
		tokens = model.AppendTokens(tokens[:0], normalized)
		for i, t := range tokens {
			if i > 0 {
				w.WriteByte(' ') // errors stay with w until the next call
			}
			w.Write(normalized[t.Start:t.End])
		}
		return w.WriteByte('\n')
	})
}

// eachLine calls visit for each line without its "\n", as std::getline splits
// them: "\r" and NUL stay, and a last line may lack its "\n".
func eachLine(in io.Reader, visit func(line string) error) error {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if line == "" {
			return nil
		}
		if err := visit(strings.TrimSuffix(line, "\n")); err != nil {
			return err
		}
	}
}
