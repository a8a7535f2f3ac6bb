package family

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/text/language"

	"dragoman/model"
	"dragoman/model/ctranslate2"
	"dragoman/model/object"
	"dragoman/tokenizer"
	"dragoman/tokenizer/spm"
)

// marian is Opus-MT: Helsinki-NLP/opus-mt-en-fr and its sisters. Sources and translations have
// SentencePiece models of their own, whose pieces have the ids of vocab.json, or of one
// vocabulary for each. A model with several targets has a token such as >>fra<< for each, which
// begins the source.
var marian = &Family{
	Name:     "marian",
	classes:  []string{"MarianTokenizer"},
	networks: marianNetworks,
	files: [][]string{
		{model.SourcePiecesFile, model.TargetPiecesFile, model.VocabFile, model.TargetVocabFile},
		{model.SourcePiecesFile, model.TargetPiecesFile, model.VocabFile},
	},
	directions: marianDirections,
	config:     marianConfig,
}

// marianConfig reads a tokenizer of Opus-MT.
func marianConfig(dir string, s settings, files, languages []string) (c tokenizer.Config, err error) {
	var g errgroup.Group
	for name, pieces := range map[string]**spm.Model{model.SourcePiecesFile: &c.Pieces, model.TargetPiecesFile: &c.TargetPieces} {
		g.Go(func() (err error) {
			*pieces, err = readPieces(model.Folder(dir), name)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return c, err
	}
	if c.Vocabulary, err = readVocabulary(model.Folder(dir), model.VocabFile); err != nil {
		return c, err
	}
	if s.SeparateVocabs {
		if !slices.Contains(files, model.TargetVocabFile) {
			return c, fmt.Errorf("%w: %s is not in %s, which has separate_vocabs", ErrIncomplete, model.TargetVocabFile, dir)
		}
		if c.TargetVocabulary, err = readVocabulary(model.Folder(dir), model.TargetVocabFile); err != nil {
			return c, err
		}
	}
	c.Sparse = true // pieces that look like numbers to YAML, such as 1_000, were lost when models were converted
	c.Special = []string{"</s>", "<unk>"}
	for token := range c.Vocabulary {
		if token == "<pad>" || marianTokens.has(token) {
			c.Special = append(c.Special, token)
		}
	}
	c.Framing = onlyEnd
	targets := marianTokens.languages(c.Vocabulary)
	if len(targets) > 0 {
		c.Framing = targetFirst
	}
	c.Languages = withTokens(languages, targets)
	return c, nil
}

// withTokens are languages with the ids of their tokens, where they have one.
func withTokens(codes []string, tokens map[string]int64) (list []tokenizer.Language) {
	for _, code := range codes {
		id, ok := tokens[code]
		if !ok {
			id = -1
		}
		list = append(list, tokenizer.Language{Code: code, ID: id})
	}
	return list
}

// targetTokens are the tokens of target languages, by what stands around a language.
type targetTokens struct{ open, close string }

var marianTokens = targetTokens{">>", "<<"}

func (t targetTokens) has(token string) bool {
	return strings.HasPrefix(token, t.open) && strings.HasSuffix(token, t.close)
}

// languages are the ids of the tokens by their languages. Of several for a language, such as
// >>cmn<< and >>cmn_Hans<<, the first one is taken: pieces are in the order of how often they were
// met in training.
func (t targetTokens) languages(vocabulary map[string]int64) map[string]int64 {
	tokens := map[string]int64{}
	for token, id := range vocabulary {
		if !t.has(token) {
			continue
		}
		if code, ok := codeOf(strings.TrimSuffix(token[len(t.open):], t.close)); ok {
			if other, taken := tokens[code]; !taken || id < other {
				tokens[code] = id
			}
		}
	}
	return tokens
}

// marianDirections finds the languages of an Opus-MT model: those it translates into by their
// tokens, the others by the first that tells of the setting, tokenizer_config.json, the model
// card and the model's name.
func marianDirections(files model.Files, s settings, name string, set Directions) (Directions, error) {
	vocabulary, err := readVocabulary(files, model.VocabFile)
	if err != nil {
		return Directions{}, err
	}
	card, err := readCard(files)
	if err != nil {
		return Directions{}, err
	}
	d, err := marianTokens.into(vocabulary, set, model.VocabFile)
	if err != nil {
		return d, err
	}
	return d.completed(s, cardDirections(card), name)
}

// completed are the directions where those that are not known are, in this order, in tokenizer_config.json, on the model card
// or in the model's name.
func (d Directions) completed(s settings, card Directions, name string) (Directions, error) {
	return d.or(Directions{languagesOf(s.SourceLanguage), languagesOf(s.TargetLanguage)}, card, pairOf(name)).known()
}

// known fails where one side's languages are not known.
func (d Directions) known() (Directions, error) {
	if len(d.Sources) == 0 || len(d.Targets) == 0 {
		return d, errors.New("the model's files and name do not tell which languages it translates between: " +
			"set MODEL_LANGUAGES, such as en:fr, or fr,es,it:en where there are several")
	}
	return d, nil
}

// into adds the targets that a vocabulary, of this file, has tokens for where none are set. Those that are set
// need a token, if there are any.
func (t targetTokens) into(vocabulary map[string]int64, d Directions, file string) (Directions, error) {
	tokens := slices.Sorted(maps.Keys(t.languages(vocabulary)))
	if len(d.Targets) == 0 {
		d.Targets = tokens
	}
	if len(tokens) > 0 {
		return d, checkTokens(d.Targets, tokens, file)
	}
	return d, nil
}

// checkTokens fails where a language that needs a token is not among those that have one in a file.
func checkTokens(need, have []string, file string) error {
	for _, code := range need {
		if !slices.Contains(have, code) {
			return fmt.Errorf("MODEL_LANGUAGES has %q, for which %s has no token", code, file)
		}
	}
	return nil
}

// pairOf are the languages at the end of the name of a repository, with its revision or without, of a folder or of an Argos
// package: opus-mt-en-fr.
func pairOf(name string) Directions {
	base, _, _ := strings.Cut(path.Base(filepath.ToSlash(name)), "@")
	parts := strings.Split(strings.TrimSuffix(base, ctranslate2.PackageExt), "-")
	if len(parts) < 2 {
		return Directions{}
	}
	return Directions{languagesOf(parts[len(parts)-2]), languagesOf(parts[len(parts)-1])}
}

func separatesCodes(r rune) bool { return strings.ContainsRune(" ,;+\t\r", r) }

// namesIn are the codes in an entry of a list: itself, or several such as deu_eng_fra.
func namesIn(entry string) []string {
	if _, ok := codeOf(entry); ok {
		return []string{entry}
	}
	return strings.Split(entry, "_")
}

// languagesOf are the languages of a list, sorted; none where it has a group of languages: those
// of the group cannot be told. What is in no registry is left out.
func languagesOf(list string) (codes []string) {
	for _, entry := range strings.FieldsFunc(list, separatesCodes) {
		names := namesIn(entry)
		if len(names) > 1 && entry == strings.ToUpper(entry) { // NORTH_EU
			return nil
		}
		for _, name := range names {
			if collections[strings.ToLower(name)] {
				return nil
			}
			if code, ok := codeOf(name); ok {
				codes = append(codes, code)
			}
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// tagForm is a language, a script or none, a region or none: the library would also take two
// languages for one.
var tagForm = regexp.MustCompile(`^[A-Za-z]{2,3}([_-][A-Za-z]{4})?([_-]([A-Za-z]{2}|[0-9]{3}))?$`)

// codeOf turns a code of ISO 639, with a script or a region or without, into the shortest tag of
// BCP 47: fra and fr into fr, cmn_Hans into zh, cmn_Hant into zh-Hant, pt_br into pt-BR. ok is false
// for what is no language.
func codeOf(name string) (code string, ok bool) {
	if !tagForm.MatchString(name) {
		return "", false
	}
	tag, err := language.All.Parse(strings.ReplaceAll(name, "_", "-"))
	base, script, region := tag.Raw()
	code = base.String()
	if err != nil || code == "und" || collections[code] {
		return "", false
	}
	if usual, _ := language.Make(code).Script(); script.String() != "Zzzz" && script != usual {
		code += "-" + script.String()
	}
	if region.String() != "ZZ" {
		code += "-" + region.String()
	}
	return code, true
}

// collections are the codes of ISO 639-5, which are of groups of languages, and of none or many.
var collections = setOf(`aav afa alg alv apa aqa aql art ath auf aus awd azc bad bai bat ber bih bnt btk cai cau cba ccn
	ccs cdc cdd cel cmc cpe cpf cpp crp csu cus day dmn dra egx esx euq fiu fox gem gme gmq gmw grk hmx hok hyx iir ijo
	inc ine ira iro itc jpx kar kdo khi kro map mis mkh mno mul mun myn nah nai ngf nic nub omq omv oto paa phi plf poz
	pqe pqw pra qwe roa sai sal sdv sem sgn sio sit sla smi son sqj ssa syd tai tbq trk tup tut tuw und urj wak wen xgn
	xnd ypk zhx zle zls zlw znd zxx`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// Directions are the languages that a model translates from and into, sorted. None are all of
// its tokenizer's.
type Directions struct{ Sources, Targets []string }

// All are the languages of both sides, sorted.
func (d Directions) All() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(d.Sources, d.Targets))))
}

// or takes each side that is not known from the first that knows it.
func (d Directions) or(told ...Directions) Directions {
	for _, other := range told {
		if len(d.Sources) == 0 {
			d.Sources = other.Sources
		}
		if len(d.Targets) == 0 {
			d.Targets = other.Targets
		}
	}
	return d
}

// ParseDirections reads MODEL_LANGUAGES: codes before and behind a colon, en:fr or fr,es:en, either
// of which may be missing.
func ParseDirections(text string) (d Directions, err error) {
	if text == "" {
		return d, nil
	}
	from, to, ok := strings.Cut(text, ":")
	read := func(side string) (codes []string) {
		for name := range strings.SplitSeq(side, ",") {
			code, known := codeOf(strings.TrimSpace(name))
			if known {
				codes = append(codes, code)
			}
			ok = ok && (known || side == "")
		}
		slices.Sort(codes)
		return slices.Compact(codes)
	}
	if d = (Directions{read(from), read(to)}); !ok {
		return d, fmt.Errorf("MODEL_LANGUAGES is %q: use codes of languages such as en:fr, or fr,es,it:en", text)
	}
	return d, nil
}

// Directions finds the languages that a checkpoint translates between. name is that of its
// repository or folder; set is what the user has said, which goes first.
func (f *Family) Directions(files model.Files, name string, set Directions) (Directions, error) {
	if f.directions == nil {
		if len(set.All()) > 0 {
			return Directions{}, fmt.Errorf("MODEL_LANGUAGES is set, but a model of the family %s says itself which languages it has: leave it out", f.Name)
		}
		return Directions{}, nil
	}
	s, err := readSettings(files)
	if err != nil {
		return Directions{}, err
	}
	return f.directions(files, s, name, set)
}

// readVocabulary reads the ids of pieces.
func readVocabulary(files model.Files, name string) (map[string]int64, error) {
	raw, err := files.Read(name)
	if err != nil {
		return nil, err
	}
	const entryBytes = 30 // of the file, on average: the map need not grow
	ids := make(map[string]int64, len(raw)/entryBytes)
	if err := json.Unmarshal(raw, &ids); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return ids, nil
}

// MarianNPZ is the model_type of Opus-MT's models in Marian's own form, as package model/convert writes them.
const MarianNPZ = "marian-npz"

// marianNetworks are those of MarianMTModel, and of Marian itself.
var marianNetworks = []*Network{
	{modelType: "marian", models: "Opus-MT", fixed: marianSettings, parts: marianParts, ReadsPositions: true},
	{modelType: MarianNPZ, fixed: marianSettings, parts: marianOwnParts},
}

var marianSettings = []setting{
	{"normalize_before", "false"},
	{"add_final_layer_norm", "false"},
	{"normalize_embedding", "false"},
	{"static_position_embeddings", "true"},
	{"add_bias_logits", "false"},
}

// marianParts reads what MarianMTModel has: post-norm layers, positions from 0 and a bias
// of the logits. config.json's vocab_size is the encoder's.
func marianParts(o *object.Fields, spec *model.Spec) {
	o.Nullable = true
	spec.PostNorm, spec.Positions, spec.LogitsBias = true, model.OriginalPositions, true
	spec.Activation = parseActivation(o)
	source := spec.VocabSize
	spec.VocabSize = o.Integer("decoder_vocab_size", 4, model.LimitVocab, source)
	if !o.Boolean("share_encoder_decoder_embeddings", true) {
		spec.SourceVocab = source
	} else if spec.VocabSize != source {
		o.Fail("decoder_vocab_size", "it must be \"vocab_size\", %d, where \"share_encoder_decoder_embeddings\" is true", source)
	}
	last := spec.VocabSize - 1
	spec.Pad = int64(o.Size("pad_token_id", 0, last))
	spec.EOS = parseEOS(o, last, 0)
	spec.BOS = int64(o.Integer("bos_token_id", 0, last, int(spec.EOS)))
	spec.DecoderStart = int64(o.Integer("decoder_start_token_id", 0, last, int(spec.Pad)))
}

// marianOwnParts reads what Marian itself has: other positions and norms than MarianMTModel.
func marianOwnParts(o *object.Fields, spec *model.Spec) {
	marianParts(o, spec)
	spec.Positions, spec.Epsilon = model.PlainPositions, 1e-6
}
