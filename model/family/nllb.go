package family

import (
	"path/filepath"
	"strings"

	"dragoman/model"
	"dragoman/tokenizer"
	"dragoman/tokenizer/spm"
)

// nllb is NLLB-200: facebook/nllb-200-distilled-600M and its sisters. The ids of
// pieces are SentencePiece's, moved by one; after them come the languages and <mask>.
var nllb = &Family{
	Name: "nllb",
	// The last two are what a tokenizer.json is loaded with whatever its family is. Of
	// the families only this one has such files.
	classes: []string{"NllbTokenizer", "NllbTokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend"},
	files:   [][]string{{model.PieceModelFile}, {model.TokenizerFile}},
	config:  nllbConfig,
}

// sourceLast is how the first NLLB-200 tokenizers of transformers framed a source,
// and some fine-tunes were trained.
var sourceLast = tokenizer.Framing{
	After: []tokenizer.Part{tokenizer.End, tokenizer.Source}, Forced: []tokenizer.Part{tokenizer.Target},
}

// nllbLanguages are the 202 languages of NLLB-200, in the order of their tokens: the
// code that users have for one, and its token, the code of FLORES-200. A code is a tag
// of BCP 47: ISO 639's shortest code of the language, and a script where that is not
// the first one of the language.
const nllbLanguages = "ace-Arab=ace_Arab ace=ace_Latn acm=acm_Arab acq=acq_Arab aeb=aeb_Arab af=afr_Latn ajp=ajp_Arab ak=aka_Latn " +
	"am=amh_Ethi apc=apc_Arab ar=arb_Arab ars=ars_Arab ary=ary_Arab arz=arz_Arab as=asm_Beng ast=ast_Latn " +
	"awa=awa_Deva ay=ayr_Latn azb=azb_Arab az=azj_Latn ba=bak_Cyrl bm=bam_Latn ban=ban_Latn be=bel_Cyrl bem=bem_Latn " +
	"bn=ben_Beng bho=bho_Deva bjn-Arab=bjn_Arab bjn=bjn_Latn bo=bod_Tibt bs=bos_Latn bug=bug_Latn bg=bul_Cyrl " +
	"ca=cat_Latn ceb=ceb_Latn cs=ces_Latn cjk=cjk_Latn ckb=ckb_Arab crh=crh_Latn cy=cym_Latn da=dan_Latn de=deu_Latn " +
	"dik=dik_Latn dyu=dyu_Latn dz=dzo_Tibt el=ell_Grek en=eng_Latn eo=epo_Latn et=est_Latn eu=eus_Latn ee=ewe_Latn " +
	"fo=fao_Latn fa=pes_Arab fj=fij_Latn fi=fin_Latn fon=fon_Latn fr=fra_Latn fur=fur_Latn fuv=fuv_Latn gd=gla_Latn " +
	"ga=gle_Latn gl=glg_Latn gn=grn_Latn gu=guj_Gujr ht=hat_Latn ha=hau_Latn he=heb_Hebr hi=hin_Deva hne=hne_Deva " +
	"hr=hrv_Latn hu=hun_Latn hy=hye_Armn ig=ibo_Latn ilo=ilo_Latn id=ind_Latn is=isl_Latn it=ita_Latn jv=jav_Latn " +
	"ja=jpn_Jpan kab=kab_Latn kac=kac_Latn kam=kam_Latn kn=kan_Knda ks=kas_Arab ks-Deva=kas_Deva ka=kat_Geor " +
	"kr-Arab=knc_Arab kr=knc_Latn kk=kaz_Cyrl kbp=kbp_Latn kea=kea_Latn km=khm_Khmr ki=kik_Latn rw=kin_Latn " +
	"ky=kir_Cyrl kmb=kmb_Latn kg=kon_Latn ko=kor_Hang ku=kmr_Latn lo=lao_Laoo lv=lvs_Latn lij=lij_Latn li=lim_Latn " +
	"ln=lin_Latn lt=lit_Latn lmo=lmo_Latn ltg=ltg_Latn lb=ltz_Latn lua=lua_Latn lg=lug_Latn luo=luo_Latn lus=lus_Latn " +
	"mag=mag_Deva mai=mai_Deva ml=mal_Mlym mr=mar_Deva min=min_Latn mk=mkd_Cyrl mg=plt_Latn mt=mlt_Latn mni=mni_Beng " +
	"mn=khk_Cyrl mos=mos_Latn mi=mri_Latn ms=zsm_Latn my=mya_Mymr nl=nld_Latn nn=nno_Latn nb=nob_Latn ne=npi_Deva " +
	"nso=nso_Latn nus=nus_Latn ny=nya_Latn oc=oci_Latn om=gaz_Latn or=ory_Orya pag=pag_Latn pa=pan_Guru pap=pap_Latn " +
	"pl=pol_Latn pt=por_Latn prs=prs_Arab ps=pbt_Arab qu=quy_Latn ro=ron_Latn rn=run_Latn ru=rus_Cyrl sg=sag_Latn " +
	"sa=san_Deva sat=sat_Beng scn=scn_Latn shn=shn_Mymr si=sin_Sinh sk=slk_Latn sl=slv_Latn sm=smo_Latn sn=sna_Latn " +
	"sd=snd_Arab so=som_Latn st=sot_Latn es=spa_Latn sq=als_Latn sc=srd_Latn sr=srp_Cyrl ss=ssw_Latn su=sun_Latn " +
	"sv=swe_Latn sw=swh_Latn szl=szl_Latn ta=tam_Taml tt=tat_Cyrl te=tel_Telu tg=tgk_Cyrl tl=tgl_Latn th=tha_Thai " +
	"ti=tir_Ethi taq=taq_Latn taq-Tfng=taq_Tfng tpi=tpi_Latn tn=tsn_Latn ts=tso_Latn tk=tuk_Latn tum=tum_Latn " +
	"tr=tur_Latn tw=twi_Latn tzm=tzm_Tfng ug=uig_Arab uk=ukr_Cyrl umb=umb_Latn ur=urd_Arab uz=uzn_Latn vec=vec_Latn " +
	"vi=vie_Latn war=war_Latn wo=wol_Latn xh=xho_Latn yi=ydd_Hebr yo=yor_Latn yue=yue_Hant zh=zho_Hans " +
	"zh-Hant=zho_Hant zu=zul_Latn"

