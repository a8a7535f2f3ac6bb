// Runs published JavaScript clients against a server: node clients.mjs BASE_URL [toy].
// With "toy" the server is the one in server/, and answers are known exactly.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import azure, { isUnexpected } from '@azure-rest/ai-translation-text';
import azureOld from 'azure-old';
import * as deepl from 'deepl-node';
import { Translate } from 'translate';
import { base, check, report, toy, translated, using } from './checks.mjs';

// translate with its engine for LibreTranslate, which posts JSON.
async function libreTranslate() {
  using('translate', 'LibreTranslate');
  const translate = new Translate({ engine: 'libre', url: `${base}/translate`, from: 'en' });
  await check('translate', async () => translated('Good morning.', await translate('Good morning.', 'fr')));
  await check('translate, by name', async () =>
    translated('Good morning, "Zoë" & co.', await translate('Good morning, "Zoë" & co.', 'japanese')));
  using('`fetch` (Node.js)', 'LibreTranslate', process.versions.node);
  await check('fetch of a list, detected', async () => {
    const response = await fetch(`${base}/translate`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ q: ['Good morning, how are you?'], source: 'auto', target: 'fr', format: 'text', alternatives: 3, api_key: '' }),
    });
    const answer = await response.json();
    assert.equal(answer.translatedText.length, 1);
    assert.equal(answer.detectedLanguage[0].language, 'en');
    assert.equal(answer.alternatives.length, 1);
    const found = [answer.translatedText[0], ...answer.alternatives[0]];
    assert.equal(new Set(found).size, found.length);
    assert.ok(found.length > 1 && found.length <= 4);
  });
  await check('fetch of a form, as browsers send it', async () => {
    const form = new FormData();
    form.set('q', 'Good morning.');
    form.set('source', 'en');
    form.set('target', 'fr');
    const response = await fetch(`${base}/translate`, { method: 'POST', body: form });
    translated('Good morning.', (await response.json()).translatedText);
  });
  await check('fetch of a file', async () => {
    const form = new FormData();
    form.set('file', new File(['Good morning.'], 'Grüße.txt', { type: 'text/plain' }));
    form.set('source', 'en');
    form.set('target', 'fr');
    const response = await fetch(`${base}/translate_file`, { method: 'POST', body: form });
    const file = await fetch((await response.json()).translatedFileUrl);
    assert.match(decodeURIComponent(file.url), /Grüße\.fr\.txt$/);
    translated('Good morning.', await file.text());
  });
  await check('fetch of the settings', async () => {
    const settings = await (await fetch(`${base}/frontend/settings`)).json();
    assert.equal(settings.filesTranslation, true);
    assert.equal(typeof settings.language.target.code, 'string');
  });
}

async function deepLTexts(client) {
  await check('deepl-node text', async () => {
    const result = await client.translateText('Good morning.', null, 'fr');
    translated('Good morning.', result.text);
    assert.equal(result.detectedSourceLang, 'en');
    assert.equal(result.billedCharacters, 'Good morning.'.length);
  });
  await check('deepl-node texts', async () => {
    const results = await client.translateText(['Good morning.', 'Good night.'], 'en', 'ja');
    assert.equal(results.length, 2);
    translated('Good night.', results[1].text);
  });
  const offered = (await client.getTargetLanguages()).map((l) => l.code);
  for (const target of ['en-US', 'en-GB', 'pt-BR', 'pt-PT', 'nb', 'zh-HANS'].filter((code) => offered.includes(code))) {
    await check(`deepl-node target ${target}`, async () =>
      translated('Bonjour tout le monde.', (await client.translateText('Bonjour tout le monde.', 'fr', target)).text));
  }
  await check('deepl-node html', async () => {
    const { text } = await client.translateText('<p>Good <b>morning</b>.</p>', null, 'fr', { tagHandling: 'html' });
    assert.match(text, /^<p>.*<b>.*<\/b>.*<\/p>$/);
  });
  await check('deepl-node options', async () => {
    const result = await client.translateText('Good morning.', 'en', 'fr', {
      splitSentences: 'off', preserveFormatting: true, formality: 'prefer_less', tagHandling: 'xml', outlineDetection: false,
      splittingTags: ['x', 'y'], nonSplittingTags: 'z', context: 'A greeting.', modelType: 'latency_optimized',
    });
    translated('Good morning.', result.text);
    assert.equal(result.modelTypeUsed, 'latency_optimized');
  });
}

async function deepLOthers(client) {
  await check('deepl-node source languages', async () => {
    const codes = (await client.getSourceLanguages()).map((l) => l.code);
    assert.ok(codes.includes('en') && !codes.includes('en-US'));
  });
  await check('deepl-node target languages', async () => {
    const languages = await client.getTargetLanguages();
    assert.equal(languages.find((l) => l.code === 'en-US').name, 'English (American)');
    assert.equal(languages.find((l) => l.code === 'fr').supportsFormality, false);
  });
  await check('deepl-node usage', async () => assert.equal((await client.getUsage()).anyLimitReached(), false));
}

const entriesOf = (entries) => new deepl.GlossaryEntries({ entries });

