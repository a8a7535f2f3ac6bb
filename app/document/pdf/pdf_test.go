package pdf

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/font/gofont/goregular"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/guard/admission"
)

func fixture(t testing.TB, name string) []byte {
	data, err := os.ReadFile("testdata/" + name + ".pdf")
	require.NoError(t, err)
	return data
}

// texts returns the texts of a document.
func texts(ctx context.Context, data []byte) (found []string, err error) {
	err = Kind.Rewrite(ctx, io.Discard, bytes.NewReader(data), int64(len(data)), document.Options{}, func(text string) (string, error) {
		found = append(found, text)
		return text, nil
	})
	return found, err
}

// translated returns a document with changed texts.
func translated(t *testing.T, data []byte, to string, change func(text string) string) []byte {
	var out bytes.Buffer
	require.NoError(t, Kind.Rewrite(t.Context(), &out, bytes.NewReader(data), int64(len(data)), document.Options{To: to}, func(text string) (string, error) {
		return change(text), nil
	}))
	return out.Bytes()
}

const ferry = "The ferry leaves the harbour at nine in the morning and returns in the late afternoon, when the tide is high enough for it to " +
	"come back to the pier. Passengers who miss it have to stay on the island until the next day, where there is a small hotel."

var blocks = map[string][]string{
	"report": {
		"Page one of two", "Written along the edge", "The island and its ferry", "1. How to get there", ferry,
		`Buy a <g id="1">return ticket</g> at the office, or write to <g id="2">the company</g> with <x id="3"/> a day before. Children pay <g id="4">half</g> of the price.`,
		"Take warm clothes.", "Bring something to eat.", "Place", "Distance", "The old harbour", "12 km", "Lighthouse", "3 km",
		"The second page", "It has little text.",
	},
	"columns": {
		"Left column text that goes on in lines below the first one and is divided with a hyphen in a remarkable word near its end.",
		"Right column text that goes on in lines below the first one and is divided with a hyphen in a remarkable word near its end.",
		"Inside of a form",
	},
}

