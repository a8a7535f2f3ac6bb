// Runs published JavaScript clients against a server: node clients.mjs BASE_URL [toy].
// With "toy" the server is the one in server/, and answers are known exactly.
import assert from 'node:assert/strict';
import * as deepl from 'deepl-node';
import { Translate } from 'translate';

const base = process.argv[2].replace(/\/$/, '');
const toy = process.argv.includes('toy');
let passed = 0;

async function check(what, run) {
  try {
    await run();
  } catch (err) {
    err.message = `FAILED: ${what}: ${err.message}`;
    throw err;
  }
  passed++;
}

// translated checks a translation: exactly where the server is the toy.
function translated(source, got) {
  if (toy) assert.equal(got, source.toUpperCase());
  else assert.ok(got.trim() !== '' && got !== source, got);
}

// translate with its engine for LibreTranslate, which posts JSON.
async function libreTranslate() {
  const translate = new Translate({ engine: 'libre', url: `${base}/translate`, from: 'en' });
  await check('translate', async () => translated('Good morning.', await translate('Good morning.', 'fr')));
  await check('translate, by name', async () =>
    translated('Good morning, "Zoë" & co.', await translate('Good morning, "Zoë" & co.', 'japanese')));
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
  await check('fetch of the settings', async () => {
    const settings = await (await fetch(`${base}/frontend/settings`)).json();
    assert.equal(settings.filesTranslation, false);
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
  await check('deepl-node glossaries', async () => {
    assert.deepEqual(await client.listGlossaries(), []);
    assert.deepEqual(await client.getGlossaryLanguagePairs(), []);
  });
}

async function deepLRefusals(client) {
  await check('deepl-node refuses formality', () =>
    assert.rejects(client.translateText('x', null, 'fr', { formality: 'more' }), /'formality' is not supported/));
  await check('deepl-node refuses a language', () =>
    assert.rejects(client.translateText('x', null, 'xx'), /Value for 'target_lang' not supported/));
  await check('deepl-node refuses a glossary', () =>
    assert.rejects(client.translateText('x', 'en', 'fr', { glossary: 'def3a26b-3e84-45b3-84ae-0c0aaf3525f7' }), /'glossary_id'/));
  await check('deepl-node glossary', () =>
    assert.rejects(client.getGlossary('def3a26b-3e84-45b3-84ae-0c0aaf3525f7'), deepl.GlossaryNotFoundError));
  if (!toy) return;
  const wrong = new deepl.Translator('wrong', { serverUrl: base, maxRetries: 0 });
  await check('deepl-node wrong key', () => assert.rejects(wrong.translateText('x', null, 'fr'), deepl.AuthorizationError));
  const once = new deepl.Translator('some', { serverUrl: base, maxRetries: 0 });
  await check('deepl-node overload', () => assert.rejects(once.translateText('busy', null, 'fr'), /529/));
}

// oversized sends bodies over MAX_BODY_BYTES, as clients do that send before they look
// for an answer.
async function oversized() {
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
await oversized();
for (const client of [new deepl.Translator('some', { serverUrl: base }), new deepl.DeepLClient('some', { serverUrl: base })]) {
  await deepLTexts(client);
  await deepLOthers(client);
  await deepLRefusals(client);
}
console.log(`JavaScript clients: ${passed} passed, 0 failed`);
