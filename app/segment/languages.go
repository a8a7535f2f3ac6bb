package segment

// sameAs are languages that use another one's rules.
var sameAs = map[string]string{
	"": "en", "gl": "es", "ast": "es", "oc": "fr", "br": "fr", "lb": "de", "fy": "nl", "nb": "no",
	"bs": "hr", "mk": "bg", "ms": "id", "jv": "id", "su": "id", "mr": "hi", "ne": "hi", "az": "tr",
	// of NLLB-200
	"nn": "no", "li": "nl", "szl": "pl", "sc": "it", "scn": "it", "fur": "it", "lij": "it", "lmo": "it", "vec": "it",
	"ltg": "lv", "crh": "tr", "tk": "tr", "tt": "ru", "awa": "hi", "bho": "hi", "hne": "hi", "mag": "hi", "mai": "hi", "sa": "hi",
	"acm": "ar", "acq": "ar", "aeb": "ar", "ajp": "ar", "apc": "ar", "ars": "ar", "ary": "ar", "arz": "ar",
}

// sources are the languages' rules. Words are in small letters; abbreviations are
// without the last full stop, and without the spaces between their parts.
var sources = map[string]source{
	"en": {
		titles: "wm geo chas thos messrs mmes mx drs rev revd hon gen col lt maj capt cmdr adm sgt cpl pvt sen rep gov pres amb " +
			"supt insp det sts msgr e.g eg i.e ie cf viz ca approx esp resp incl excl univ",
		counters: "nos p pp pg vol vols fig figs ch chap sec sect art arts para eq ex jan feb mar apr jun jul " +
			"aug sep sept oct nov dec ver op c ext rm apt dist ps",
		either: "llc plc esq ave blvd rd hwy u.s u.s.a u.k u.n e.u b.c a.d m.d b.a m.a d.c al eds est ft mt st oz " +
			"lb lbs misc intl govt assn bros dept",
		starters: "a an the this that these those there here it he she they we you i my his her its our their in on " +
			"at by for from with without to as if when while after before since because although though however " +
			"but and or so yet then thus therefore also what who where why how which do did does is are was were " +
			"can could would should must has have had not no yes please let meanwhile moreover furthermore " +
			"instead now today yesterday tomorrow some many most all each every both another such one nobody " +
			"everyone someone under over during between until once only even still perhaps maybe",
	},
	"de": {
		titles: "hr fr frl prof dipl ing med phil jur rer nat h.c hl st bzw z.b d.h i.d.r m.e o.ä u.ä u.u v.a s.o s.u " +
			"vgl evtl ggf inkl exkl zzgl abzgl bspw sog insb insbes allg ehem geb gest urspr versch verh gegr ggü " +
			"lt mind einschl entspr gem gez i.a hrsg übers z.t z.z z.zt u.a.m i.v.m i.s.d m.w",
		counters: "nr nrn s abs art bd kap abb tab aufl anm § ziff rn rdnr jan feb mär apr jun jul aug sep sept okt " +
			"nov dez ca",
		either: "usw u.a u.v.m u.dgl o.dgl str jh jhd jhdt n.chr v.chr chr max min std mio mrd tsd e.v a.d uvm u.s.w",
		starters: "der die das den dem des ein eine einer einem einen es er sie wir ich du ihr man in im an am auf bei " +
			"beim mit nach von vom vor zu zum zur für durch über unter aus aber und oder doch denn wenn weil da " +
			"als ob obwohl während nachdem bevor seit dann danach dort hier heute gestern morgen jetzt so auch " +
			"nicht kein keine nur noch schon dies diese dieser dieses jede jeder jedes alle viele was wer wie wo " +
			"warum wann welche welcher dabei damit dafür dazu daher deshalb dennoch jedoch außerdem zudem später " +
			"früher seine ihre unser mein ist sind war hat haben kann wird",
		ordinals: ordinalsAny,
		months:   "januar jänner februar märz april mai juni juli august september oktober november dezember",
	},
	"fr": {
		titles:   "m mm mme mmes mlle mlles mgr pr ste sts st cf c.-à-d c.à.d p.ex ex env av hab apr",
		counters: "p pp vol t chap fig art al éd janv févr juil sept oct nov déc tél nos",
		either:   "j.-c s.a s.a.r.l boul bd",
		starters: "le la les l un une des du ce cet cette ces c il elle ils elles on nous vous je j tu qui que quand si " +
			"mais et ou donc or car dans sur sous avec sans pour par en au aux à après avant depuis pendant comme " +
			"alors puis ensuite ainsi cependant toutefois pourtant enfin aujourd hier demain ici là mon ma mes " +
			"son sa ses notre votre leur leurs tout tous toute chaque plusieurs aucun comment pourquoi où quel quelle",
	},
	"es": {
		titles: "sr sra sres sras srta srtas dra dres drs profa dña lic ing arq gral cnel cap tte sto sta mons fr " +
			"p.ej ej aprox ee jj ff",
		counters: "núm n.º nº pág págs p pp vol art fig",
		either:   "ee.uu jj.oo s.a s.l cía ud uds vd vds a.c d.c av avda",
		starters: "el la los las un una unos unas este esta estos estas ese esa eso esto él ella ellos ellas yo tú usted " +
			"ustedes nosotros se no sí en con por para de del al a desde hasta sobre sin según cuando si pero y o " +
			"como aunque porque mientras después antes luego entonces así también además hoy ayer mañana aquí " +
			"allí qué quién cómo dónde cuándo cuál hay es son era fue mi su sus nuestro todo todos toda cada muchos",
	},
	"it": {
		titles:   "sig sigg sigra sig.ra sig.na dott dott.ssa prof.ssa avv ing arch rag geom on sen mons s.ta ss p.es es cfr",
		counters: "n nn pag pagg p pp vol cap art fig",
		either:   "ecc s.p.a s.r.l d.c a.c",
		starters: "il lo la i gli le un uno una l questo questa questi queste quello quella egli lui lei loro noi voi io " +
			"tu si non in con per da di del della a al alla su tra fra dopo prima quando se ma e o come perché " +
			"mentre poi allora così anche inoltre oggi ieri domani qui là chi cosa che quale dove è sono era ha " +
			"hanno ogni tutti",
	},
	"pt": {
		titles:   "sr sra srs sras dra drs profa eng arq exmo exma v.exa p.ex ex aprox sto sta st",
		counters: "n nº núm pág págs p pp vol cap art fig",
		either:   "s.a ltda cia a.c d.c av",
		starters: "o a os as um uma este esta esse essa isto isso ele ela eles elas eu tu você nós não sim em no na nos " +
			"nas com por para de do da ao à quando se mas e ou como embora porque enquanto depois antes então " +
			"assim também além hoje ontem amanhã aqui ali quem onde qual é são foi era meu minha seu sua todo " +
			"todos cada muitos",
	},
	"nl": {
		titles: "hr dhr mevr mw drs ir ing ds st jhr bv bijv b.v d.w.z o.a m.a.w m.b.t i.p.v t.o.v t.a.v i.v.m o.l.v " +
			"z.o.z resp evt ca vgl incl excl zgn",
		counters: "nrs blz p pp art afb hfst jan feb mrt apr jun jul aug sept okt nov dec nr",
		either:   "enz e.d n.v a.u.b s.v.p v.chr n.chr jl",
		starters: "de het een dit dat deze die er hij zij ze wij we ik je jij u men in op aan bij met naar van voor door " +
			"over onder uit maar en of want als omdat toen terwijl na daarna dan hier daar vandaag gisteren " +
			"morgen nu zo ook niet geen wat wie hoe waar waarom is zijn was heeft hebben kan zal alle elke veel",
	},
	"af": {titles: "mnr mev mej ds bv d.w.s st", either: "ens"},
	"ca": {titles: "sr sra srs dra st sta p.ex", counters: "núm pàg p pp art"},
	"ro": {titles: "dl dna d-l d-na ing sf ex", counters: "pag p pp art", either: "ș.a ș.a.m.d"},
	"sv": {
		titles: "hr fr t.ex bl.a d.v.s dvs ca inkl exkl s.k resp ang jfr", either: "osv m.m m.fl mkr kr",
		counters: "s sid kap jan feb mar apr jun jul aug sep sept okt nov dec nr",
	},
	"da": {
		titles: "hr fr frk f.eks bl.a dvs pga mht jf ca ang evt inkl ekskl vedr", either: "osv mv m.m m.v mio mia kr",
		counters: "s kap art stk tlf jan feb mar apr jun jul aug sep okt nov dec nr", ordinals: ordinalsSmall,
	},
	"no": {
		titles: "hr fr frk f.eks bl.a dvs pga mht jf ca ang evt inkl ekskl vedr", either: "osv mv m.m m.v mill mrd kr",
		counters: "s kap art tlf jan feb mar apr jun jul aug sep okt nov des nr", ordinals: ordinalsSmall,
	},
	"is": {titles: "t.d þ.e u.þ.b sr", either: "o.s.frv o.fl m.a", ordinals: ordinalsSmall},
	"fi": {titles: "esim mm ns ts ks vrt", counters: "n:o nro s", either: "jne yms ym jkr ekr", ordinals: ordinalsSmall},
	"et": {titles: "nt hr pr sh", counters: "lk", either: "jne jms jt", ordinals: ordinalsSmall},
	"lv": {titles: "piem t.i sv", counters: "lpp", either: "utt u.c", units: "g", ordinals: ordinalsSmall},
	"lt": {titles: "pvz t.y vad", counters: "p psl", either: "t.t pan kt", units: "d m"},
	"hu": {titles: "id ifj pl ún ill kb vö", counters: "sz old", either: "stb", ordinals: ordinalsAny},
	"tr": {
		titles: "doç yrd av sn bkz örn hz alb", counters: "s sf", either: "vb vs vd m.ö m.s", ordinals: ordinalsAny,
	},
	"sq": {titles: "z znj p.sh", either: "etj"},
	"pl": {
		titles:   "mgr inż hab lek gen płk mjr kpt por św ul al pl os np tzn tzw tj m.in wg ks bp abp red",
		counters: "str s t rozdz art ust pkt poz rys tab",
		either:   "itp itd zł gr tys mln mld godz z.o.o n.e p.n.e in",
		units:    "r w", ordinals: ordinalsSmall,
	},
	"cs": {
		titles:   "p pí mgr ing doc bc phdr mudr judr rndr sv tzv např tj resp cca ul nám",
		counters: "č čp str s obr tab kap odst čl",
		either:   "atd apod aj kč tis mil mld hod min př.n.l n.l", units: "r", ordinals: ordinalsSmall,
	},
	"sk": {
		titles:   "p mgr ing doc bc phdr mudr judr rndr sv tzv napr tj t.j resp cca ul nám",
		counters: "č str s obr tab kap čl",
		either:   "atď a.i apod a.pod tis mil mld", units: "r", ordinals: ordinalsSmall,
	},
	"sl": {titles: "g ga gdč mag sv npr t.i oz tj ul", counters: "št str čl", either: "itd ipd itn", ordinals: ordinalsSmall},
	"hr": {titles: "g gđa gđica mr sv npr tzv tj odn ul", counters: "br str čl", either: "itd isl i.sl", ordinals: ordinalsSmall},
	"sr": {
		titles:   "g gđa gđica mr sv npr tzv tj odn ul г гђа гђица др проф св нпр тзв тј одн ул",
		counters: "br str čl бр стр чл", either: "itd isl итд исл", ordinals: ordinalsSmall,
	},
	"ru": {
		titles: "гг ул кв пл просп пер корп акад проф доц тов гр инж ген св т.е т.н т.к т.о напр см ср англ нем фр лат " +
			"греч букв сокр прим",
		counters: "№ стр с рис гл п пп табл ст т вып разд",
		either:   "т.д т.п др пр руб коп тыс млн млрд н.э г.г",
		units:    "г в вв",
	},
	"uk": {
		titles:   "ім вул пл просп пров корп акад проф доц тов гр ген св т.зв напр див пор т.к",
		counters: "№ стор с рис гл п табл",
		either:   "т.д т.п ін грн коп тис млн млрд н.е",
		units:    "р рр ст",
	},
	"be": {
		titles: "вул пл праф акад гл напр св", counters: "№ стар с мал п", either: "г.д інш руб тыс млн млрд", units: "г гг ст",
	},
	"bg": {
		titles: "г-н г-жа д-р проф доц акад инж ул бул гр св напр вж т.е т.нар", counters: "№ стр с чл ал",
		either: "т.н др лв хил млн млрд итн", units: "г",
	},
	"el": {titles: "κ κα κος κ.κ δρ καθ αγ π.χ βλ δηλ λ.χ", counters: "αρ σελ", either: "κ.λπ κλπ κ.ά κ.τ.λ κτλ μ.μ π.μ μ.χ", mark: ';'},
	"hy": {mark: ':'},
	"ka": {titles: "მაგ ე.ი", either: "ა.შ"},
	"hi": {
		counters: "रु",
		titles:   "डॉ प्रो पं कु स्व सं ए बी सी डी एफ एच जे के एल एम एन पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड",
	},
	"ar": {either: "إلخ الخ"},
	"id": {titles: "drs ir bpk sdr jl tn ny yth a.l", counters: "hlm hal", either: "dll dsb dst"},
	"vi": {titles: "tp ths ts gs pgs bs ks", either: "v.v"},
}
