"""Does what spm_encode and spm_decode do, with the Python package sentencepiece, which is
newer than Debian's programs. scripts/tokenizer_diff.sh calls it where PYTHON is set.

    python3 spm_reference.py MODEL encode < text   > pieces
    python3 spm_reference.py MODEL decode < pieces > text
"""
import sys

import sentencepiece


def main():
    model, command = sys.argv[1:]
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    for line in sys.stdin.buffer:
        line = line.removesuffix(b"\n")
        if command == "encode":
            out = " ".join(processor.encode(line, out_type=str)) if line else ""
        else:
            out = processor.decode(line.decode().split(" ")) if line else ""
        sys.stdout.buffer.write(out.encode() + b"\n")


if __name__ == "__main__":
    main()
