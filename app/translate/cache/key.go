package cache

import (
	"crypto/sha256"
	"encoding/binary"
)

// Key has everything that determines a translation. Keys are equal if all fields are, byte for byte: texts are not normalized,
// because the tokenizer decides which differences matter.
type Key struct {
	// Model identifies weights, precision and tokenizer, for example by the checksum of the model's manifest.
	Model    string
	From, To string // codes of languages
	// Options are the settings of the search, in any unique form.
	Options string
	Text    string
	// Spans are the spans of the text that must be preserved, in any unique form.
	Spans string
	// Told is what a model is told beside the text, in any unique form.
	Told string
}

// digest identifies a key in the cache. Texts may be long and come from untrusted clients, and an equal digest would return the
// translation of another text. Therefore the digest is a cryptographic hash: texts cannot be made to collide, by chance or on
// purpose, and an entry costs 32 bytes however long its key is. The hash takes 0.3 µs per look-up, a translation some 100 ms.
type digest [sha256.Size]byte

func (k Key) digest() digest {
	var room [1024]byte // most keys fit, so that nothing is allocated
	return sha256.Sum256(k.encode(room[:0]))
}

// encode appends the fields to dst, each after its length: different keys have different encodings, whatever their bytes.
func (k Key) encode(dst []byte) []byte {
	for _, field := range [...]string{k.Model, k.From, k.To, k.Options, k.Text, k.Spans, k.Told} {
		dst = binary.AppendUvarint(dst, uint64(len(field)))
		dst = append(dst, field...)
	}
	return dst
}
