#!/usr/bin/env bash
# i18next gives readers in Taiwan and Hong Kong a page in simplified Chinese although it has a traditional one.
#
# A page has zh-Hans and zh-Hant, or zh-CN and zh-TW, in supportedLngs; browsers in Taiwan ask for zh-TW, those in Hong Kong for zh-HK. When the
# name is not in the list, i18next 26.7.2 takes the first entry whose name begins alike. Which script a region has, CLDR and BCP 47 say,
# and @formatjs/intl-localematcher 0.10.1 chooses by it, as does golang.org/x/text. So the order of the list decides: with the simplified one first,
# as in most lists, both get that one. Likewise Angola and Mozambique get Brazil's Portuguese, and Mexico Spain's Spanish before es-419.
#
#   zh-TW of zh-Hans, zh-Hant -> i18next: zh-Hans, FormatJS: zh-Hant
#   zh-HK of zh-CN, zh-TW     -> i18next: zh-CN,   FormatJS: zh-TW
#
# The script fails if that changes. It needs Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund i18next@26.7.2 @formatjs/intl-localematcher@0.10.1
cat >choose.mjs <<'JS'
import { match } from '@formatjs/intl-localematcher'
import i18next from 'i18next'

for (const [wanted, supported] of [['zh-TW', ['zh-Hans', 'zh-Hant']], ['zh-HK', ['zh-CN', 'zh-TW']], ['pt-AO', ['pt-BR', 'pt-PT']], ['es-MX', ['es-ES', 'es-419']]]) {
  const page = i18next.createInstance()
  await page.init({
    lng: wanted,
    supportedLngs: [...supported, 'en'],
    fallbackLng: 'en',
    resources: Object.fromEntries(supported.map((name) => [name, { translation: { language: name } }])),
  })
  console.log(`${wanted} of ${supported.join(', ')} -> i18next: ${page.t('language')}, FormatJS: ${match([wanted], supported, 'en')}`)
}
JS
node choose.mjs | tee found
diff found - <<'SEEN' || { echo "other languages than were seen" >&2; exit 1; }
zh-TW of zh-Hans, zh-Hant -> i18next: zh-Hans, FormatJS: zh-Hant
zh-HK of zh-CN, zh-TW -> i18next: zh-CN, FormatJS: zh-TW
pt-AO of pt-BR, pt-PT -> i18next: pt-BR, FormatJS: pt-PT
es-MX of es-ES, es-419 -> i18next: es-ES, FormatJS: es-419
SEEN
