#!/usr/bin/env bash
# i18next shows the whole millions of a French, Spanish, Italian or Portuguese page in English.
#
# In CLDR these languages, and Catalan, have a third plural form, many, for whole millions: "un million de fichiers". Node.js 20 and browsers know
# it. Catalogues made for one and other, as nearly all are, are complete to reviewers and tests with 0, 1, 2 and 5. i18next 26.7.2 asks
# Intl for the form and looks for file_many; when it is missing, it does not take file_other, as ICU, FormatJS and Fluent do, but goes on to the
# fallback language, or shows the key. So it does with 2 in Maltese, which got the form two later.
#
#   fr: 1 fichier, 2 fichiers, 1000000 files, 1000001 fichiers, 2000000 files
#   FormatJS (intl-messageformat 12.1.5) with the same forms: 1000000 fichiers
#
# The script fails if that changes. It needs Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund i18next@26.7.2 intl-messageformat@12.1.5
cat >show.mjs <<'JS'
import assert from 'node:assert/strict'
import i18next from 'i18next'
import { IntlMessageFormat } from 'intl-messageformat'

await i18next.init({
  lng: 'fr',
  fallbackLng: 'en',
  interpolation: { escapeValue: false },
  resources: {
    en: { translation: { file_one: '{{count}} file', file_other: '{{count}} files' } },
    fr: { translation: { file_one: '{{count}} fichier', file_other: '{{count}} fichiers' } },
  },
})
const found = [1, 2, 1000000, 1000001, 2000000].map((count) => i18next.t('file', { count }))
console.log('fr: ' + found.join(', '))
const other = new IntlMessageFormat('{n, plural, one {{n} fichier} other {{n} fichiers}}', 'fr').format({ n: 1000000 })
console.log('FormatJS: ' + other)
assert.deepEqual(found, ['1 fichier', '2 fichiers', '1000000 files', '1000001 fichiers', '2000000 files'])
assert.match(other, /^1\D?000\D?000 fichiers$/)
JS
node show.mjs
