package pdf

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/guard/admission"
)

// packed encodes a text for a stream with filters. The last filter is applied first.
func packed(t *testing.T, filters, text string) string {
	data := []byte(text)
	list := strings.Fields(filters)
	for i := range list {
		var out bytes.Buffer
		var w io.WriteCloser
		switch filter := list[len(list)-1-i]; filter {
		case "/FlateDecode":
			w = zlib.NewWriter(&out)
		case "/LZWDecode":
			w = lzw.NewWriter(&out, lzw.MSB, 8)
		case "/ASCIIHexDecode":
			data = []byte(hex.EncodeToString(data) + ">")
			continue
		default:
			require.Fail(t, filter)
		}
		_, err := w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		data = out.Bytes()
	}
	return string(data)
}

// with returns a document with a page of text and another object, the stream number 90.
func with(content, resources, more, filters, data string) []byte {
	d := made(1, 0, at(100, 700, "(Good morning.)")+content)
	d = bytes.Replace(d, []byte("<</F 3 0 R>>"), []byte("<</F 3 0 R>>"+resources), 1)
	object := fmt.Sprintf("90 0 obj<<%s/Filter[%s]/Length %d>>stream\n%s\nendstream endobj\ntrailer", more, filters, len(data), data)
	return bytes.Replace(d, []byte("trailer"), []byte(object), 1)
}

// A document never takes more memory than allowed, whatever it unpacks to, and frees all of it. A larger document is too large,
// neither damaged nor read in part. Unused objects are not unpacked.
func TestUnpackedMemory(t *testing.T) {
	const most, much = 6 << 20, 16 << 20
	spaces := strings.Repeat(" ", much)
	flate := packed(t, "/FlateDecode", spaces)
	const truetype = "/G<</Type/Font/Subtype/TrueType/BaseFont/G/FirstChar 65/LastChar 65/Widths[500]/FontDescriptor<</Type/FontDescriptor/FontName/G/Flags 4/FontFile2 90 0 R>>>>"
	show := "BT /G 10 Tf 100 600 Td (A) Tj ET\n"
	font := func(entry string) string { return "/Font<</F 3 0 R" + entry + ">>" }
	var groups strings.Builder // each draws the next one ten times
	for n := 100; n < 108; n++ {
		content := strings.Repeat(fmt.Sprintf("/X%d Do ", n+1), 10)
		fmt.Fprintf(&groups, "%d 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X%d %d 0 R>>>>/Length %d>>stream\n%s\nendstream endobj\n", n, n+1, n+1, len(content), content)
	}
	groups.WriteString("108 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 15>>stream\n0 0 m 1 1 l S  \nendstream endobj\ntrailer")
	nested := bytes.Replace(with("/X100 Do\n", "/XObject<</X100 100 0 R>>", "", "", "x"), []byte("trailer"), []byte(groups.String()), 1)
	contents := func(filters, parameters, data string) []byte {
		return bytes.Replace(with("", "", parameters, filters, data), []byte("/Contents 4 0 R"), []byte("/Contents[4 0 R 90 0 R]"), 1)
	}
	for name, c := range map[string]struct {
		data []byte
		fits bool
	}{
		"nothing":            {with("", "", "", "", "x"), true},
		"Flate":              {contents("/FlateDecode", "", flate), false},
		"Flate on Flate":     {contents("/FlateDecode /FlateDecode", "", packed(t, "/FlateDecode", flate)), false},
		"Flate in hex":       {contents("/ASCIIHexDecode /FlateDecode", "", packed(t, "/ASCIIHexDecode", flate)), false},
		"LZW":                {contents("/LZWDecode", "/DecodeParms[<</EarlyChange 0>>]", packed(t, "/LZWDecode", spaces)), false},
		"a predictor":        {contents("/FlateDecode", "/DecodeParms[<</Predictor 12/Columns 1000000>>]", packed(t, "/FlateDecode", spaces+spaces)), false},
		"columns of nothing": {contents("/FlateDecode", "/DecodeParms[<</Predictor 12/Columns 2000000000>>]", packed(t, "/FlateDecode", "x")), true},
		"a font":             {with(show, font(truetype), "/Length1 16777216", "/FlateDecode", flate), false},
		"what letters mean":  {with(show, font("/G<</Type/Font/Subtype/Type1/BaseFont/G/ToUnicode 90 0 R>>"), "", "/FlateDecode", flate), false},
		"a group":            {with("/X Do\n", "/XObject<</X 90 0 R>>", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]", "/FlateDecode", flate), false},
		"groups in groups":   {nested, false},
		"a picture":          {with("/X Do\n", "/XObject<</X 90 0 R>>", "/Type/XObject/Subtype/Image/Width 30000/Height 30000/BitsPerComponent 8/ColorSpace/DeviceRGB", "/FlateDecode", flate), true},
		"a picture by JPEG":  {with("/X Do\n", "/XObject<</X 90 0 R>>", "/Type/XObject/Subtype/Image/Width 100000/Height 100000", "/JPXDecode", "x"), true},
		"a picture by JBIG2": {with("/X Do\n", "/XObject<</X 90 0 R>>", "/Type/XObject/Subtype/Image/Width 100000/Height 100000/BitsPerComponent 1", "/JBIG2Decode", "x"), true},
		"objects of pages":   {made(20, 0, at(100, 700, "(Good morning.)")+strings.Repeat("0 0 m 1 1 l S\n", 3000)), true},
		"links of pages":     {bytes.ReplaceAll(made(80, 0, at(100, 700, "(Good morning.)")), []byte("/Contents"), []byte("/Annots["+strings.Repeat("<</Type/Annot/Subtype/Link/Rect[1 1 2 2]>>", 500)+"]/Contents")), true},
		"a large page":       {bytes.Replace(made(1, 0, at(100, 700, "(Good morning.)")), []byte("600 800"), []byte("14400 14400"), 1), true},
		"a larger page":      {bytes.Replace(made(1, 0, at(100, 700, "(Good morning.)")), []byte("600 800"), []byte("1000000000 1000000000"), 1), true},
	} {
		memory := admission.New(1 << 30)
		lease := memory.Lease("a")
		f, err := openWithin(admission.With(t.Context(), lease), bytes.NewReader(c.data), int64(len(c.data)), most)
		found := 0
		if err == nil {
			err = f.look(func() {
				f.eachPage(document.Options{}, func(_ *page, blocks []*block) {
					found += len(blocks)
					assert.LessOrEqual(t, f.memory.taken, int64(most), name)
				})
			})
			f.release()
		}
		if c.fits {
			assert.NoError(t, err, name)
			assert.Positive(t, found, name)
		} else {
			var refused *document.Error
			require.ErrorAs(t, err, &refused, name)
			assert.True(t, refused.Large, "%s: %v", name, err)
			assert.Contains(t, refused.Reason, "more than 6 MiB when it is unpacked: divide it", name)
		}
		assert.Less(t, memory.InUse(), int64(1<<20), "%s: what texts take stays until the request is answered", name)
		lease.Close()
	}
}
