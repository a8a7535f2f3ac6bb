package archive_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/archive"
	"dragoman/app/document/archive/archivetest"
)

type entry = archivetest.Entry

func open(file []byte) (*archive.Archive, error) {
	return archive.Open(context.Background(), bytes.NewReader(file), int64(len(file)))
}

// raw returns an archive of already packed entries.
func raw(t *testing.T, headers []*zip.FileHeader, content []string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i, h := range headers {
		if h.CompressedSize64 == 0 {
			h.CompressedSize64 = uint64(len(content[i]))
		}
		f, err := w.CreateRaw(h)
		require.NoError(t, err)
		_, err = io.WriteString(f, content[i])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestHostile(t *testing.T) {
	good := archivetest.Zip(t, entry{Name: "a.xml", Content: strings.Repeat("<a/>", 99)}, entry{Name: "b.bin", Content: "b"})
	named := func(name string) []byte { return archivetest.Zip(t, entry{Name: name}) }
	many := make([]entry, 10_001)
	for i := range many {
		many[i].Name = strconv.Itoa(i)
	}
	header := func(change func(h *zip.FileHeader)) []byte {
		h := &zip.FileHeader{Name: "a", UncompressedSize64: 1, CRC32: crc32.ChecksumIEEE([]byte("a"))}
		change(h)
		return raw(t, []*zip.FileHeader{h}, []string{"a"})
	}
	for _, c := range []struct {
		name   string
		file   []byte
		reason string
	}{
		{"nothing", nil, "the file is empty"},
		{"cut", good[:len(good)-30], "not complete"},
		{"cut in the middle", good[:len(good)/2], "not complete"},
		{"parent folder", named("../a"), "leads out of it"},
		{"parent folder further down", named("a/../../b"), "leads out of it"},
		{"parent folder of Windows", named(`a\..\b`), "leads out of it"},
		{"absolute", named("/etc/passwd"), "leads out of it"},
		{"drive", named(`C:\a`), "leads out of it"},
		{"no name", named(""), "leads out of it"},
		{"one name twice", archivetest.Zip(t, entry{Name: "a"}, entry{Name: "a"}), "two zip entries"},
		{"too many", archivetest.Zip(t, many...), "10001 zip entries"},
		{"encrypted", header(func(h *zip.FileHeader) { h.Flags |= 1 }), "without a password"},
		{"bomb", header(func(h *zip.FileHeader) { h.UncompressedSize64 = 900 << 20 }), "unpacks to too much"},
		{"huge", header(func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 62 }), "unpacks to too much"},
		{"ends behind the file", header(func(h *zip.FileHeader) { h.CompressedSize64 = 1 << 20 }), "ends behind it"},
		{"ends before it starts", header(func(h *zip.FileHeader) { h.CompressedSize64 = 1<<64 - 5 }), "ends behind it"},
		{"overlaps", overlapping(t), "overlap"},
		{"directory", largeDirectory(t), "directory is larger than 4 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := open(c.file)
			var refused *document.Error
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, refused.Reason, c.reason)
		})
	}
	_, err := open(good)
	assert.NoError(t, err)
}

// overlapping returns an archive whose second entry lies in the first one.
func overlapping(t *testing.T) []byte {
	inner := raw(t, []*zip.FileHeader{{Name: "b", UncompressedSize64: 1}}, []string{"b"})
	inner = inner[:30+1+1] // the second entry's local header, name and content
	file := raw(t, []*zip.FileHeader{{Name: "a", UncompressedSize64: uint64(len(inner))}, {Name: "b", UncompressedSize64: 1}},
		[]string{string(inner), "b"})
	at := bytes.LastIndex(file, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(file[at+42:], 31) // the first entry's content
	return file
}

// largeDirectory returns an archive with more names than allowed.
func largeDirectory(t *testing.T) []byte {
	var entries []entry
	for i := range 90 {
		entries = append(entries, entry{Name: strings.Repeat("n", 60_000) + strconv.Itoa(i)})
	}
	return archivetest.Zip(t, entries...)
}

// TestBrokenContents has archives with valid directories.
func TestBrokenContents(t *testing.T) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	stored := archivetest.Zip(t, entry{Name: "mimetype", Content: "some text"})
	wrong := bytes.Replace(stored, []byte("some text"), []byte("some tent"), 1)
	for _, c := range []struct {
		name string
		file []byte
	}{
		{"checksum", wrong},
		{"more than it says", raw(t, []*zip.FileHeader{{Name: "mimetype", Method: zip.Deflate, UncompressedSize64: 10}}, []string{packed.String()})},
		{"less than it says", raw(t, []*zip.FileHeader{{Name: "mimetype", Method: zip.Deflate, UncompressedSize64: 2 << 20}}, []string{packed.String()})},
		{"not deflated", raw(t, []*zip.FileHeader{{Name: "mimetype", Method: zip.Deflate, UncompressedSize64: 10}}, []string{"\xff\xff\xff"})},
		{"unknown method", raw(t, []*zip.FileHeader{{Name: "mimetype", Method: 99, UncompressedSize64: 10}}, []string{"aaaaaaaaaa"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := open(c.file)
			require.NoError(t, err)
			_, err = a.Small("mimetype")
			var refused *document.Error
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, refused.Reason, "mimetype cannot be unpacked")
			// The checksum of a part that is not read to its end is checked, too.
			err = a.Read("mimetype", func(io.Reader) error { return nil })
			assert.ErrorAs(t, err, &refused)
		})
	}
}