func TestBlocks(t *testing.T) {
	for name, want := range blocks {
		got, err := texts(t.Context(), fixture(t, name))
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
	for _, name := range []string{"owner", "owner-objects"} {
		got, err := texts(t.Context(), fixture(t, name))
		require.NoError(t, err, "who may read it needs no password: %s", name)
		assert.Equal(t, blocks["columns"], got, name)
	}
}

// Texts from right to left have their letters, brackets and numbers in the order in which they are read, also those of glyphs for
// several letters and of files whose glyphs mean what they look like.
func TestRightToLeft(t *testing.T) {
	for _, name := range []string{"right-chromium", "right-typst", "right-weasyprint"} {
		found, err := texts(t.Context(), fixture(t, name))
		require.NoError(t, err)
		assert.Equal(t, []string{
			"שלום (אחד) עולם, לא [שתיים] בשנה (2026) עם Office (2024) היום.",
			"لا تفتح الباب (واحد) ولا تلمس الأسلاك «اثنان» سنة (2026).",
		}, found, name)
	}
}

// The result has the translations in the places of the texts, also in other scripts, and no text of the original.
func TestTranslations(t *testing.T) {
	for _, name := range []string{"report", "columns", "owner", "owner-objects"} {
		out := translated(t, fixture(t, name), "fr", upper)
		got, err := texts(t.Context(), out)
		require.NoError(t, err)
		want, err := texts(t.Context(), fixture(t, name))
		require.NoError(t, err)
		assert.ElementsMatch(t, strings.Fields(strings.ToUpper(plain(strings.Join(want, "\n")))), strings.Fields(plain(strings.Join(got, "\n"))), name)
	}
	out := translated(t, fixture(t, "columns"), "ru", func(string) string { return "Паром отходит из гавани" })
	got, err := texts(t.Context(), out)
	require.NoError(t, err)
	assert.Equal(t, "Паром отходит из гавани", got[2])
}

// upper returns a text in capitals, with unchanged tags.
func upper(text string) string {
	return regexp.MustCompile(`<[^>]*>|[^<]+`).ReplaceAllStringFunc(text, func(part string) string {
		if part[0] == '<' {
			return part
		}
		return strings.ToUpper(part)
	})
}

// plain returns a text without tags.
func plain(text string) string { return regexp.MustCompile("<[^>]*>").ReplaceAllString(text, "") }

// The rest of the document does not change: untranslated texts, other pages, sizes, links, pictures.
func TestWhatStays(t *testing.T) {
	before := fixture(t, "report")
	after := translated(t, before, "fr", func(text string) string {
		return strings.ReplaceAll(text, "Lighthouse", "Phare")
	})
	want := strings.ReplaceAll(strings.Join(blocks["report"], "\n"), "Lighthouse", "Phare")
	got, err := texts(t.Context(), after)
	require.NoError(t, err)
	assert.ElementsMatch(t, strings.Split(want, "\n"), got)
}

// made returns a document of n equal pages and some other objects.
func made(pages, others int, content string) []byte {
	var out, kids strings.Builder
	out.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n")
	fmt.Fprintf(&out, "4 0 obj<</Length %d>>stream\n%s\nendstream endobj\n", len(content), content)
	for i := range pages {
		fmt.Fprintf(&out, "%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents 4 0 R>>endobj\n", 5+i)
		fmt.Fprintf(&kids, "%d 0 R ", 5+i)
	}
	for i := range others {
		fmt.Fprintf(&out, "%d 0 obj<<>>endobj\n", 5+pages+i)
	}
	fmt.Fprintf(&out, "2 0 obj<</Type/Pages/Count %d/Kids[%s]>>endobj\ntrailer<</Root 1 0 R/Size %d>>\n%%%%EOF\n", pages, kids.String(), 5+pages+others)
	return []byte(out.String())
}

// at returns a text of a page at a position.
func at(x, y float64, text string) string {
	return fmt.Sprintf("BT /F 10 Tf %g %g Td %s Tj ET\n", x, y, text)
}

func TestBlocksOfLines(t *testing.T) {
	var leader string
	for i := range 20 {
		leader += at(140+4*float64(i), 700, "(.)") + at(140+4*float64(i), 688, "(.)")
	}
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"a leader of many texts": {at(100, 700, "(Purpose)") + at(100, 688, "(Aim of it)") + leader + at(222, 700, "(15)") + at(222, 688, "(16)"), []string{"Purpose", "Aim of it"}},
		"a paragraph of one line": {at(100, 700, "(Please do not ask the authors of this manual.)") + at(100, 682, "(New techniques are explained in the pages that)") +
			at(100, 670, "(come after this one.)"), []string{"Please do not ask the authors of this manual.", "New techniques are explained in the pages that come after this one."}},
		"a list of words":            {at(100, 700, "(Cayenne)") + at(100, 684, "(Conakry)") + at(100, 668, "(Chisinau)"), []string{"Cayenne", "Conakry", "Chisinau"}},
		"a note's mark of full size": {at(100, 700, "(The first sentence has a note)") + at(100+wide("The first sentence has a note"), 705.5, "(1)") + at(105.6+wide("The first sentence has a note"), 700, "(, and goes on.)"), []string{`The first sentence has a note<a id="1"/>, and goes on.`}},
		"a number below":             {at(100, 700, "(Water is H)") + fmt.Sprintf("BT /F 8.3 Tf %g 698 Td (2) Tj ET\n", 100+wide("Water is H")) + at(104.7+wide("Water is H"), 700, "(O.)"), []string{"Water is H2O."}},
		"a box around a text":        {at(100, 700, "(A box)") + "95 694 36 16 re S\n" + at(100, 683, "(The caption of it goes on)"), []string{"A box", "The caption of it goes on"}},
		"another line between": {at(100, 700, "(Name)") + at(140, 700, "(John Smith)") + at(100, 688, "(Place of birth)") + at(180, 688, "(Bristol)") + at(100, 676, "(Job)") + at(140, 676, "(Teacher of music)"),
			[]string{"Name", "John Smith", "Place of birth", "Bristol", "Job", "Teacher of music"}},
		"cells that are empty": {at(100, 700, "(Date)") + at(150, 700, "(What)") + at(300, 700, "(Debit)") + at(350, 700, "(Credit)") + at(100, 685, "(1 May)") + at(150, 685, "(Rent of the house for May)") + at(300, 685, "(650.00)") +
			at(100, 670, "(2 May)") + at(150, 670, "(Salary of the company)") + at(350, 670, "(2,100.00)"), []string{"Date", "What", "Debit", "Credit", "1 May", "Rent of the house for May", "2 May", "Salary of the company"}},
		"a page's number": {at(100, 700, "(Good morning.)") + at(300, 40, "(xiii)"), []string{"Good morning."}},
	} {
		got, err := texts(t.Context(), made(1, 0, c.content))
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
}

// A font is a font for code if it says so and its letters have equal widths. Chinese and Japanese fonts always have equal
// widths.
func TestFixedPitch(t *testing.T) {
	const font = "<</Type/Font/Subtype/Type0/BaseFont/Go/Encoding/Identity-H/ToUnicode 90 0 R/DescendantFonts[<</Type/Font/Subtype/CIDFontType2" +
		"/BaseFont/Go/DW 1000/CIDToGIDMap/Identity/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor" +
		"<</Type/FontDescriptor/FontName/Go/Flags %d/ItalicAngle 0/Ascent 800/Descent -200/StemV 80/FontBBox[0 -200 1000 800]/FontFile2 91 0 R>>>>]>>"
	const unicode = "1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfchar <0045> <%04X> <0046> <%04X> endbfchar"
	for _, c := range []struct {
		flags  int // 1: fixed width, 2: serifs, 4: symbols
		text   string
		isText bool
	}{{4, "ab", true}, {5, "ab", false}, {6, "ab", true}, {5, "試験", true}, {6, "試験", true}} {
		letters := []rune(c.text)
		data := made(1, 0, at(100, 600, "(Good morning.)")+"BT /G 10 Tf 100 700 Td <00450046> Tj ET\n")
		data = bytes.Replace(data, []byte("<</F 3 0 R>>"), fmt.Appendf(nil, "<</F 3 0 R/G "+font+">>", c.flags), 1)
		toUnicode := fmt.Sprintf(unicode, letters[0], letters[1])
		data = bytes.Replace(data, []byte("trailer"), fmt.Appendf(nil, "90 0 obj<</Length %d>>stream\n%s\nendstream endobj\n91 0 obj<</Length %d>>stream\n%s\nendstream endobj\ntrailer",
			len(toUnicode), toUnicode, len(goregular.TTF), goregular.TTF), 1)
		want := []string{"Good morning."}
		if c.isText {
			want = append(want, c.text)
		}
		got, err := texts(t.Context(), data)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, got, c)
	}
}

