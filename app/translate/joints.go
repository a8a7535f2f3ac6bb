package translate

import (
	"strings"
	"unicode/utf8"

	"dragoman/app/text/char"
	"dragoman/model/search"
)

// Pieces are the tokens of a vocabulary as text.
type Pieces interface {
	// Size is the number of ids.
	Size() int
	// Piece returns the text of a token, with "▁" for a space; ok is false if it has none.
	Piece(id int64) (piece string, ok bool)
}

// Joints returns how the tokens of a vocabulary begin and end.
func Joints(pieces Pieces) search.Joints {
	joints := make(search.Joints, pieces.Size())
	for id := range joints {
		piece, ok := pieces.Piece(int64(id))
		if !ok {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(piece); char.IsWord(r) {
			joints[id] |= search.GoesOn
		}
		switch r, _ := utf8.DecodeLastRuneInString(piece); {
		case char.IsWord(r):
			joints[id] |= search.Open
		case strings.ContainsRune(".!?。！？．…", r):
			joints[id] |= search.Stop
		}
	}
	return joints
}
