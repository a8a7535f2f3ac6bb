package pdf

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/fontscan"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/text/language"

	"dragoman/app/document"
)

// Names of fonts by appearance. TeX's fonts have names of their own.
var (
	serifName  = regexp.MustCompile(`(?i)times|serif|roman|georgia|garamond|palatino|bookman|century|minion|cambria|charter|utopia|caslon|baskerville|CM(R|BX|TI|SL|CSC)\d|SF(RM|BX|TI|SL)|LMRoman|Tinos`)
	sansName   = regexp.MustCompile(`(?i)sans|arial|helvet|verdana|calibri|tahoma|univers|futura|myriad|nimbusSan|heros|CMSS|LMSans|SFSS`)
	monoName   = regexp.MustCompile(`(?i)mono|courier|consol|typewriter|menlo|monaco|inconsol|nimbusMon|gyreCursor|CMTT|CMSLTT|CMITT|SFTT|LMTT|LMMono|ECTT|t[1cx]xb?tt|beraMono|code`)
	mathName   = regexp.MustCompile(`(?i)CM(MI|SY|EX|MIB|BSY)\d|MSAM|MSBM|math|symbol|dingbat|LASY|STMARY|RSFS|EUFM|wingding|webding`)
	boldName   = regexp.MustCompile(`(?i)bold|black|heavy|demi|CMB|CMSSBX|SFBX|-Medi|CMCSCBX`)
	italicName = regexp.MustCompile(`(?i)ital|obli|slant|CM\w*TI|CM\w*SL\d|SFTI|SFSL|CMSSI|CMBXSL`)
)

// named sets the style that the name of a font indicates.
func (s *style) named(name string) {
	if _, after, isSubset := strings.Cut(name, "+"); isSubset {
		name = after
	}
	s.mono = monoName.MatchString(name)
	s.serif = serifName.MatchString(name) && !sansName.MatchString(name)
	s.math = mathName.MatchString(name)
	s.bold, s.italic = boldName.MatchString(name), italicName.MatchString(name)
}

// families are the preferred fonts by appearance; fonts with the widths of usual ones come first.
var families = map[string][]string{
	"serif": {"liberationserif", "timesnewroman", "tinos", "texgyretermes", "freeserif", "notoserif", "dejavuserif", "georgia", "times"},
	"sans":  {"liberationsans", "arial", "arimo", "helvetica", "texgyreheros", "freesans", "notosans", "dejavusans"},
	"mono":  {"liberationmono", "couriernew", "cousine", "freemono", "notosansmono", "dejavusansmono", "menlo"},
}

// machine returns the fonts of this machine. The search runs once, with the first PDF. Fonts in the binary, which have the
// letters of Europe, are always included.
var machine = sync.OnceValue(func() []*typeface {
	var found []*typeface
	if dir, err := os.MkdirTemp("", "fonts"); err == nil { // the library writes a cache of its findings
		defer func() { _ = os.RemoveAll(dir) }()
		footprints, err := fontscan.SystemFonts(log.New(io.Discard, "", 0), dir)
		if err == nil {
			for _, f := range footprints {
				if !strings.Contains(f.Family, "emoji") && !strings.Contains(f.Family, "lastresort") {
					found = append(found, &typeface{Footprint: f})
				}
			}
		}
	}
	for i, ttf := range [][]byte{goregular.TTF, gobold.TTF, goitalic.TTF, gobolditalic.TTF} {
		f := &typeface{ttf: ttf}
		f.Family, f.Location.Index = "go", uint16(i)
		f.Aspect.Weight, f.Aspect.Style = font.WeightNormal, font.StyleNormal
		if i&1 != 0 {
			f.Aspect.Weight = font.WeightBold
		}
		if i&2 != 0 {
			f.Aspect.Style = font.StyleItalic
		}
		found = append(found, f)
	}
	return found
})

// typeface is a font of this machine. Its file is read on first use. It is safe for concurrent use.
type typeface struct {
	fontscan.Footprint
	ttf []byte // of a font in the binary

	once     sync.Once // guards the fields below
	face     *font.Font
	outlines outlines // nil if the font cannot be used
}

// load reads the font. It returns nil if the font cannot be embedded in a PDF.
func (t *typeface) load() *font.Font {
	t.once.Do(func() {
		data := t.ttf
		if data == nil {
			var err error
			if data, err = os.ReadFile(t.Location.File); err != nil {
				return
			}
		}
		faces, err := font.ParseTTC(bytes.NewReader(data))
		if err != nil || int(t.Location.Index) >= len(faces) {
			return
		}
		if t.outlines = readOutlines(data, int(t.Location.Index)); t.outlines != nil {
			t.face = faces[t.Location.Index].Font
		}
	})
	return t.face
}