async function deepLGlossaries(client) {
  const entries = { artist: 'maître', 'prize, first': 'le "prix"', Acme: 'Acme' };
  let made;
  await check('deepl-node glossary languages', async () => {
    const pairs = await client.getGlossaryLanguagePairs();
    assert.ok(pairs.some((p) => p.sourceLang === 'en' && p.targetLang === 'fr'));
  });
  await check('deepl-node new glossary', async () => {
    made = await client.createGlossary('Ours', 'en', 'fr', entriesOf(entries));
    assert.ok(made.ready && made.entryCount === 3 && made.sourceLang === 'en' && made.targetLang === 'fr');
  });
  await check('deepl-node glossary', async () => assert.deepEqual(await client.getGlossary(made.glossaryId), made));
  await check('deepl-node glossaries', async () =>
    assert.ok((await client.listGlossaries()).some((g) => g.glossaryId === made.glossaryId)));
  await check('deepl-node glossary entries', async () =>
    assert.deepEqual((await client.getGlossaryEntries(made)).entries(), entries));
  for (const glossary of [made, made.glossaryId]) {
    await check('deepl-node uses a glossary', async () => {
      const { text } = await client.translateText('The artist.', 'en', 'fr', { glossary });
      if (toy) assert.equal(text, 'THE maître.');
    });
  }
  await check('deepl-node glossary for other languages', () =>
    assert.rejects(client.translateText('x', 'en', 'de', { glossary: made }), /no dictionary/));
  await check('deepl-node glossary of CSV', async () => {
    const other = await client.createGlossaryWithCsv('CSV', 'en', 'fr', Buffer.from('"a, b",c\nd,e,en,fr\n'));
    assert.deepEqual((await client.getGlossaryEntries(other)).entries(), { 'a, b': 'c', d: 'e' });
    await client.deleteGlossary(other.glossaryId);
  });
  await check('deepl-node deleted glossary', async () => {
    await client.deleteGlossary(made);
    await assert.rejects(client.getGlossary(made.glossaryId), deepl.GlossaryNotFoundError);
    await assert.rejects(client.deleteGlossary(made), deepl.GlossaryNotFoundError);
  });
}

async function deepLMultilingual(client) {
  const dictionary = (targetLangCode, entries) => ({ sourceLangCode: 'en', targetLangCode, entries: entriesOf(entries) });
  const stored = async (target) => (await client.getMultilingualGlossaryDictionaryEntries(made, 'en', target)).entries.entries();
  let made;
  await check('deepl-node new multilingual glossary', async () => {
    made = await client.createMultilingualGlossary('Ours', [dictionary('fr', { artist: 'maître' }), dictionary('de', { artist: 'Maler' })]);
    assert.deepEqual(made.dictionaries.map((d) => [d.targetLangCode, d.entryCount]), [['de', 1], ['fr', 1]]);
    assert.deepEqual(await client.getMultilingualGlossary(made.glossaryId), made);
    assert.ok((await client.listMultilingualGlossaries()).some((g) => g.glossaryId === made.glossaryId));
  });
  await check('deepl-node uses a multilingual glossary', async () => {
    const { text } = await client.translateText('An artist.', 'en', 'de', { glossary: made });
    if (toy) assert.equal(text, 'AN Maler.');
  });
  await check('deepl-node changed dictionary', async () => {
    await client.updateMultilingualGlossaryDictionary(made, dictionary('fr', { prize: 'prix', artist: 'artiste' }));
    assert.deepEqual(await stored('fr'), { artist: 'artiste', prize: 'prix' });
    await client.replaceMultilingualGlossaryDictionary(made, dictionary('fr', { cat: 'chat' }));
    assert.deepEqual(await stored('fr'), { cat: 'chat' });
    await client.replaceMultilingualGlossaryDictionaryWithCsv(made, 'en', 'fr', '"a, b",c\n');
    assert.deepEqual(await stored('fr'), { 'a, b': 'c' });
    assert.equal((await client.updateMultilingualGlossaryName(made, 'Theirs')).name, 'Theirs');
  });
  await check('deepl-node deleted dictionary', async () => {
    await client.deleteMultilingualGlossaryDictionary(made, 'en', 'de');
    await assert.rejects(stored('de'), deepl.GlossaryNotFoundError);
    await client.deleteMultilingualGlossary(made);
    await assert.rejects(client.getMultilingualGlossary(made.glossaryId), deepl.GlossaryNotFoundError);
  });
}

async function deepLDocuments(client) {
  await check('deepl-node document', async () => {
    const options = { filename: 'letter.txt', formality: 'prefer_more' };
    const handle = await client.uploadDocument(Buffer.from('Good morning.\n\n'), 'en', 'fr', options);
    const { status } = await client.isDocumentTranslationComplete(handle);
    assert.ok(status.ok() && status.done() && status.billedCharacters > 0, JSON.stringify(status));
    const folder = await mkdtemp(path.join(tmpdir(), 'dragoman-clients-'));
    const file = path.join(folder, 'lettre.txt');
    await client.downloadDocument(handle, file);
    const got = await readFile(file, 'utf8');
    await rm(folder, { recursive: true });
    assert.ok(got.endsWith('\n\n'), got);
    translated('Good morning.', got.trimEnd());
  });
  await check('deepl-node document of another kind', () =>
    assert.rejects(client.uploadDocument(Buffer.from('x'), 'en', 'fr', { filename: 'letter.xyz' }), /can be translated/));
}

