package spm

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	model, err := Parse(newModelFile().raw)
	require.NoError(t, err)
	assert.Equal(t, 9, model.Size())
	assert.Equal(t, int32(0), model.Unknown())
	assert.Equal(t, "▁a", model.Piece(3))
	assert.EqualValues(t, controlPiece, model.kinds[1])
	assert.EqualValues(t, normalPiece, model.kinds[3])
	for _, id := range []int32{-1, 9, math.MaxInt32} {
		assert.Empty(t, model.Piece(id))
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		file        []byte
		message     string
		unsupported bool
	}{
		"nothing":                     {nil, "it has no pieces", false},
		"another format":              {[]byte("PK\x03\x04 a zip file"), "broken protobuf at byte", false},
		"cut short":                   {newModelFile().raw[:40], "broken protobuf", false},
		"length beyond end":           {[]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, "broken protobuf at byte 0 of 6", false},
		"broken in a piece":           {newModelFile().add(1, []byte{0x0a, 0x05, 'x'}).raw, "piece 9: broken protobuf at byte 0 of 3", false},
		"empty piece":                 {newModelFile().piece("", 0, normalPiece).raw, "piece 9: text is empty", false},
		"piece not UTF-8":             {newModelFile().piece("\xff", 0, normalPiece).raw, `piece 9: text "\xff" is not UTF-8`, false},
		"huge piece":                  {newModelFile().piece(strings.Repeat("x", 257), 0, normalPiece).raw, "text has 257 bytes, at most 256", false},
		"score not a number":          {newModelFile().piece("x", float32(math.NaN()), normalPiece).raw, "piece 9: score is not a number", false},
		"piece twice":                 {newModelFile().piece("ab", 0, normalPiece).raw, `pieces 4 and 9 are both "ab"`, false},
		"piece like control":          {newModelFile().piece("</s>", 0, normalPiece).raw, `pieces 2 and 9 are both "</s>"`, false},
		"two unknown pieces":          {newModelFile().piece("?", 0, unknownPiece).raw, "pieces 0 and 9 are both the unknown piece", false},
		"no unknown piece":            {(&modelFile{}).piece("a", 0, normalPiece).trainer(varint(3, bpeModel)).raw, "none of the pieces", false},
		"word model":                  {newModelFile().trainer(varint(3, 3)).raw, "type 3, only unigram (type 1) and BPE (type 2)", true},
		"byte without fallback":       {newModelFile().piece("<0x00>", 0, bytePiece).raw, `piece 9, "<0x00>", is a byte, but there is no byte fallback`, false},
		"fallback without bytes":      {newModelFile().trainer(varint(35, 1)).raw, "byte fallback, but no piece for the byte 0x00", false},
		"bytes by name only":          {withBytes(newModelFile(), normalPiece).raw, "byte fallback, but no piece for the byte 0x00", false},
		"no byte":                     {withBytes(newModelFile(), bytePiece).piece("<0xff>", 0, bytePiece).raw, `piece 265, "<0xff>", is said to be a byte`, false},
		"user-defined piece":          {newModelFile().piece("<x>", 0, userPiece).raw, "(type 4), which only a unigram model may have", true},
		"unused piece":                {newModelFile().piece("<x>", 0, unusedPiece).raw, "(type 5), which only a unigram model may have", true},
		"no piece for a text":         {(&modelFile{}).piece("<unk>", 0, unknownPiece).raw, "no piece is one that a text can have", false},
		"unigram, a piece twice":      {unigramFile().piece("ab", 0, normalPiece).raw, `pieces 4 and 9 are both "ab"`, false},
		"unigram, like control":       {unigramFile().piece("</s>", 0, normalPiece).raw, `pieces 2 and 9 are both "</s>"`, false},
		"unigram, user-defined twice": {unigramFile().piece("ab", 0, userPiece).raw, `pieces 4 and 9 are both "ab"`, false},
		"infinite score":              {unigramFile().piece("x", float32(math.Inf(-1)), normalPiece).raw, `piece 9, "x", has the score -Inf`, false},
		"NUL in a piece":              {unigramFile().piece("x\x00", 0, normalPiece).raw, `piece 9, "x\x00", has the character NUL`, false},
		"future piece":                {newModelFile().piece("<x>", 0, 77).raw, "has type 77", true},
		"denormalizer":                {newModelFile().add(5, message(2, []byte("xxxx"))).raw, "denormalization rules", true},
		"tiny charsmap":               {newModelFile().charsmap([]byte("abc")).raw, "character map has 3 bytes", false},
		"charsmap size":               {newModelFile().charsmap([]byte("\xff\xff\xff\xffabcd")).raw, "of 8 bytes says that its trie has 4294967295", false},
		"charsmap alignment":          {newModelFile().charsmap([]byte("\x03\x00\x00\x00abcdef")).raw, "its trie has 3", false},
		"value beyond end":            {newModelFile().charsmap(rawCharsmap("x\x00", oneRule('q', 2)...)).raw, "unit 1 points to byte 2 of 2", false},
		"rule not UTF-8":              {newModelFile().charsmap(rawCharsmap("\xff\x00", oneRule('q', 0)...)).raw, "not UTF-8", false},
		"huge replacement":            {newModelFile().charsmap(rawCharsmap(strings.Repeat("x", 300), oneRule('q', 0)...)).raw, "has 300 bytes, at most 256", false},
		"huge file":                   {make([]byte, maxFileBytes+1), "more than 16 MB", false},
		"too many pieces":             {bytes.Repeat(message(1, message(1, []byte("x"))), maxPieces+1), "more than 524288 pieces", false},
	} {
		t.Run(name, func(t *testing.T) {
			model, err := Parse(test.file)
			require.ErrorContains(t, err, test.message)
			assert.Nil(t, model)
			if test.unsupported {
				assert.ErrorIs(t, err, ErrUnsupported)
			} else {
				assert.NotErrorIs(t, err, ErrUnsupported)
			}
		})
	}
}