func (t *typeface) has(r rune) bool {
	if t.ttf != nil {
		if t.load() == nil {
			return false
		}
		_, ok := t.face.NominalGlyph(r)
		return ok
	}
	return t.Runes.Contains(r)
}

// fonts selects fonts for a document. It is not safe for concurrent use.
type fonts struct {
	faces  map[*typeface]*font.Face
	of     map[*font.Face]*typeface
	chosen map[choice]*font.Face
}

// choice is the key of a selected font.
type choice struct {
	serif, mono, bold, italic bool
	r                         rune
}

func newFonts() *fonts {
	return &fonts{faces: map[*typeface]*font.Face{}, of: map[*font.Face]*typeface{}, chosen: map[choice]*font.Face{}}
}

// find returns the font that has r and looks most like style s, or nil if none has r.
func (f *fonts) find(s style, r rune) *font.Face {
	c := choice{s.serif, s.mono, s.bold, s.italic, r}
	if face, known := f.chosen[c]; known {
		return face
	}
	var face *font.Face
	tried := map[*typeface]bool{}
	for {
		best, least := (*typeface)(nil), 0
		for _, t := range machine() {
			if d := distance(t, s); !tried[t] && (best == nil || d < least) && t.has(r) {
				best, least = t, d
			}
		}
		if best == nil {
			break
		}
		if tried[best] = true; best.load() != nil {
			face = f.face(best)
			break
		}
	}
	f.chosen[c] = face
	return face
}

// face returns a font for use by one goroutine.
func (f *fonts) face(t *typeface) *font.Face {
	if f.faces[t] == nil {
		f.faces[t] = font.NewFace(t.face)
		f.of[f.faces[t]] = t
	}
	return f.faces[t]
}

// distance returns how much a font differs from a style.
func distance(t *typeface, s style) int {
	class := "sans"
	switch {
	case s.mono:
		class = "mono"
	case s.serif:
		class = "serif"
	}
	d := 40
	if strings.Contains(t.Family, class) {
		d = 30
	}
	for i, name := range families[class] {
		if t.Family == name {
			d = i
		}
	}
	if t.ttf != nil {
		d = 20
	}
	if !strings.HasPrefix(t.Family, "noto") && d >= 40 {
		d++
	}
	if isBold := t.Aspect.Weight >= font.WeightSemibold; isBold != s.bold {
		d += 60
	}
	if isItalic := t.Aspect.Style == font.StyleItalic; isItalic != s.italic {
		d += 50
	}
	if t.Aspect.Stretch != 0 && t.Aspect.Stretch != font.StretchNormal || t.Aspect.Weight < font.WeightNormal-50 {
		d += 45
	}
	return d
}

// samples are letters that the languages of a script need.
var samples = map[string]string{
	"Latn": "aé", "Cyrl": "дя", "Grek": "αω", "Arab": "بم", "Hebr": "אש", "Hans": "的们", "Hant": "的們", "Jpan": "のカ日", "Kore": "한글",
	"Deva": "कि", "Beng": "কি", "Guru": "ਕਿ", "Gujr": "કિ", "Orya": "କି", "Taml": "கி", "Telu": "కి", "Knda": "ಕಿ", "Mlym": "കി", "Sinh": "කි",
	"Thai": "กำ", "Laoo": "ກຳ", "Khmr": "កា", "Mymr": "ကာ", "Geor": "აბ", "Armn": "աբ", "Ethi": "አበ", "Tibt": "བོ",
}

// packages are Debian's packages with fonts for a script; fonts-noto-core has the others.
var packages = map[string]string{"Hans": "fonts-droid-fallback", "Hant": "fonts-droid-fallback", "Jpan": "fonts-droid-fallback", "Kore": "fonts-droid-fallback"}

// check fails if this machine has no font for a language.
func (f *fonts) check(code string) error {
	tag, err := language.Parse(code)
	if code == "" || err != nil {
		return nil // letters without a font are detected in the translation
	}
	script, _ := tag.Script()
	for _, r := range samples[script.String()] {
		if f.find(style{}, r) == nil {
			name := packages[script.String()]
			if name == "" {
				name = "fonts-noto-core"
			}
			return document.Refuse(nil, "this machine has no font for %s that can be put into a PDF: install one with TrueType outlines (on Debian %s), or ask for HTML or text", code, name)
		}
	}
	return nil
}

// name returns the name of the font in a document, in which it is the nth one: names of subsets have a prefix of six letters.
func (t *typeface) name(n int) string {
	tag := []byte("TRAAAA")
	for i := len(tag) - 1; n > 0; i, n = i-1, n/26 {
		tag[i] += byte(n % 26)
	}
	name := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && !strings.ContainsRune("()<>[]{}/%", r) {
			return r
		}
		return -1
	}, t.Family)
	return fmt.Sprintf("%s+%s-%d-%d", tag, name, int(t.Aspect.Weight), t.Aspect.Style)
}
