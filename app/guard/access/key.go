package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// A key is a prefix and 56 letters of base32: 31 random bytes and their CRC-32, which together need no padding. The prefix lets
// scanners of source code detect a key that was published by mistake; the checksum distinguishes a truncated or mistyped key from
// a withdrawn one.
const (
	keyPrefix   = "dgm_"
	keyEntropy  = 31
	keyBytes    = keyEntropy + crc32.Size
	keyLength   = len(keyPrefix) + keyBytes*8/5
	digestStart = "sha256:"
)

// NewKey returns a new API key of 248 random bits. The result is the only copy of the key: the keys file has its digest, see
// [Line].
func NewKey() string {
	var raw [keyBytes]byte
	_, _ = rand.Read(raw[:keyEntropy]) // never fails, as its documentation says
	binary.BigEndian.PutUint32(raw[keyEntropy:], crc32.ChecksumIEEE(raw[:keyEntropy]))
	return keyPrefix + base32.StdEncoding.EncodeToString(raw[:])
}

// Line returns the line of the keys file for a caller with a key from NewKey. Options follow in the file: admin first, and limits
// such as rate=10/s, burst=20 and chars=100000/m. Line fails on a name, a key or an option that the file could not have.
func Line(name, key string, options ...string) (string, error) {
	if !wellFormed(key) {
		return "", errors.New("the key is not one that this program makes")
	}
	d := digestOf(key)
	fields := append([]string{name, digestStart + hex.EncodeToString(d[:])}, options...)
	for i, field := range fields {
		if field == "" || strings.ContainsAny(field, " \t\r\n#") || (i > 1 && field != adminWord && !strings.Contains(field, "=")) {
			return "", fmt.Errorf("%.40q: use a name, and limits such as rate=10/s", field)
		}
	}
	if _, err := parseAccount(fields, Limits{}); err != nil {
		return "", err
	}
	return strings.Join(fields, " "), nil
}

// wellFormed reports whether a string has the form of a key from NewKey. Other strings are never keys, whatever digests are in
// the file, so a fast hash is enough: a slow hash protects passwords, which can be guessed because people choose them. 248 random
// bits cannot be guessed, at any speed.
func wellFormed(key string) bool {
	if len(key) != keyLength || key[:len(keyPrefix)] != keyPrefix {
		return false
	}
	var raw [keyBytes]byte
	n, err := base32.StdEncoding.Decode(raw[:], []byte(key[len(keyPrefix):]))
	// The decoder skips line breaks, so there may be fewer bytes.
	return err == nil && n == keyBytes &&
		binary.BigEndian.Uint32(raw[keyEntropy:]) == crc32.ChecksumIEEE(raw[:keyEntropy])
}

// digest is the SHA-256 of a key. The service stores nothing else of a key.
type digest [sha256.Size]byte

func digestOf(key string) digest { return sha256.Sum256([]byte(key)) }

// parseDigest parses a digest of the keys file.
func parseDigest(s string) (digest, error) {
	var d digest
	hexed, ok := strings.CutPrefix(s, digestStart)
	if !ok || len(hexed) != hex.EncodedLen(len(d)) {
		return d, fmt.Errorf("a digest is %s and %d hexadecimal digits", digestStart, hex.EncodedLen(len(d)))
	}
	if _, err := hex.Decode(d[:], []byte(hexed)); err != nil {
		return d, fmt.Errorf("a digest has hexadecimal digits only: %w", err)
	}
	return d, nil
}