func TestEncodeSmall(t *testing.T) {
	for name, test := range map[string]struct {
		file *modelFile
		text string
		want []string
	}{
		"best score first":           {newModelFile(), "ab", []string{"▁ab"}},
		"no merge left":              {newModelFile(), "ba", []string{"▁", "b", "a"}},
		"unknown run":                {newModelFile(), "axyzb", []string{"▁a", "xyz", "b"}},
		"unknown run over words":     {(&modelFile{}).piece("<unk>", 0, unknownPiece).piece("a", 0, normalPiece).trainer(varint(3, bpeModel)), "x y", []string{"▁x▁y"}},
		"control piece typed":        {newModelFile(), "</s>", []string{"▁", "</s>"}},
		"control character typed":    {newModelFile().piece("c", 0, controlPiece), "cab", []string{"▁", "c", "ab"}},
		"equal scores, the left":     {newModelFile().piece("aa", -1, normalPiece), "baaa", []string{"▁", "b", "aa", "a"}},
		"character only in pieces":   {newModelFile().piece("xy", 9, normalPiece), "xyx", []string{"▁", "xy", "x"}},
		"a rule":                     {newModelFile().charsmap(rawCharsmap("b\x00", oneRule('q', 0)...)), "aq", []string{"▁ab"}},
		"a rule that removes":        {newModelFile().charsmap(rawCharsmap("b\x00\x00", oneRule('q', 2)...)), "qaqbq", []string{"▁ab"}},
		"a rule that gives a space":  {newModelFile().charsmap(rawCharsmap(" \x00", oneRule('q', 0)...)), "qaq qaqq", []string{"▁a", "▁a"}},
		"unended replacement":        {newModelFile().charsmap(rawCharsmap("b", oneRule('q', 0)...)), "aq", []string{"▁ab"}},
		"nothing":                    {newModelFile(), "", []string{}},
		"only what is cut":           {newModelFile(), "  ▁ ", []string{}},
		"broken UTF-8":               {newModelFile(), "a\xe3\x81", []string{"▁a", "\ufffd\ufffd"}},
		"unknown fields are skipped": {newModelFile().add(99, []byte("new")).add(4, nil), "a", []string{"▁a"}},
		"messages are merged":        {newModelFile().trainer(varint(24, 1)).normalizer(varint(3, 1)), "a", []string{"a", "▁"}},
	} {
		t.Run(name, func(t *testing.T) {
			model, err := Parse(test.file.raw)
			require.NoError(t, err)
			assert.Equal(t, test.want, model.Encode(test.text))
		})
	}
}

