package spm

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/text/lineartest"
	"dragoman/tokenizer/internal/goldentest"
)

// FuzzReadModel parses damaged files. Accepted files must encode and decode without panics.
func FuzzReadModel(f *testing.F) {
	small := newModelFile()
	f.Add(small.raw, "a b <unk> \xff")
	f.Add(newModelFile().charsmap(rawCharsmap("b\x00 \x00", oneRule('q', 0)...)).raw, "qaq")
	f.Add(newModelFile().trainer(varint(24, 1)).normalizer(varint(5, 0)).raw, " a  b ")
	f.Add(withBytes(unigramFile().piece("<x>", -1, userPiece), bytePiece).raw, "<x>é\x00<0x00>")
	for _, ref := range references(f)[2:] { // the variants, mostly a few KB each
		f.Add(ref.file, ref.records[0].Input())
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		model, err := Parse(file)
		if err != nil {
			return
		}
		for _, s := range []string{text, "Hello 世界\u0301 \x00\xff\u2581  </s>"} {
			requireCover(t, model, []byte(s))
			normalized := model.AppendNormalized(nil, s)
			requireCover(t, model, normalized)
			require.Equal(t, plainly(model, s), string(normalized))
			if model.unigram != nil {
				require.Equal(t, plainViterbi(model, normalized), model.AppendTokens(nil, normalized))
			}
			model.Decode(model.Encode(s))
		}
	})
}

// FuzzNormalize compares the normalizer's shortcuts with the plain walk, and
// checks that tokens cover the text.
func FuzzNormalize(f *testing.F) {
	for _, r := range goldentest.Read(f, "../testdata/hostile.jsonl.gz") {
		if len(r.Input()) < 100 {
			f.Add(r.Input())
		}
	}
	model, err := open(bundledModel)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		normalized := model.AppendNormalized(nil, text)
		require.Equal(t, plainly(model, text), string(normalized))
		requireCover(t, model, normalized)
	})
}

// FuzzUnigram splits texts with trained models. With byte fallback no piece is unknown, so decoding restores the normalized
// text.
func FuzzUnigram(f *testing.F) {
	for _, r := range goldentest.Read(f, "../testdata/hostile.jsonl.gz") {
		if len(r.Input()) < 100 {
			f.Add(r.Input())
		}
	}
	var models []*Model
	for _, ref := range references(f)[2:] {
		if model, err := Parse(ref.file); err == nil && (model.unigram != nil || model.bytes != nil) {
			models = append(models, model)
		}
	}
	require.Len(f, models, 5)
	f.Fuzz(func(t *testing.T, text string) {
		for _, model := range models {
			normalized := model.AppendNormalized(nil, text)
			require.Equal(t, plainly(model, text), string(normalized))
			requireCover(t, model, normalized)
			if model.unigram != nil {
				require.Equal(t, plainViterbi(model, normalized), model.AppendTokens(nil, normalized))
			}
			if decoded := model.Decode(model.Encode(text)); model.bytes != nil {
				require.Equal(t, strings.TrimLeft(strings.ReplaceAll(string(normalized), space, " "), " "), strings.TrimLeft(decoded, " "))
			}
		}
	})
}

// plainViterbi is SentencePiece's EncodeOptimized without a trie and without cuts.
func plainViterbi(m *Model, text []byte) []Token {
	ids := map[string]int32{}
	for id, kind := range m.kinds {
		if kind == normalPiece || kind == userPiece {
			ids[m.pieces.at(int32(id))] = int32(id)
		}
	}
	best := make([]step, len(text)+1)
	for i := range best[1:] {
		best[i+1].from = -1
	}
	for at := 0; at < len(text); {
		if here := best[at].score; here < -maxScore || here > maxScore {
			for i := at; i < len(best); i++ {
				best[i].score -= here
			}
		}
		size, single := min(characterSize(text[at]), len(text)-at), false
		reach := func(end int, score float32, id int32) {
			if score += best[at].score; best[end].from < 0 || score > best[end].score {
				best[end] = step{score, int32(at), id}
			}
		}
		for end := at + 1; end <= min(len(text), at+maxPieceBytes); end++ {
			if id, ok := ids[string(text[at:end])]; ok {
				reach(end, m.unigram.scores[id], id)
				single = single || end-at == size
			}
		}
		if !single {
			reach(at+size, m.unigram.unknown, unknownID)
		}
		at += size
	}
	var ends []int
	for end := len(text); end > 0; end = int(best[end].from) {
		ends = append(ends, end)
	}
	var tokens []Token
	for _, end := range slices.Backward(ends) {
		if id, from := best[end].id, int(best[end].from); id == unknownID {
			tokens = m.appendUnknown(tokens, 0, text, from, end)
		} else {
			tokens = append(tokens, Token{id, from, end})
		}
	}
	return tokens
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	for _, path := range []string{"testdata/rules.model.gz", "testdata/unigram.model.gz", "testdata/bytes.model.gz", "testdata/phrases.model.gz"} {
		m, err := Parse(unzip(t, path))
		require.NoError(t, err)
		for what, text := range lineartest.Texts("a", "the ", "日", "\u0301", "ﷺ") {
			timed.Assert(path+": "+what, text, func(text string) { _ = m.Decode(m.Encode(text)) })
		}
	}
}
