#!/usr/bin/env bash
# i18next-conv loses a plural form of Latvian and Hebrew, and gives Slovenian's to the wrong numbers.
#
# i18next-conv 16.0.0 makes JSON for i18next of .po files. It names the forms by an order of its own, whatever the file's Plural-Forms says. In
# Latvian its order has two names for three forms, so the form of 2 is dropped; of Hebrew's two forms the second becomes file_two, and there
# is no file_other; Slovenian's forms, here as gettext's msginit orders them, are turned by one. There is no warning, and i18next 26.7.2
# shows what is missing in the fallback language.
#
#   lv: {"file_one":"{{count}} fails","file_zero":"{{count}} failu"} -> 1 fails, 2 files, 5 files
#   he: {"file_one":"{{count}} kovets","file_two":"{{count}} kvatsim"} -> 1 kovets, 2 kvatsim, 5 files
#   sl: {"file_other":"{{count}} datoteka",…} -> 1 datoteki, 2 datoteke, 5 datoteka    (right: datoteka, datoteki, datotek)
#
# The script fails if that changes. It needs Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund i18next@26.7.2 i18next-conv@16.0.0
cat >show.mjs <<'JS'
import i18next from 'i18next'
import { gettextToI18next } from 'i18next-conv'

const catalogues = {
  lv: ['nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2)', ['fails', 'faili', 'failu']],
  he: ['nplurals=2; plural=(n != 1)', ['kovets', 'kvatsim']],
  sl: ['nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3)', ['datoteka', 'datoteki', 'datoteke', 'datotek']],
}
for (const [language, [rule, forms]] of Object.entries(catalogues)) {
  const head = `msgid ""\nmsgstr ""\n"Language: ${language}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: ${rule};\\n"\n`
  const entry = `\nmsgid "file"\nmsgid_plural "files"\n` + forms.map((form, i) => `msgstr[${i}] "{{count}} ${form}"\n`).join('')
  const json = JSON.parse(await gettextToI18next(language, head + entry, { compatibilityJSON: 'v4' }))
  const i18n = i18next.createInstance()
  await i18n.init({
    lng: language,
    fallbackLng: 'en',
    resources: { en: { translation: { file_one: '{{count}} file', file_other: '{{count}} files' } }, [language]: { translation: json } },
  })
  console.log(`${language}: ${JSON.stringify(json)} -> ` + [1, 2, 5].map((count) => i18n.t('file', { count })).join(', '))
}
JS
node show.mjs | tee found
diff found - <<'SEEN' || { echo "other forms than were seen" >&2; exit 1; }
lv: {"file_one":"{{count}} fails","file_zero":"{{count}} failu"} -> 1 fails, 2 files, 5 files
he: {"file_one":"{{count}} kovets","file_two":"{{count}} kvatsim"} -> 1 kovets, 2 kvatsim, 5 files
sl: {"file_other":"{{count}} datoteka","file_one":"{{count}} datoteki","file_two":"{{count}} datoteke","file_few":"{{count}} datotek"} -> 1 datoteki, 2 datoteke, 5 datoteka
SEEN
