package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // the format's
	"crypto/rc4" //nolint:gosec // the format's
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"
)

// key decrypts a document that needs no password for reading (ISO 32000-2, 7.6).
type key struct {
	file           []byte
	version        int
	texts, streams string // "RC4", "AES" or "" for data that is not encrypted
	hasMetadata    bool   // metadata are encrypted, too
}

// padding is added to a password.
const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// newKey returns the key of the empty password. It fails with errPassword if the document has another one.
func newKey(o *objects, d dict) (*key, error) {
	k := &key{version: int(o.number(d.get("V"))), texts: "RC4", streams: "RC4", hasMetadata: string(d.get("EncryptMetadata")) != "false"}
	revision, bits := int(o.number(d.get("R"))), int(o.number(d.get("Length")))
	if string(d.get("Filter")) != "/Standard" || k.version < 1 || k.version > 5 || k.version == 3 {
		return nil, errPassword
	}
	if k.version >= 4 {
		k.texts, k.streams = o.method(d, "StrF"), o.method(d, "StmF")
	}
	if k.version == 1 || bits == 0 {
		bits = 40
	}
	if k.version >= 4 {
		bits = 128
	}
	owner, user := decoded(d.get("O")), decoded(d.get("U"))
	if bits > 128 || len(owner) < 32 || len(user) < 32 {
		return nil, errPassword
	}
	if revision >= 5 {
		encrypted := decoded(d.get("UE"))
		if len(user) < 48 || len(encrypted) < 32 || !bytes.Equal(hashed(revision, user[32:40]), user[:32]) {
			return nil, errPassword
		}
		k.file = make([]byte, 32)
		block, _ := aes.NewCipher(hashed(revision, user[40:48]))
		cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(k.file, encrypted[:32])
		return k, nil
	}
	var id []byte
	if list := o.list(o.trailer.get("ID")); len(list) > 0 {
		id = decoded(list[0])
	}
	h := md5.New()
	h.Write([]byte(padding))
	h.Write(owner[:32])
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(int64(o.number(d.get("P"))))))
	h.Write(id)
	if revision >= 4 && !k.hasMetadata {
		h.Write([]byte{0xff, 0xff, 0xff, 0xff})
	}
	k.file = h.Sum(nil)
	if revision >= 3 {
		for range 50 {
			sum := md5.Sum(k.file[:bits/8])
			k.file = sum[:]
		}
	}
	k.file = k.file[:bits/8]
	check := []byte(padding)
	if revision >= 3 {
		sum := md5.Sum(append([]byte(padding), id...))
		check = sum[:]
		for i := range 20 {
			part := bytes.Clone(k.file)
			for j := range part {
				part[j] ^= byte(i)
			}
			rc4Of(part, check)
		}
	} else {
		rc4Of(k.file, check)
	}
	if !bytes.Equal(check, user[:len(check)]) {
		return nil, errPassword
	}
	return k, nil
}

// method returns how a crypt filter encrypts.
func (o *objects) method(d dict, key string) string {
	name := string(bytes.TrimPrefix(d.get(key), []byte("/")))
	switch string(o.dict(o.dict(d.get("CF")).get(name)).get("CFM")) {
	case "/V2":
		return "RC4"
	case "/AESV2", "/AESV3":
		return "AES"
	}
	return ""
}

// hashed returns the hash of the empty password with a salt, by revision 5 or 6.
func hashed(revision int, salt []byte) []byte {
	sum := sha256.Sum256(salt)
	k := sum[:]
	if revision == 5 {
		return k
	}
	for i := 0; ; i++ {
		e := bytes.Repeat(k, 64)
		block, _ := aes.NewCipher(k[:16])
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		remainder := 0
		for _, c := range e[:16] {
			remainder += int(c)
		}
		h := []hash.Hash{sha256.New(), sha512.New384(), sha512.New()}[remainder%3]
		h.Write(e)
		if k = h.Sum(nil); i >= 63 && int(e[len(e)-1]) <= i-32 {
			return k[:32]
		}
	}
}

// decrypt returns the data of an object, decrypted.
func (k *key) decrypt(n, generation int, data []byte, isText bool) []byte {
	method := k.streams
	if isText {
		method = k.texts
	}
	if method == "" {
		return data
	}
	of := k.file
	if k.version < 5 {
		h := md5.New()
		h.Write(k.file)
		h.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(generation), byte(generation >> 8)})
		if method == "AES" {
			h.Write([]byte("sAlT"))
		}
		of = h.Sum(nil)[:min(len(k.file)+5, 16)]
	}
	if method == "RC4" {
		data = bytes.Clone(data)
		rc4Of(of, data)
		return data
	}
	block, err := aes.NewCipher(of)
	if err != nil || len(data) < 2*aes.BlockSize {
		return nil
	}
	out := bytes.Clone(data[aes.BlockSize : len(data)-len(data)%aes.BlockSize])
	cipher.NewCBCDecrypter(block, data[:aes.BlockSize]).CryptBlocks(out, out)
	if pad := int(out[len(out)-1]); pad <= len(out) && pad <= aes.BlockSize {
		out = out[:len(out)-pad]
	}
	return out
}

// rc4Of encrypts or decrypts data in place.
func rc4Of(of, data []byte) {
	if c, err := rc4.NewCipher(of); err == nil {
		c.XORKeyStream(data, data)
	}
}

// strings returns a value with its strings decrypted.
func (k *key) strings(n, generation int, value []byte) []byte {
	var out []byte
	l := lexer{data: value}
	for l.space(); l.at < len(value); l.space() {
		token := l.token()
		if text := decoded(token); text != nil || string(token) == "()" {
			token = fmt.Appendf(nil, "<%X>", k.decrypt(n, generation, text, true))
		}
		out = append(append(out, token...), ' ')
	}
	return out
}
