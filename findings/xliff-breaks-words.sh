#!/usr/bin/env bash
# xliff of npm writes a line break before each inline code, also in the middle of a word.
#
# xliff 6.4.0 writes XLIFF 1.2 indented, and treats <source> and <target> like elements without text: before an inline code that follows text, and at
# the end, come a line break and spaces. It takes them out when it reads its own files. All other readers take them for text, with
# xml:space="preserve" rightly so: "undo" becomes "un do", and "(5)" has a space before the 5. Angular 21.2.26 shows them. States of
# targets and other elements of a unit are gone as well.
#
#   <target state="translated">un<g id="1">do</g> (<x id="n"/>)</target>
#   -> Angular: "un\n          do (\n          {$n})\n        "
#
# The script fails if that changes. It needs Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @angular/localize@21.2.26 @angular/compiler@21.2.26 @angular/compiler-cli@21.2.26 typescript@5.9.3 xliff@6.4.0
cat >read.mjs <<'JS'
import assert from 'node:assert/strict'
import { Xliff1TranslationParser } from '@angular/localize/tools'
import { jsToXliff12, xliff12ToJs } from 'xliff'

function shown(file) {
  const parser = new Xliff1TranslationParser()
  return parser.parse('de.xlf', file, parser.analyze('de.xlf', file).hint).translations.undo.text
}

const file = `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="app" source-language="en" target-language="en-GB" datatype="plaintext"><body>
<trans-unit id="undo" xml:space="preserve"><source>un<g id="1">do</g> (<x id="n"/>)</source>
<target state="translated">un<g id="1">do</g> (<x id="n"/>)</target></trans-unit>
</body></file></xliff>`
const written = await jsToXliff12(await xliff12ToJs(file))
console.log('before: ' + JSON.stringify(shown(file)))
console.log('after:  ' + JSON.stringify(shown(written)))
assert.equal(shown(file), 'undo ({$n})')
assert.equal(shown(written), 'un\n          do (\n          {$n})\n        ')
assert.ok(written.includes('xml:space="preserve"') && !written.includes('state='))
JS
node read.mjs
