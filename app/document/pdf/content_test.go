package pdf

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// picture is a rendered page with its texts.
type picture struct {
	*image.RGBA
	*page
	blocks []*block
}

const dpi = 72

// engine is PDFium, which renders what this package writes.
var engine = sync.OnceValues(func() (pdfium.Pool, error) {
	return webassembly.Init(webassembly.Config{MinIdle: 1, MaxIdle: 1, MaxTotal: 1})
})

// pictures renders a document by PDFium.
func pictures(t *testing.T, data []byte) (found []picture) {
	f, err := open(t.Context(), bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	defer f.release()
	pool, err := engine()
	require.NoError(t, err)
	renderer, err := pool.GetInstance(time.Minute)
	require.NoError(t, err)
	defer func() { assert.NoError(t, renderer.Close()) }()
	opened, err := renderer.OpenDocument(&requests.OpenDocument{File: &data})
	require.NoError(t, err)
	for n := range f.pages {
		p := f.read(n, &seen{})
		got, err := renderer.RenderPageInDPI(&requests.RenderPageInDPI{DPI: dpi, Page: requests.Page{ByIndex: &requests.PageByIndex{Document: opened.Document, Index: n}}})
		require.NoError(t, err)
		rendered := image.NewRGBA(got.Result.RenderedImage.Bounds())
		draw.Draw(rendered, rendered.Rect, got.Result.RenderedImage, image.Point{}, draw.Src)
		got.Cleanup()
		found = append(found, picture{rendered, p, p.blocks()})
	}
	return found
}

// clear whitens the areas of texts.
func (p picture) clear(areas []box) {
	for _, a := range areas {
		for y := p.box[3] - a.top - 2; y < p.box[3]-a.bottom+2; y++ {
			for x := a.left - 2; x < a.right+2; x++ {
				if at := image.Pt(int(x), int(y)); at.In(p.Rect) {
					copy(p.Pix[p.PixOffset(at.X, at.Y):], []byte{255, 255, 255, 255})
				}
			}
		}
	}
}

// translatedAreas returns the areas of the translated texts of a page, and of their translations.
func translatedAreas(before, after picture) (areas []box) {
	places := map[string]bool{}
	of := func(s *span) string { return fmt.Sprintf("%s %.1f %.1f", s.text, s.x0, s.y) }
	for _, b := range before.blocks {
		for _, l := range b.lines {
			for _, s := range l.spans {
				if places[of(s)] = true; b.isText() {
					areas = append(areas, area(s.x0, s.y, s.x1, 1.2*s.size, s.angle))
				}
			}
		}
	}
	for _, s := range after.spans {
		if !places[of(s)] {
			areas = append(areas, area(s.x0, s.y, s.x1, 1.2*s.size, s.angle))
		}
	}
	return areas
}

// assertRest checks that nothing differs outside the translated texts.
func assertRest(t *testing.T, name string, data []byte) {
	before, after := pictures(t, data), pictures(t, translated(t, data, "fr", upper))
	require.Len(t, after, len(before), name)
	for n := range before {
		areas := translatedAreas(before[n], after[n])
		require.NotEmpty(t, areas, name)
		before[n].clear(areas)
		after[n].clear(areas)
		different := 0
		for i, c := range before[n].Pix {
			if d := int(c) - int(after[n].Pix[i]); d < -32 || d > 32 {
				different++
			}
		}
		assert.Zero(t, different, "%s, page %d", name, n+1)
	}
}

// The rest of a page stays as it is, to the pixel.
func TestPixels(t *testing.T) {
	for _, name := range []string{"report", "columns", "owner", "cmyk", "stamped-same-font-name", "chromium-gradient", "matplotlib-axis", "dvips-ps2pdf"} {
		assertRest(t, name, fixture(t, name))
	}
	const group = "/Type/XObject/Subtype/Form/BBox[0 -50 200 50]/Resources<</Font<</G 3 0 R>>>>"
	const inGroup = "BT /G 10 Tf (Good morning.) Tj (  12.50) Tj 0 -40 Td (14.99) Tj ET"
	for name, data := range map[string][]byte{
		"texts that follow each other": made(1, 0, "BT /F 10 Tf 1 Tc 80 Tz 100 700 Td (Good morning.) Tj [-300 (12.50)] TJ [-900] TJ (  14.99) Tj 12 TL (Good night.) ' (7.25) Tj 3 1 (Good evening.) \" (8.50) Tj T* (1 2 3) Tj ET"),
		"a row that is one text":       made(1, 0, "BT /F 10 Tf 100 700 Td [(Coffee)-9000(12.50)-9000(black)-9000(7.25)] TJ ( 14.99) Tj ET"),
		"a size that changes":          made(1, 0, "BT /F 10 Tf 100 700 Td (Good morning.) Tj /F 30 Tf ( 12.50) Tj ET"),
		"states that are not balanced": made(1, 0, "Q Q 1 0 0 rg q .5 0 0 .5 0 0 cm "+at(100, 700, "(Good morning.)")+" 50 50 30 30 re f"),
		"pictures in the content":      made(1, 0, "q 90 0 0 90 100 500 cm BI /W 3 /H 2 /BPC 8 /CS /G ID EI \x00\xff\x80 EI Q "+at(100, 700, "(Good morning.)")+at(300, 40, "(7777)")),
		"groups":                       with("q 1 0 0 1 100 600 cm /X Do Q q .7 .7 -.7 .7 300 300 cm /X Do Q", "/XObject<</X 90 0 R>>", group, "", inGroup),
		"several streams":              bytes.Replace(with("BT /F 10 Tf", "", "", "", "100 600 Td (Good night.) Tj 0 -20 Td (12.50) Tj ET"), []byte("/Contents 4 0 R"), []byte("/Contents[4 0 R 90 0 R]"), 1),
	} {
		assertRest(t, name, data)
	}
}

// A translation has the look of its text: the color in its color space, the opacity, the outline.
func TestLook(t *testing.T) {
	const resources = "/ColorSpace<</Spot[/Separation/Spot/DeviceRGB<</FunctionType 2/Domain[0 1]/C0[1 1 1]/C1[0 .6 .3]/N 1>>]>>/ExtGState<</Half<</ca .5>>>>" +
		"/XObject<</X 90 0 R>>"
	const group = "/Type/XObject/Subtype/Form/BBox[0 -50 900 50]/Resources<</Font<</F 3 0 R>>/ColorSpace<</Spot/DeviceCMYK>>>>"
	for name, content := range map[string]string{
		"spot color":          "/Spot cs 1 scn BT /F 90 Tf 20 700 Td (Morning) Tj ET",
		"CMYK":                ".1 .9 .2 0 k BT /F 90 Tf 20 700 Td (Morning) Tj ET",
		"opacity":             "/Half gs 1 0 0 rg BT /F 90 Tf 20 700 Td (Morning) Tj ET",
		"an outline":          "0 0 1 RG 9 w 1 Tr BT /F 90 Tf 20 700 Td (Morning) Tj ET",
		"a color in a group":  "q 1 0 0 1 20 700 cm /X Do Q",
		"a color of a parent": "/Half gs q 0 .5 0 rg 1 0 0 1 20 700 cm /X Do Q",
	} {
		inGroup := "BT /F 90 Tf (Morning) Tj ET"
		if name == "a color in a group" {
			inGroup = "/Spot cs .8 .1 .6 0 scn " + inGroup
		}
		data := bytes.Replace(with(content, resources, group, "", inGroup), []byte("100 700 Td (Good morning.)"), []byte("100 700 Td (12.50)"), 1)
		var colors [2][4]byte
		for i, data := range [][]byte{data, translated(t, data, "fr", upper)} {
			found := map[[4]byte]int{}
			for pixels := range slices.Chunk(pictures(t, data)[0].Pix, 4) {
				if c := [4]byte(pixels); c != [4]byte{255, 255, 255, 255} {
					found[c]++
				}
			}
			colors[i] = most(found, func(a, b [4]byte) int { return bytes.Compare(a[:], b[:]) })
		}
		assert.Equal(t, colors[0], colors[1], name)
		assert.NotEqual(t, [4]byte{0, 0, 0, 255}, colors[1], name)
	}
}

// A page that cannot be changed stays as it is, and its texts count as not translated.
func TestKeptPage(t *testing.T) {
	data := with("", "", "", "/Crypt", "q Q")
	data = bytes.Replace(data, []byte("/Contents 4 0 R"), []byte("/Contents[4 0 R 90 0 R]"), 1)
	var out bytes.Buffer
	unfit := 0
	rewrite := func(o document.Options) error {
		out.Reset()
		return Kind.Rewrite(t.Context(), &out, bytes.NewReader(data), int64(len(data)), o, func(text string) (string, error) { return upper(text), nil })
	}
	require.NoError(t, rewrite(document.Options{To: "fr", Unfit: func() { unfit++ }}))
	assert.Equal(t, 1, unfit)
	got, err := texts(t.Context(), out.Bytes())
	require.NoError(t, err)
	assert.Equal(t, []string{"Good morning."}, got)
	assert.ErrorIs(t, rewrite(document.Options{To: "fr"}), errKept)
}

// Texts that cannot be translated are said, page by page.
func TestLeft(t *testing.T) {
	unknown := bytes.Replace(made(2, 0, at(100, 700, "(Good morning.)")+"BT /G 10 Tf 100 600 Td <00450046> Tj ET "+at(100, 500, "(I say)")+"BT /G 10 Tf 120 500 Td <0045> Tj ET"),
		[]byte("<</F 3 0 R>>"), []byte("<</F 3 0 R/G<</Type/Font/Subtype/Type0/BaseFont/G/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/G>>]>>>>"), 1)
	hidden := made(1, 0, at(100, 700, "(Good morning.)")+"BT 3 Tr /F 10 Tf 100 600 Td (Good night.) Tj ET")
	for name, c := range map[string]struct {
		data []byte
		want []string
	}{
		"a font":  {unknown, []string{"page 1: 2 texts: their fonts do not say which letters they have, or they are mirrored or vertical"}},
		"hidden":  {hidden, []string{"page 1: 1 texts: they are hidden, as in a scan with recognized text: ask for it as HTML or text"}},
		"nothing": {made(2, 0, at(100, 700, "(Good morning.)")), nil},
	} {
		var left []string
		var pages []int
		o := document.Options{Left: func(page, texts int, reason string) { left = document.AddLeft(left, page, texts, reason) }, Page: func(n int) { pages = append(pages, n) }}
		require.NoError(t, Kind.Rewrite(t.Context(), nil, bytes.NewReader(c.data), int64(len(c.data)), o, func(text string) (string, error) { return text, nil }), name)
		assert.Equal(t, c.want, left, name)
		assert.Equal(t, 1, pages[0], name)
	}
}

// A link is where its words are.
func TestLinks(t *testing.T) {
	data := translated(t, fixture(t, "report"), "fr", func(text string) string { return strings.ReplaceAll(text, "Buy a", "Buy your own") })
	p := pictures(t, data)[0].page
	require.Len(t, p.links, 1)
	var words string
	for _, s := range p.spans {
		if s.font.link == 1 {
			words += s.text + " "
		}
	}
	assert.Equal(t, "the company", strings.TrimSpace(words))
}

// fuzzed checks that a document is translated, refused, or fails for its memory.
func fuzzed(t *testing.T, data []byte) {
	var out bytes.Buffer
	for _, kind := range []*document.Kind{Kind, Text} {
		err := kind.Rewrite(t.Context(), &out, bytes.NewReader(data), int64(len(data)), document.Options{To: "fr", Unfit: func() {}}, func(text string) (string, error) { return upper(text), nil })
		if refused := (*document.Error)(nil); err != nil {
			require.ErrorAs(t, err, &refused)
		}
	}
}

func FuzzContent(f *testing.F) {
	f.Add("gs /F gs BT /F 10 Tf 100 700 Td [(Good) -20 (morning.)] TJ T* <414243> ' 1 2 (x) \" ET q BI /W 1 ID x EI Q /X Do")
	f.Add("0 0 m 9 9 l 1 2 3 4 5 6 c S 1 1 200 200 re B BT /F -3 Tf 1 0 0 -1 5 5 Tm (Good morning.)Tj 50 Tz 3 Tr (a)Tj ET")
	f.Fuzz(func(t *testing.T, data string) { fuzzed(t, made(1, 0, data)) })
}

func FuzzDocument(f *testing.F) {
	for _, name := range []string{"report", "columns", "owner", "dvips-ps2pdf"} {
		f.Add(fixture(f, name))
	}
	f.Add(made(1, 1, at(100, 700, "(Good morning.)")))
	f.Fuzz(fuzzed)
}
