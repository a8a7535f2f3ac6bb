package fleet

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
)

// Unsigned is the secret of members that sign nothing, and accept messages without a signature.
const Unsigned = "none"

// seals are the secrets of a fleet: the first signs, and all verify. nil seals are those of [Unsigned].
//
// A signature is a MAC (HMAC-SHA256, 128 bits of it) of a message and its place: the key, and in a hash the field. So a message
// is not valid in another place, and a result, which names its sentence, not for another gateway.
type seals [][]byte

func newSeals(secrets []string) seals {
	if len(secrets) == 0 {
		secrets = []string{Unsigned}
	}
	s := make(seals, len(secrets))
	for i, secret := range secrets {
		if secret != Unsigned {
			s[i] = []byte(secret)
		}
	}
	return s
}

// mark stands before a signature. No message begins with it, in CBOR or in JSON.
const mark = "hmac:"

// macBytes is the part of a MAC that is used, and macLetters its length in base64.
const (
	macBytes   = 16
	macLetters = (macBytes*8 + 5) / 6
)

var errForged = errors.New("a message has no valid signature")

// seal returns a message with its signature.
func (s seals) seal(place string, message []byte) string {
	if s[0] == nil {
		return string(message)
	}
	return mark + string(mac(s[0], place, message)) + string(message)
}

// open verifies the signature of a message, and removes it.
func (s seals) open(place, sealed string) ([]byte, error) {
	rest, signed := strings.CutPrefix(sealed, mark)
	at := min(len(rest), macLetters)
	for _, key := range s {
		switch {
		case key == nil && !signed:
			return []byte(sealed), nil
		case key != nil && signed && hmac.Equal(mac(key, place, []byte(rest[at:])), []byte(rest[:at])):
			return []byte(rest[at:]), nil
		}
	}
	return nil, errForged
}

func mac(key []byte, place string, message []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(place)))) // the length marks the end of the place
	h.Write([]byte(place))
	h.Write(message)
	return base64.RawURLEncoding.AppendEncode(nil, h.Sum(nil)[:macBytes])
}

// inHash returns the place of a field of a hash.
func inHash(key, field string) string { return key + " " + field }

// open is [seals.open]. It counts and logs messages without a valid signature.
func (b *Broker) open(place, sealed string) ([]byte, error) {
	message, err := b.seals.open(place, sealed)
	if err != nil {
		b.forged.Inc()
		b.outages.believing.Note(err, "key", place)
	}
	return message, err
}

// read verifies and decodes the message of an entry, and leaves the message without its signature in values. The error is
// errForged, or wraps errFormat.
func read[T any](b *Broker, stream string, values map[string]any) (v T, err error) {
	if sealed, ok := values[format].(string); ok {
		message, err := b.open(stream, sealed)
		if values[format] = string(message); err != nil {
			return v, err
		}
	}
	return decode[T](values)
}
