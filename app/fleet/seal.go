package fleet

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
)

// Unsigned is the secret of members that sign nothing, and believe what is not signed.
const Unsigned = "none"

// seals are the secrets of a fleet: the first signs what a member writes, and what is signed with any
// of them is believed. None at all is [Unsigned].
//
// A signature is a MAC (HMAC-SHA256, 128 bits of it) of a message and its place: the key that it lies
// under, and in a hash the field. So what is signed for one place is not believed in another one, and
// a result, which names its sentence, not by another gateway.
type seals [][]byte // a nil one is Unsigned

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

// mark is what a signature follows. No message begins with it, neither in CBOR nor in JSON.
const mark = "hmac:"

// macBytes are kept of a MAC, and macLetters are they in base64.
const (
	macBytes   = 16
	macLetters = (macBytes*8 + 5) / 6
)

var errForged = errors.New("a message has no valid signature")

// seal is a message as Redis has it.
func (s seals) seal(place string, message []byte) string {
	if s[0] == nil {
		return string(message)
	}
	return mark + string(mac(s[0], place, message)) + string(message)
}

// open is the message in what Redis has.
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
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(place)))) // where the place ends is not in doubt
	h.Write([]byte(place))
	h.Write(message)
	return base64.RawURLEncoding.AppendEncode(nil, h.Sum(nil)[:macBytes])
}

// open is [seals.open]. What has no valid signature is counted.
func (b *Broker) open(place, sealed string) ([]byte, error) {
	message, err := b.seals.open(place, sealed)
	if err != nil {
		b.forged.Inc()
		b.outages.believing.Note(err, "key", place)
	}
	return message, err
}

// read opens and decodes the message in an entry of a stream, which has the values. The error is errForged, or
// wraps errFormat.
func read[T any](b *Broker, stream string, values map[string]any) (v T, err error) {
	if sealed, ok := values[format].(string); ok {
		message, err := b.open(stream, sealed)
		if values[format] = string(message); err != nil {
			return v, err
		}
	}
	return decode[T](values)
}

// inHash is the place of a hash's field.
func inHash(key, field string) string { return key + " " + field }
