// Package spm reads SentencePiece models, BPE and unigram, and splits text into their pieces exactly like SentencePiece's own
// spm_encode and spm_decode, in pure Go.
//
// # From text to pieces
//
//  1. Normalize. The model file carries a table of rewriting rules (for
//     nmt_nfkc: full-width to ASCII, ligatures to letters, control characters
//     to nothing or a space, and so on), stored as a double-array trie. At each
//     position the longest rule that matches is applied; without one the
//     character stays, and a byte that is not UTF-8 becomes U+FFFD. Runs of
//     spaces become one, spaces at both ends go, one space is put in front, and
//     every space becomes "▁" (U+2581). User-defined pieces stay as they are. See
//     normalizer.go and charsmap.go.
//  2. Split. BPE: the text starts as one symbol per character. As long as two
//     neighbours together spell a piece, the pair whose piece has the best
//     score becomes that piece, the leftmost one where scores are equal. See
//     merges.go for the tables and bpe.go for the loop. Unigram: of all ways to
//     spell the text, the one whose scores have the highest sum is taken. See
//     unigram.go, and trie.go for how pieces are found.
//  3. Name. A symbol that ends as a piece gets its id. Characters that are in no
//     piece are unknown, and a run of them is one [Token]; with byte fallback
//     each of their bytes is a piece.
//
// # Supported models
//
// BPE and unigram models with any normalization rules and whitespace flags, with or without byte fallback, are supported; unigram
// also with user-defined and unused pieces. Word and character models, user-defined and unused pieces of BPE models, and
// denormalization rules are refused with an error. Where versions of SentencePiece differ (scores of user-defined pieces, texts
// of tens of thousands of characters), the package follows 0.2.3.
//
// A [Listed] model has the same pieces, but lists its merges: Hugging Face's library tokenizers converts SentencePiece models to
// such models.
//
// Text is never converted to a control piece such as "</s>": callers add those ids. A [Model] is immutable and safe for
// concurrent use. No model file, however damaged, makes this package panic. Files, pieces and replacements are limited in size:
// even a file made to be costly loads in seconds and below 1 GB.
package spm