// TestUnigramSmall compares with the pieces of sentencepiece 0.2.3, except for the small character map, which sentencepiece
// refuses.
func TestUnigramSmall(t *testing.T) {
	for name, test := range map[string]struct {
		file *modelFile
		text string
		want []string
	}{
		"best sum":                     {unigramFile(), "abb", []string{"▁ab", "b"}},
		"equal sums, the longest last": {unigramFile().piece("aa", -5, normalPiece), "baaa", []string{"▁", "b", "a", "aa"}},
		"rounded sums are equal":       {unigramFile().piece("x", -1e9, normalPiece).piece("xa", -1e9-16, normalPiece), "xa", []string{"▁", "xa"}},
		"unknown run":                  {unigramFile(), "axyzb", []string{"▁a", "xyz", "b"}},
		"unknown, rather than part":    {unigramFile().piece("xy", 0, normalPiece), "xyx", []string{"▁", "xy", "x"}},
		"control piece typed":          {unigramFile(), "</s>", []string{"▁", "</s>"}},
		"user-defined, not normalized": {unigramFile().piece("qq", 0, userPiece).charsmap(rawCharsmap("b\x00", oneRule('q', 0)...)), "qqqa", []string{"▁", "qq", "b", "a"}},
		"user-defined, not split":      {unigramFile().piece("ba", -99, userPiece), "aba", []string{"▁a", "ba"}},
		"unused":                       {unigramFile().piece("bab", 9, unusedPiece), "bab", []string{"▁", "b", "ab"}},
		"bytes":                        {withBytes(unigramFile(), bytePiece), "aé<0x41>", []string{"▁a", "<0xC3>", "<0xA9>", "<0x3C>", "<0x30>", "<0x78>", "<0x34>", "<0x31>", "<0x3E>"}},
		"bytes of BPE":                 {withBytes(newModelFile(), bytePiece), "aé", []string{"▁a", "<0xC3>", "<0xA9>"}},
		"NUL that stands for a byte":   {withBytes(unigramFile(), bytePiece).piece("\x00", 0, normalPiece), "a\x00", []string{"▁a", "<0x00>"}},
		"nothing":                      {unigramFile(), "", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			model, err := Parse(test.file.raw)
			require.NoError(t, err)
			assert.Equal(t, test.want, model.Encode(test.text))
		})
	}
}

// TestUnigramLongText compares with sentencepiece 0.2.3 on long texts: sums of large scores are rounded, and beyond -100,000
// scores begin again.
func TestUnigramLongText(t *testing.T) {
	model, err := Parse(unigramFile().piece("c", -1, normalPiece).piece("d", -1, normalPiece).piece("cd", -2.001, normalPiece).raw)
	require.NoError(t, err)
	for letters, want := range map[int][]string{0: {"c", "d"}, 19_900: {"cd"}, 20_100: {"c", "d"}} {
		pieces := model.Encode(strings.Repeat("b", letters) + "cd")
		assert.Equal(t, want, pieces[letters+1:], "behind %d letters of the score -5", letters)
	}
}

// TestUnigramMemory splits long texts of words, and of unknown characters without a space. Only a stretch that pieces cross is
// held in memory as a whole.
func TestUnigramMemory(t *testing.T) {
	model, err := Parse(unigramFile().piece("aa", -1, normalPiece).raw)
	require.NoError(t, err)
	for text, most := range map[string]int{"ab ba ": 32, "☃": 32, "\x00\xff": 32, "a": 1 << 18} {
		ws := new(workspace)
		tokens := model.unigram.appendTokens(model, nil, ws, model.AppendNormalized(nil, strings.Repeat(text, 100_000)))
		assert.NotEmpty(t, tokens)
		assert.LessOrEqual(t, cap(ws.steps), most, "%q", text)
	}
}

func TestDecodeUnigram(t *testing.T) {
	model, err := Parse(withBytes(unigramFile(), bytePiece).piece("▁u", 0, unusedPiece).raw)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		pieces []string
		want   string
	}{
		"characters of bytes": {[]string{"▁a", "<0xC3>", "<0xA9>", "<0xE6>", "<0x97>", "<0xA5>", "b"}, "aé日b"},
		"broken bytes":        {[]string{"<0xC3>", "▁a", "<0xE6>", "<0x97>"}, "\ufffd a\ufffd\ufffd"},
		"a control piece":     {[]string{"<0xC3>", "</s>", "<0xA9>"}, "\ufffd\ufffd"},
		"an unused piece":     {[]string{"▁u", "▁u"}, "u u"},
		"a piece cut":         {[]string{"▁a", "▁b"}, "a▁b"},
		"an empty string":     {[]string{"", "▁ab"}, "ab"},
	} {
		assert.Equal(t, test.want, model.Decode(test.pieces), name)
	}
}

// TestTrieFindsPieces builds tries of random strings, with few and with all bytes, and of one string of the maximum length of a
// piece.
func TestTrieFindsPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, alphabet := range []int{2, 40, 255} {
		pieces := map[string]int32{strings.Repeat("x", maxPieceBytes): 0}
		list, ids := slices.Collect(maps.Keys(pieces)), []int32{0}
		for range 5000 {
			piece := make([]byte, 1+rng.IntN(12))
			for i := range piece {
				piece[i] = byte(1 + rng.IntN(alphabet))
			}
			if _, taken := pieces[string(piece)]; !taken {
				id := int32(len(list))
				pieces[string(piece)], list, ids = id, append(list, string(piece)), append(ids, id)
			}
		}
		made, err := newTrie(textsIn(list), ids, false)
		require.NoError(t, err)
		for _, piece := range list {
			for _, text := range []string{piece, piece[1:], piece + "\x00", piece[:len(piece)/2]} {
				wantLength, want := 0, uint32(0)
				for n := range len(text) + 1 {
					if id, ok := pieces[text[:n]]; ok {
						wantLength, want = n, uint32(id)
					}
				}
				length, id := made.prefix(text)
				require.Equal(t, wantLength, length, "%q", text)
				require.Equal(t, want, id)
			}
		}
	}
}

