package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/nlpodyssey/gopickle/types"

	"dragoman/model"
)

// Before 1.6, and with _use_new_zipfile_serialization=False, torch.save writes consecutive pickles: a magic number, the version of the
// format, system information, the state dict, and the keys of its storages. The storages follow in the order of the keys: the number of
// elements, in 8 bytes, and the elements.

// legacyMagic is the magic number as its pickle has it, after the bytes of the protocol.
const legacyMagic = "\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."

// legacyHead is the maximum size of the magic number's pickle in bytes.
const legacyHead = 32

// legacyVersion is the only version of the format.
const legacyVersion = 1001

// isLegacy reports whether a file is in the old format.
func isLegacy(r io.ReaderAt) bool {
	head := make([]byte, legacyHead)
	n, _ := r.ReadAt(head, 0)
	return bytes.HasPrefix(head, []byte{0x80}) && bytes.Contains(head[:n], []byte(legacyMagic))
}

// parseLegacy reads the state dict of a file in the old format.
func parseLegacy(r io.ReaderAt, size int64) (map[string]view, locator, error) {
	head := make([]byte, min(size, maxPickleSize))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), head); err != nil {
		return nil, nil, model.NoEOF(err)
	}
	_, rest, _ := bytes.Cut(head, []byte(legacyMagic))
	rest, err := checkLegacy(rest)
	if err != nil {
		return nil, nil, err
	}
	views, rest, err := unpickleStateDict(rest)
	if err != nil {
		return nil, nil, fmt.Errorf("state dict: %w", err)
	}
	root, rest, err := unpickle(rest)
	if err != nil {
		return nil, nil, fmt.Errorf("keys of storages: %w", err)
	}
	keys, ok := root.(*types.List)
	if !ok {
		return nil, nil, errors.New("keys of storages are not a list")
	}
	places, err := legacyStorages(r, size, int64(len(head)-len(rest)), *keys, views)
	if err != nil {
		return nil, nil, err
	}
	return views, func(s storage) (int64, error) {
		offset, ok := places[s.key]
		if !ok {
			return 0, fmt.Errorf("storage %.100q is not in the file", s.key)
		}
		return offset, nil
	}, nil
}

// checkLegacy reads the two pickles between the magic number and the state dict.
func checkLegacy(data []byte) (rest []byte, err error) {
	version, data, err := unpickle(data)
	if err != nil {
		return nil, fmt.Errorf("version: %w", err)
	}
	if n, _ := version.(int); n != legacyVersion {
		return nil, fmt.Errorf("version %d of torch's old format, only %d is supported", n, legacyVersion)
	}
	machine, data, err := unpickle(data)
	if err != nil {
		return nil, fmt.Errorf("system information: %w", err)
	}
	info, ok := machine.(*types.Dict)
	if !ok {
		return nil, errors.New("system information is not a dict")
	}
	if little, _ := info.Get("little_endian"); little != true {
		return nil, errors.New("system information does not say little_endian: only files of such machines are supported")
	}
	return data, nil
}

// legacyStorages returns the places of the storages with these keys, which begin at byte at of the file. The views of a storage
// tell its length.
func legacyStorages(r io.ReaderAt, size, at int64, keys types.List, views map[string]view) (map[string]int64, error) {
	storages := make(map[string]storage)
	for name, v := range views {
		if other, ok := storages[v.storage.key]; ok && other != v.storage {
			return nil, fmt.Errorf("tensor %.100q has a storage of %d %s, which is one of %d %s elsewhere",
				name, v.storage.elements, v.storage.dtype, other.elements, other.dtype)
		}
		storages[v.storage.key] = v.storage
	}
	places := make(map[string]int64, len(storages))
	for _, k := range keys {
		key, _ := k.(string)
		s, ok := storages[key]
		if _, taken := places[key]; !ok || taken {
			return nil, fmt.Errorf("key %.100q is that of no tensor's storage, or there twice", key)
		}
		var count [8]byte
		if n, err := r.ReadAt(count[:], at); n < len(count) {
			return nil, fmt.Errorf("storage %.100q at byte %d: %w", key, at, model.NoEOF(err))
		}
		if n := binary.LittleEndian.Uint64(count[:]); n != uint64(s.elements) {
			return nil, fmt.Errorf("storage %.100q has %d elements, its tensors say %d", key, n, s.elements)
		}
		at += int64(len(count))
		if s.bytes() > size-at {
			return nil, fmt.Errorf("storage %.100q of %d bytes at byte %d lies beyond the file's %d bytes: it is truncated",
				key, s.bytes(), at, size)
		}
		places[key] = at
		at += s.bytes()
	}
	return places, nil
}
