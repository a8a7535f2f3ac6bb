package family

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

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