// Untranslated text in a font that the document draws (Type 3) stays in the document.
func TestDrawnFont(t *testing.T) {
	const font = "<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[.001 0 0 .001 0 0]/CharProcs<</seven 90 0 R>>/Encoding<</Differences[55/seven]>>" +
		"/FirstChar 55/LastChar 55/Widths[500]/Resources<<>>>>"
	data := made(1, 0, at(100, 700, "(Good morning.)")+"BT /G 10 Tf 300 40 Td (7777) Tj ET\n")
	data = bytes.Replace(data, []byte("<</F 3 0 R>>"), []byte("<</F 3 0 R/G "+font+">>"), 1)
	data = bytes.Replace(data, []byte("trailer"), []byte("90 0 obj<</Length 37>>stream\n500 0 0 0 500 700 d1 0 0 400 700 re f\nendstream endobj\ntrailer"), 1)
	var out bytes.Buffer
	require.NoError(t, Text.Rewrite(t.Context(), &out, bytes.NewReader(data), int64(len(data)), document.Options{To: "fr"}, func(string) (string, error) { return "Bonjour", nil }))
	require.Equal(t, "Bonjour\n\n7777\n\n", out.String(), "the letters are known")
	data = translated(t, data, "fr", func(string) string { return "Bonjour" })
	out.Reset()
	require.NoError(t, Text.Rewrite(t.Context(), &out, bytes.NewReader(data), int64(len(data)), document.Options{To: "fr"}, func(text string) (string, error) { return text, nil }))
	assert.ElementsMatch(t, []string{"Bonjour", "7777"}, strings.Fields(out.String()))
}