// fairseq has the special tokens that stand before the pieces.
var fairseq = []string{"<s>", "<pad>", "</s>", "<unk>"}

// nllbConfig reads a tokenizer of NLLB-200.
func nllbConfig(dir string, s settings, files []string) (config tokenizer.Config, err error) {
	if files[0] == model.TokenizerFile {
		config, err = readTokenizer(dir)
	} else {
		config, err = nllbPieces(dir)
	}
	config.Framing = sourceFirst
	if s.LegacySuffixes {
		config.Framing = sourceLast
	}
	return config, err
}

// nllbPieces reads the SentencePiece model of NLLB-200.
func nllbPieces(dir string) (tokenizer.Config, error) {
	pieces, err := spm.Open(filepath.Join(dir, model.PieceModelFile))
	if err != nil {
		return tokenizer.Config{}, err
	}
	config := tokenizer.Config{Pieces: pieces, Vocabulary: map[string]int64{}, Unused: 1}
	for id, token := range fairseq {
		config.Vocabulary[token] = int64(id)
	}
	// SentencePiece has <unk>, <s> and </s> as the first three.
	for id := int32(3); int(id) < pieces.Size(); id++ {
		config.Vocabulary[pieces.Piece(id)] = int64(id) + 1
	}
	first := int64(pieces.Size()) + 1
	for i, pair := range strings.Fields(nllbLanguages) {
		code, _, _ := strings.Cut(pair, "=")
		config.Languages = append(config.Languages, tokenizer.Language{Code: code, ID: first + int64(i)})
	}
	return config, nil
}
