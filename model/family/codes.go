package family

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

func separatesCodes(r rune) bool { return strings.ContainsRune(" ,;+\t\r", r) }

// namesIn returns the codes in an entry of a list: one, or several such as deu_eng_fra.
func namesIn(entry string) []string {
	if _, ok := codeOf(entry); ok {
		return []string{entry}
	}
	return strings.Split(entry, "_")
}

// languagesOf returns the languages of a list, sorted, without unregistered codes, or none if the list has a group of languages.
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

// tagForm matches a language with an optional script and region. Checked because the library also parses two languages as one.
var tagForm = regexp.MustCompile(`^[A-Za-z]{2,3}([_-][A-Za-z]{4})?([_-]([A-Za-z]{2}|[0-9]{3}))?$`)

// codeOf converts a code of ISO 639, with an optional script and region, to the shortest tag of BCP 47: fra and fr to fr,
// cmn_Hans to zh, cmn_Hant to zh-Hant, pt_br to pt-BR. ok is false if name is not a language.
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

// collections are the codes of groups of languages (ISO 639-5), and of no or many languages.
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