// A font that the document draws (Type 3) may be drawn upside down, and its texts then, too, or its box says that it is not.
func TestDrawnUpsideDown(t *testing.T) {
	for name, c := range map[string]struct {
		box, matrix, text string
		isRead            bool
	}{
		"upright":              {"0 -200 800 700", ".001 0 0 .001 0 0", "1 0 0 1", true},
		"mirrored":             {"0 -200 800 700", ".001 0 0 .001 0 0", "1 0 0 -1", false},
		"twice":                {"0 -200 800 700", ".001 0 0 -.001 0 0", "1 0 0 -1", true},
		"from the top (Skia)":  {"0 200 800 -700", ".001 0 0 -.001 0 0", "1 0 0 1", true},
		"mirrored from there":  {"0 200 800 -700", ".001 0 0 -.001 0 0", "1 0 0 -1", false},
		"units of 2048":        {"0 400 1600 -1400", ".00048828125 0 0 -.00048828125 0 0", "1 0 0 1", true},
		"from the top in text": {"0 -700 800 200", ".001 0 0 .001 0 0", "1 0 0 -1", true},
	} {
		data := made(1, 0, at(100, 700, "(Good morning.)")+"BT /G 10 Tf "+c.text+" 300 40 Tm (abc) Tj ET\n")
		data = bytes.Replace(data, []byte("<</F 3 0 R>>"), fmt.Appendf(nil, "<</F 3 0 R/G<</Type/Font/Subtype/Type3/FontBBox[%s]/FontMatrix[%s]/CharProcs<<>>"+
			"/Encoding<</Differences[97/a/b/c]>>/FirstChar 97/Widths[500 500 500]>>>>", c.box, c.matrix), 1)
		want := []string{"Good morning."}
		if c.isRead {
			want = append(want, "abc")
		}
		got, err := texts(t.Context(), data)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

// A label does not grow into the field of a form behind it.
func TestField(t *testing.T) {
	data := bytes.Replace(made(1, 0, at(100, 700, "(Name:)")+at(100, 600, "(A line that is far wider than the label and its field are)")), []byte("/Contents"),
		[]byte("/Annots[<</Type/Annot/Subtype/Widget/FT/Tx/Rect[140 690 300 715]>>]/Contents"), 1)
	found := pictures(t, translated(t, data, "fr", func(string) string { return "Votre nom de famille" }))[0]
	for _, s := range found.spans {
		if s.y > 650 {
			assert.LessOrEqual(t, s.x1, 140.0, s.text)
		}
	}
}

// The name of a font tells its style.
func TestNames(t *testing.T) {
	for name, want := range map[string]style{
		"ABCDEF+t1xbtt": {mono: true}, "tcxtt": {mono: true}, "NimbusMonL-Regu": {mono: true}, "TeXGyreCursor-Regular": {mono: true}, "ECTT1000": {mono: true},
		"TeXGyreHeros-Bold": {bold: true}, "NimbusSanL-Regu": {}, "TeXGyreTermes-Regular": {}, "CMR10": {serif: true},
	} {
		var s style
		s.named(name)
		assert.Equal(t, want, s, name)
	}
}

// TestBounds checks that documents that are too large are refused.
func TestBounds(t *testing.T) {
	words := "BT /F 6 Tf 100 700 Td (Good morning.) Tj ET\n"
	found, err := texts(t.Context(), made(2, 9, words))
	require.NoError(t, err)
	assert.Equal(t, []string{"Good morning.", "Good morning."}, found)
	var full strings.Builder
	for i := range maxTexts {
		fmt.Fprintf(&full, "BT /F 2 Tf %d %d Td (A b) Tj ET\n", i%100*5, i/100*2)
	}
	for name, c := range map[string]struct {
		data   []byte
		reason string
	}{
		"pages":           {made(1001, 0, words), "1001 pages"},
		"words of a page": {made(1, 0, full.String()), "a page of the PDF has more than 20000 words"},
	} {
		found, err := texts(t.Context(), c.data)
		var refused *document.Error
		require.ErrorAs(t, err, &refused, name)
		assert.True(t, refused.Large, name)
		assert.Contains(t, refused.Reason, c.reason, name)
		assert.Empty(t, found, name)
	}
}

func TestRefused(t *testing.T) {
	report := fixture(t, "report")
	for name, c := range map[string]struct {
		data   []byte
		reason string
	}{
		"with a password": {fixture(t, "password"), "without one"},
		"scanned":         {fixture(t, "scan"), "no text"},
		"recognized":      {fixture(t, "recognized"), "pictures of its pages"},
		"nothing":         {nil, "damaged"},
		"no PDF":          {[]byte("hello"), "damaged"},
		"cut off":         {report[:200], "damaged"},
		"a loop":          {[]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]>>endobj\nxref\n0 1\n0000000000 65535 f\ntrailer<</Root 1 0 R/Prev 0>>\nstartxref\n60\n%%EOF"), ""},
	} {
		_, err := texts(t.Context(), c.data)
		var refused *document.Error
		require.ErrorAs(t, err, &refused, name)
		assert.Contains(t, refused.Reason, c.reason, name)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	data := fixture(t, "report")
	err := Kind.Rewrite(ctx, io.Discard, bytes.NewReader(data), int64(len(data)), document.Options{}, func(text string) (string, error) {
		cancel()
		return text, nil
	})
	assert.ErrorIs(t, err, context.Canceled)
}

// Data without the head of a PDF in its first 1024 bytes is refused before it takes memory.
func TestNoMemoryForNoPDF(t *testing.T) {
	ctx := admission.With(t.Context(), admission.New(1).Lease("a"))
	for data, want := range map[string]error{"": nil, "PDF-1.4": nil, strings.Repeat("x", 1021) + "%PDF": nil, strings.Repeat("x", 1020) + "%PDF": budget.ErrFull, "%PDF": budget.ErrFull} {
		_, err := texts(ctx, []byte(data))
		var refused *document.Error
		if want == nil {
			assert.ErrorAs(t, err, &refused)
			want = refused
		}
		assert.ErrorIs(t, err, want)
	}
	want, err := texts(t.Context(), fixture(t, "report"))
	require.NoError(t, err)
	got, err := texts(t.Context(), append(bytes.Repeat([]byte("\n"), 1000), fixture(t, "report")...))
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// The memory of a document counts as the request's, and is freed.
func TestMemory(t *testing.T) {
	data := fixture(t, "report")
	for kib, fits := range map[int64]bool{4: false, 1024: true} {
		m := admission.New(kib << 10)
		lease := m.Lease("a")
		_, err := texts(admission.With(t.Context(), lease), data)
		if fits {
			assert.NoError(t, err)
		} else {
			assert.ErrorIs(t, err, budget.ErrFull)
		}
		assert.Less(t, m.InUse(), int64(1<<20), "what the texts take stays until the request is answered")
	}
}

// A PDF has the same segments for HTML and for text. A scan has the segments of its recognized text.
func TestTextAlone(t *testing.T) {
	for name, c := range map[string]struct {
		kind *document.Kind
		want string
	}{
		"report": {HTML, "<p>BUY A <b>RETURN TICKET</b> AT THE OFFICE, OR WRITE TO THE COMPANY WITH <code>ferry --book</code> A DAY BEFORE. CHILDREN PAY <i>HALF</i> OF THE PRICE.</p>\n" +
			"<p>• TAKE WARM CLOTHES.</p>\n"},
		"columns":    {Text, "LEFT COLUMN TEXT THAT GOES ON IN LINES BELOW THE FIRST ONE AND IS DIVIDED WITH A HYPHEN IN A REMARKABLE WORD NEAR ITS END.\n\nRIGHT"},
		"recognized": {Text, "TEXT BEHIND THE PICTURE\n"},
	} {
		var out bytes.Buffer
		data := fixture(t, name)
		require.NoError(t, c.kind.Rewrite(t.Context(), &out, bytes.NewReader(data), int64(len(data)), document.Options{To: "fr"}, func(text string) (string, error) {
			return upper(text), nil
		}))
		assert.Contains(t, out.String(), c.want, name)
		found := 0
		require.NoError(t, document.Texts(t.Context(), c.kind, bytes.NewReader(data), int64(len(data)), document.Options{}, func(string, bool) error {
			found++
			return nil
		}))
		assert.Positive(t, found, "without a writer")
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"report", "columns", "owner", "recognized"} {
		f.Add(fixture(f, name))
	}
	_, err := texts(f.Context(), fixture(f, "report")) // compiles PDFium, which takes longer than the limit for an input
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		err := Kind.Rewrite(t.Context(), &out, bytes.NewReader(data), int64(len(data)), document.Options{To: "fr"}, func(text string) (string, error) {
			return text + " x", nil
		})
		if err != nil {
			var refused *document.Error
			require.ErrorAs(t, err, &refused)
			return
		}
		_, err = texts(t.Context(), out.Bytes())
		assert.NoError(t, err, "what is written can be read")
	})
}
