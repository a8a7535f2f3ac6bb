// Reads files like owners.py, by FormatJS, Fluent's JavaScript, js-yaml and MDX. With "plurals FOLDER" it prints what is wrong with the plurals in that
// folder, see plurals.go. run.sh copies it beside the libraries.
import { createInterface } from 'node:readline'
import { readdirSync, readFileSync } from 'node:fs'
import { createIntl } from '@formatjs/intl'
import { FluentBundle, FluentResource } from '@fluent/bundle'
import { compileSync, createProcessor } from '@mdx-js/mdx'
import i18next from 'i18next'
import { IntlMessageFormat } from 'intl-messageformat'
import { loadAll, YAML11_SCHEMA } from 'js-yaml'

const read = (path) => readFileSync(path, 'utf8').replace(/^\uFEFF/, '')

function* leaves(value) {
  if (typeof value === 'string') yield value
  else if (value && !Array.isArray(value) && typeof value.other === 'string') yield* leaves(Object.entries(value).flatMap(form))
  else if (value && typeof value === 'object') for (const inner of Object.values(value)) yield* leaves(inner)
}

// form leaves out all plural forms but other, which all languages have.
const form = ([name, inner]) => (/^(zero|one|two|few|many)$/.test(name) ? [] : [inner])

// messages tells which texts of JSON with a choice are messages of ICU.
function messages(path) {
  return [...leaves(JSON.parse(read(path)))].filter((text) => /\{\s*\w+\s*,\s*(plural|select|selectordinal)\s*,/.test(text)).map((text) => {
    try {
      new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true })
      return 'a message'
    } catch (error) {
      return 'no message: ' + error.message
    }
  })
}

// entries lists the messages and attributes that Fluent reads.
function entries(path) {
  return [...new FluentResource(read(path)).body].flatMap((entry) => [entry.id, ...Object.keys(entry.attributes)])
}

// blocks lists the blocks that MDX reads, and their texts without tags.
function blocks(path) {
  const text = read(path).replace(/^---\r?\n[^]*?\n---\r?\n/, '')
  compileSync(text)
  const texts = []
  const walk = (node) => {
    texts.push(node.name ? `${node.type} ${node.name}` : node.type)
    if (/^(paragraph|heading|tableCell)$/.test(node.type)) texts.push(inner(node))
    else if (node.children) node.children.forEach(walk)
    else texts.push(node.value ?? '')
  }
  walk(createProcessor().parse(text))
  return texts
}

// yaml lists the texts that js-yaml reads.
const yaml = (path) => loadAll(read(path), { schema: YAML11_SCHEMA }).flatMap((document) => [...leaves(document)])

const inner = (node) => node.value ?? (node.children ?? []).map(inner).join('')

const readers = { ftl: entries, mdx: blocks, json: messages }

async function plurals(folder) {
  for (const lang of readdirSync(folder)) {
    const path = (name) => `${folder}/${lang}/${name}`
    const icu = JSON.parse(read(path('icu.json')))
    const intl = createIntl({ locale: lang, messages: icu, onError: (error) => console.log(lang, error.message) })
    const translator = i18next.createInstance()
    await translator.init({ lng: lang, fallbackLng: false, resources: { [lang]: { translation: JSON.parse(read(path('i18next.json'))) } } })
    const bundle = new FluentBundle(lang, { useIsolating: false })
    for (const error of bundle.addResource(new FluentResource(read(path('messages.ftl'))))) console.log(lang, 'Fluent:', error.message)
    const category = (n) => new Intl.PluralRules(lang).select(n)
    const onlyOne = [0, 21, 101].every((n) => category(n) !== 'one') // i18next has no form for 1 alone
    for (const n of [0, 1, 2, 5, 11, 21, 101]) {
      const written = new Intl.NumberFormat(lang).format(n)
      const files = (n_) => (n === 1 && category(1) === 'one' ? 'ONE FILE' : `${n_} FILES`)
      const cats = n === 0 ? 'NO CATS' : `${written} ${category(n) === 'one' ? 'CAT' : 'CATS'}`
      const check = (name, got, want) => got === want || console.log(lang, n, name, JSON.stringify(got), 'instead of', JSON.stringify(want))
      check('intl-messageformat', new IntlMessageFormat(icu.files, lang).format({ n }), files(written))
      check('@formatjs/intl', intl.formatMessage({ id: 'cats' }, { n }), cats)
      check('i18next', translator.t('file', { count: n }), onlyOne ? files(n) : `${n} FILES`)
      check('@fluent/bundle', bundle.formatPattern(bundle.getMessage('files').value, { n }), files(written))
    }
  }
}

if (process.argv[2] === 'plurals') {
  await plurals(process.argv[3])
} else {
  for await (const path of createInterface({ input: process.stdin })) {
    try {
      console.log(JSON.stringify({ path, texts: (readers[path.split('.').pop()] ?? yaml)(path) }))
    } catch (error) {
      console.log(JSON.stringify({ path, error: String(error) }))
    }
  }
}
