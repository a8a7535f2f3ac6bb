#!/usr/bin/env bash
# Angular and xliff of npm read of an XLIFF 2 unit its last segment, and the sentences before it are gone.
#
# A unit of XLIFF 2 has one or more segments, and CAT tools divide it into one for each sentence when they open it: that is what the element is
# for. Angular's extractor writes one a unit. When the file comes back with two, @angular/localize 21.2.26 (and 22.2.6) shows the second for
# the whole message, without an error or a warning, and so does xliff 6.4.0 of npm. Short messages are right, so that the loss is seen, if at all, by
# a reader of the translated page.
#
#   Files are deleted. Are you sure? -> Dateien werden gelöscht. | Sind Sie sicher?
#   Angular: "Sind Sie sicher?", 0 messages
#   xliff: "Sind Sie sicher?"
#
# The script fails if that changes. It needs Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @angular/localize@21.2.26 @angular/compiler@21.2.26 @angular/compiler-cli@21.2.26 typescript@5.9.3 xliff@6.4.0
cat >de.xlf <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de">
  <file id="ngi18n" original="ng.template">
    <unit id="sure">
      <segment><source>Files are deleted. </source><target>Dateien werden gelöscht. </target></segment>
      <segment><source>Are you sure?</source><target>Sind Sie sicher?</target></segment>
    </unit>
  </file>
</xliff>
XML
cat >read.mjs <<'JS'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Xliff2TranslationParser } from '@angular/localize/tools'
import { xliff2js } from 'xliff'

const file = readFileSync('de.xlf', 'utf8')
const parser = new Xliff2TranslationParser()
const parsed = parser.parse('de.xlf', file, parser.analyze('de.xlf', file).hint)
const angular = parsed.translations.sure.text
console.log(`Angular: "${angular}", ${parsed.diagnostics.messages.length} messages`)
const { target } = (await xliff2js(file)).resources.ngi18n.sure
console.log(`xliff: "${target}"`)
assert.deepEqual([angular, parsed.diagnostics.messages.length, target], ['Sind Sie sicher?', 0, 'Sind Sie sicher?'])
JS
node read.mjs