async function deepLRefusals(client) {
  await check('deepl-node refuses formality', () =>
    assert.rejects(client.translateText('x', null, 'fr', { formality: 'more' }), /'formality' is not supported/));
  await check('deepl-node refuses a language', () =>
    assert.rejects(client.translateText('x', null, 'xx'), /Value for 'target_lang' not supported/));
  await check('deepl-node refuses a glossary', () =>
    assert.rejects(client.translateText('x', 'en', 'fr', { glossary: 'def3a26b-3e84-45b3-84ae-0c0aaf3525f7' }), /no such glossary/));
  await check('deepl-node glossary', () =>
    assert.rejects(client.getGlossary('def3a26b-3e84-45b3-84ae-0c0aaf3525f7'), deepl.GlossaryNotFoundError));
  if (!toy) return;
  const wrong = new deepl.Translator('wrong', { serverUrl: base, maxRetries: 0 });
  await check('deepl-node wrong key', () => assert.rejects(wrong.translateText('x', null, 'fr'), deepl.AuthorizationError));
  const once = new deepl.Translator('some', { serverUrl: base, maxRetries: 0 });
  await check('deepl-node overload', () => assert.rejects(once.translateText('busy', null, 'fr'), /529/));
}

// azureTranslator is Azure's client, in the shapes of version 2026-06-06 and of 3.0.
async function azureTranslator() {
  using('@azure-rest/ai-translation-text', 'Azure Translator 2026-06-06');
  const client = azure(base, { key: 'some', region: 'westeurope' }, { allowInsecureConnection: true });
  const post = (path, options) => client.path(path).post(options);
  await check('@azure-rest 2', async () => {
    const targets = [{ language: 'fr' }, { language: 'ja' }];
    const answer = await post('/translate', { body: { inputs: [{ text: 'Good morning.', targets }, { text: 'Two pears.', language: 'en', targets: [{ language: 'fr' }] }] } });
    assert.ok(!isUnexpected(answer), JSON.stringify(answer.body));
    const [first, second] = answer.body.value;
    assert.equal(first.detectedLanguage.language, 'en');
    assert.deepEqual(first.translations.map((t) => t.language), ['fr', 'ja']);
    translated('Good morning.', first.translations[0].text);
    translated('Two pears.', second.translations[0].text);
  });
  await check('@azure-rest 2 refuses a language', async () => {
    const answer = await post('/translate', { body: { inputs: [{ text: 'x', targets: [{ language: 'tlh' }] }] } });
    assert.ok(isUnexpected(answer));
    assert.equal(answer.status, '400');
    assert.equal(answer.body.error.code, '400036');
  });
  await check('@azure-rest 2 languages', async () => {
    const answer = await client.path('/languages').get();
    assert.ok(!isUnexpected(answer));
    assert.equal(answer.body.translation.fr.nativeName, 'français');
  });
  using('azure-old', 'Azure Translator 3.0');
  const old = azureOld(base, { key: 'some', region: 'westeurope' }, { allowInsecureConnection: true });
  await check('@azure-rest 1', async () => {
    const answer = await old.path('/translate').post({ body: [{ text: 'Good morning.' }], queryParameters: { to: 'fr', from: 'en' } });
    assert.equal(answer.status, '200', JSON.stringify(answer.body));
    translated('Good morning.', answer.body[0].translations[0].text);
    assert.equal(answer.body[0].translations[0].to, 'fr');
  });
}

// oversized sends bodies over MAX_BODY_BYTES, as clients do that send before they look
// for an answer.
async function oversized() {
  using('`fetch` (Node.js)', 'LibreTranslate', process.versions.node);
  const q = 'a'.repeat(16 << 20);
  const form = new URLSearchParams({ q, source: 'en', target: 'fr' });
  for (const body of Array(10).fill([JSON.stringify({ q, source: 'en', target: 'fr' }), form]).flat()) {
    await check('fetch of too large a body', async () => {
      const headers = body === form ? {} : { 'Content-Type': 'application/json' };
      const response = await fetch(`${base}/translate`, { method: 'POST', headers, body });
      assert.equal(response.status, 413);
      assert.match((await response.json()).error, /bytes/);
    });
  }
}

await libreTranslate();
await azureTranslator();
await oversized();
using('deepl-node', 'DeepL');
for (const client of [new deepl.Translator('some', { serverUrl: base }), new deepl.DeepLClient('some', { serverUrl: base })]) {
  await deepLTexts(client);
  await deepLOthers(client);
  await deepLRefusals(client);
  await deepLGlossaries(client);
  await deepLDocuments(client);
}
await deepLMultilingual(new deepl.DeepLClient('some', { serverUrl: base }));
report();