// Names are found without regard to case, the exact one first.
func TestNamed(t *testing.T) {
	a, err := open(archivetest.Zip(t, entry{Name: "xl/SharedStrings.xml"}, entry{Name: "a"}, entry{Name: "A"}))
	require.NoError(t, err)
	for name, want := range map[string]string{"xl/sharedstrings.xml": "xl/SharedStrings.xml", "a": "a", "A": "A", "none": "none"} {
		assert.Equal(t, want, a.Named(name))
	}
}

func TestSmall(t *testing.T) {
	a, err := open(archivetest.Zip(t, entry{Name: "large", Content: strings.Repeat("abcdefgh", 1<<19+1)}, entry{Name: "a", Content: "x"}))
	require.NoError(t, err)
	_, err = a.Small("large")
	assert.ErrorContains(t, err, "larger than 4 MiB")
	content, err := a.Small("a")
	assert.NoError(t, err)
	assert.Equal(t, "x", string(content))
	content, err = a.Small("b")
	assert.NoError(t, err)
	assert.Nil(t, content)
	assert.ErrorContains(t, a.Read("b", nil), "no b")
	assert.True(t, a.Has("a"))
	assert.Equal(t, []string{"large", "a"}, a.Names())
}

func TestRewrite(t *testing.T) {
	file := archivetest.Zip(t, entry{Name: "mimetype", Content: "m"}, entry{Name: "2", Content: "two"}, entry{Name: "x", Content: "kept"}, entry{Name: "1", Content: "one"})
	a, err := open(file)
	require.NoError(t, err)
	var read []string
	rewrite := func(_ string, out io.Writer, in io.Reader) error {
		content, err := io.ReadAll(in)
		read = append(read, string(content))
		_, _ = out.Write(bytes.ToUpper(content))
		return err
	}
	var out bytes.Buffer
	require.NoError(t, a.Rewrite(&out, []string{"1", "2"}, rewrite))
	assert.Equal(t, []entry{{Name: "mimetype", Content: "m"}, {Name: "1", Content: "ONE"}, {Name: "x", Content: "kept"}, {Name: "2", Content: "TWO"}}, archivetest.Entries(t, out.Bytes()))
	require.NoError(t, a.Rewrite(nil, []string{"1", "2"}, rewrite))
	assert.Equal(t, []string{"one", "two", "one", "two"}, read)
	assert.True(t, bytes.HasPrefix(out.Bytes()[30:], []byte("mimetypem")), "first and stored")
}

// TestAnnouncedSize checks that parts with too large unpacked sizes are refused before they are read.
func TestAnnouncedSize(t *testing.T) {
	a, err := open(raw(t, []*zip.FileHeader{{Name: "a", UncompressedSize64: 257 << 20, CompressedSize64: 1 << 20}}, []string{strings.Repeat("a", 1<<20)}))
	require.NoError(t, err)
	assert.ErrorContains(t, a.Read("a", func(io.Reader) error { return errors.New("read") }), "may unpack to 256 MiB: divide the document")
}

// Some programs pack a folder, which has no contents, to the two bytes of an empty deflate stream.
func TestPackedFolder(t *testing.T) {
	file := raw(t, []*zip.FileHeader{{Name: "META-INF", Method: zip.Deflate}}, []string{"\x03\x00"})
	a, err := open(bytes.ReplaceAll(file, []byte("META-INF"), []byte("META-IN/")))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, a.Rewrite(&out, nil, nil))
	assert.Equal(t, []entry{{Name: "META-IN/"}}, archivetest.Entries(t, out.Bytes()))
}
