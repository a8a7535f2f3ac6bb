// Names of languages that are neither in English nor in themselves, nor what a browser calls them.

const NAMES = {
  am: 'amarinya', ar: 'fusha msa', az: 'azeri', be: 'belarussian byelorussian', bg: 'balgarski', bn: 'bangla', bs: 'serbo-croatian', ca: 'valencian valencià',
  ckb: 'sorani', cmn: 'mandarin putonghua', el: 'ellinika hellenic', es: 'castellano castilian castillan', eu: 'euskera euskara', fa: 'farsi parsi', fil: 'tagalog pilipino tl',
  ga: 'gaelic gaeilge', gd: 'gaelic', gl: 'gallego', he: 'ivrit', hi: 'hindustani', hr: 'serbo-croatian', ht: 'kreyol', hy: 'hayeren', id: 'bahasa',
  iw: 'ivrit', ja: 'nihongo', ka: 'kartuli', km: 'cambodian', ko: 'hangul hangugeo', ku: 'kurmanji', ky: 'kirghiz', lo: 'laotian', mn: 'khalkha',
  ms: 'bahasa melayu', my: 'myanmar', nb: 'bokmal norsk no', nl: 'flemish vlaams', nn: 'nynorsk norsk', no: 'bokmal norsk nb nn', ny: 'chewa nyanja', or: 'oriya odia',
  pa: 'panjabi gurmukhi', pl: 'polski', ps: 'pashtu pushto', pt: 'brazilian brasileiro', ro: 'moldovan', ru: 'russkiy', sh: 'serbo-croatian', si: 'sinhalese', sl: 'slovene', sq: 'shqip',
  sr: 'serbo-croatian srpski', ta: 'thamizh', th: 'siamese', tl: 'filipino pilipino fil', ug: 'uighur', uk: 'ukrayinska', ur: 'hindustani', wuu: 'shanghainese', yue: 'cantonese',
  zh: 'mandarin putonghua guoyu cmn', zu: 'isizulu',
};

/** Other names of a language by its code. */
export const otherNames = (code) => (NAMES[code.split(/[-_]/)[0].toLowerCase()] ?? '').split(' ').filter(Boolean);