// TestTrieFarOffsets builds a trie whose nodes are further apart than 21 bits can express.
func TestTrieFarOffsets(t *testing.T) {
	var list []string
	var ids []int32
	tail := strings.Repeat("x", maxPieceBytes-2)
	for i := range 1 << 14 {
		list, ids = append(list, string([]byte{byte(1 + i>>7), byte(1 + i&127)})+tail), append(ids, int32(i))
	}
	made, err := newTrie(textsIn(list), ids, false)
	require.NoError(t, err)
	require.Greater(t, len(made), 1<<21)
	for id, piece := range list {
		length, found := made.prefix(piece)
		require.Equal(t, maxPieceBytes, length)
		require.EqualValues(t, id, found)
	}
}

func TestDecodeSmall(t *testing.T) {
	model, err := Parse(newModelFile().raw)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		pieces []string
		want   string
	}{
		"nothing":                    {nil, ""},
		"words":                      {[]string{"▁a", "▁b"}, "a▁b"}, // "▁b" is no piece and stays as it is
		"spaces in front":            {[]string{"▁", "▁", "▁a", "▁a"}, "a a"},
		"control pieces":             {[]string{"<s>", "▁a", "</s>", "▁a"}, "a a"},
		"the unknown piece":          {[]string{"▁a", "<unk>", "b"}, "a ⁇ b"},
		"unknown text":               {[]string{"▁a", "雪", "b"}, "a雪b"},
		"an empty string":            {[]string{"", "▁a"}, "a"},
		"unknown text, then a space": {[]string{"x", "▁a"}, "x a"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, model.Decode(test.pieces))
		})
	}
}

// TestDecodeKeepsExtraSpaces has a model that keeps extra spaces: decoding removes only the space that encoding adds in front.
func TestDecodeKeepsExtraSpaces(t *testing.T) {
	model, err := Parse(newModelFile().normalizer(varint(4, 0)).raw)
	require.NoError(t, err)
	assert.Equal(t, "  a", model.Decode([]string{"▁", "▁", "▁a"}))
	assert.Equal(t, " a", model.Decode([]string{"<s>", "▁", "▁a"}))
}

func TestUnknownSurface(t *testing.T) {
	model, err := Parse(newModelFile().trainer(message(44, []byte("[?]"))).raw)
	require.NoError(t, err)
	assert.Equal(t, "a[?]", model.Decode([]string{"▁a", "<unk>"}))
}

// TestBrokenByteIsNoCharacter passes invalid UTF-8 to AppendTokens. An invalid byte decodes to U+FFFD, but is shorter.
func TestBrokenByteIsNoCharacter(t *testing.T) {
	model, err := Parse(newModelFile().piece("\ufffd", 0, normalPiece).raw)
	require.NoError(t, err)
	requireCover(t, model, []byte("\xff\xe3\x81"))
	tokens := model.AppendTokens(nil, []byte("\ufffd\xff"))
	assert.Equal(t, []Token{{9, 0, 3}, {model.Unknown(), 3, 4}}, tokens)
}

// TestTrieBounds has tries with offsets out of bounds, where no rule may be found.
func TestTrieBounds(t *testing.T) {
	for name, units := range map[string][]unit{
		"children":      {200 << 10},
		"far children":  {1<<31 - 1},
		"grandchildren": {0, 'a': 'a' | 1<<20},
		"leaf":          {0, 'a': 'a' | 1<<8 | 1<<20},
	} {
		t.Run(name, func(t *testing.T) {
			model, err := Parse(newModelFile().charsmap(rawCharsmap("b\x00", units...)).raw)
			require.NoError(t, err)
			assert.Equal(t, []string{"▁ab", "▁a"}, model.Encode("ab a"))
		})
	}
}

// TestCyclicTrie walks a trie with cycles. Only bounds keep such a walk inside the text.
func TestCyclicTrie(t *testing.T) {
	units := make([]unit, 256)
	units[0] = 1 << 10 // base 1, as in all other nodes
	for i := 2; i < len(units); i++ {
		units[i] = unit(i^1) | 1<<8 | unit(i^1)<<10
	}
	units[1] = 1 << 31 // every node's leaf
	model, err := Parse(newModelFile().charsmap(rawCharsmap("b\x00", units...)).raw)
	require.NoError(t, err)
	assert.Equal(t, []string{"▁", "b"}, model.Encode("any text at all"))
}

func textsIn(list []string) texts {
	pieces := make([]pieceProto, len(list))
	for i, text := range list {
		pieces[i].text = text
	}
	return textsOf(pieces)
}
