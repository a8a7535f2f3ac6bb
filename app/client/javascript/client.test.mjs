// Runs the client against the service's own handlers, which translate into capitals: see app/client/others_test.go.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, ConnectionBrokenError, DragomanError, InvalidAnswerError, JobCancelledError } from './index.js';

const url = process.env.DRAGOMAN_URL;
const client = new Client(url);
const at = (path, options) => new Client(`${url}/${path}`, options);
const languages = { fromLang: 'en', toLang: 'fr' };
const plain = (results) => results.map(({ id, text, toLang }) => [id, text, toLang]);

test('texts', async () => {
  assert.deepEqual(plain(await client.translate('one', languages)), [['0', 'ONE', 'fr']]);
  const several = await client.translate(['é😀', { id: 'b', text: '' }], { fromLang: 'auto', toLang: ['fr', 'ja'], detail: true, alternatives: 2 });
  assert.deepEqual(plain(several), [['0', 'É😀', 'fr'], ['b', '', 'fr'], ['0', 'É😀', 'ja'], ['b', '', 'ja']]);
  assert.equal(several[0].detail.fromLang, 'en');
  assert.equal(several[0].alternatives.length, 2);
});

test('streams', async () => {
  const got = [];
  for await (const result of client.stream(['one', 'two'], { fromLang: 'en', toLang: ['fr', 'ja'] })) got.push(result);
  assert.deepEqual(plain(got).sort(), [['0', 'ONE', 'fr'], ['0', 'ONE', 'ja'], ['1', 'TWO', 'fr'], ['1', 'TWO', 'ja']]);
  for await (const result of client.stream(['one', 'two'], languages)) {
    assert.equal(result.text, 'TWO', 'the first that is there');
    break;
  }
  await assert.rejects(client.stream(['fail'], languages).next(), { code: 'internal' });
});

test('errors', async () => {
  await assert.rejects(client.translate('one', { fromLang: 'en', toLang: 'xx' }), (err) => {
    assert.ok(err instanceof DragomanError);
    assert.deepEqual([err.status, err.code, err.field, err.temporary], [400, 'unknown_language', 'payload.toLang', false]);
    assert.ok(err.requestId && err.message.includes(err.requestId));
    return true;
  });
  await assert.rejects(client.translate('one', { ...languages, nonsense: 1 }), { code: 'unknown_field' });
  await assert.rejects(client.translate('\ud800', languages), /half of a surrogate pair/);
  await assert.rejects(client.translate('one', { ...languages, requestId: 'a b' }), RangeError);
  for (const wrong of ['ftp://localhost', 'localhost:9527', 'http://localhost?x']) assert.throws(() => new Client(wrong));
  await assert.rejects(at('moved').translate('one', languages), /has moved to/);
  const [alone, other] = await at('failed').translate(['one', 'two'], languages);
  assert.deepEqual([alone.text, alone.error.code, other.text, other.error], ['', 'unfinished', 'TWO', undefined]);
  await assert.rejects(at('wrong').translate('one', languages), InvalidAnswerError);
  await assert.rejects(at('html').translate('one', languages), InvalidAnswerError);
  await assert.rejects(new Client(url, { maxResponseBytes: 10 }).translate('one', languages), /raise maxResponseBytes/);
  await assert.rejects(new Client('http://127.0.0.1:1', { retries: 0 }).translate('one', languages), ConnectionBrokenError);
});

test('tries', async () => {
  for (const path of ['busy', 'cut', 'half', 'lost']) assert.equal((await at(path).translate('one', languages))[0].text, 'ONE', path);
  for (const path of ['busy', 'cut']) {
    for await (const { text } of at(path).stream('one', languages)) assert.equal(text, 'ONE', path);
  }
  await assert.rejects(at('busy', { retries: 0 }).translate('one', languages), { code: 'busy', temporary: true });
  await assert.rejects(at('never').translate('one', languages), { code: 'busy', retryAfter: 3600 });
  await assert.rejects(at('half', { retries: 0 }).translate('one', languages), ConnectionBrokenError);
  await assert.rejects(at('cut', { retries: 0 }).stream('one', languages).next(), ConnectionBrokenError);
  await assert.rejects(at('half', { retries: 0 }).stream(['one', 'two'], languages).next(), ConnectionBrokenError);
});

test('time', async () => {
  await assert.rejects(client.translate('wait', { ...languages, timeout: 200 }), (err) => err.name === 'TimeoutError' || err.code === 'timeout');
  const abort = new AbortController();
  const call = client.translate('wait', { ...languages, signal: abort.signal });
  abort.abort(new Error('left'));
  await assert.rejects(call, /left/);
  await assert.rejects(at('down').waitReady({ timeout: 400 }), { name: 'TimeoutError' });
  await client.waitReady({ timeout: 600_000 });
});

test('jobs', async () => {
  const job = await at('lost').submit(['one', 'two'], { fromLang: 'en', toLang: ['fr', 'ja'] });
  assert.deepEqual(plain(await job.wait()), [['0', 'ONE', 'fr'], ['1', 'TWO', 'fr'], ['0', 'ONE', 'ja'], ['1', 'TWO', 'ja']]);
  const listed = await client.jobs();
  assert.equal(listed.filter(({ id }) => id === job.id).length, 1);
  assert.equal(listed.length, 1, 'the try whose answer was lost has made no other job');
  assert.ok(listed[0].created instanceof Date);
  assert.equal((await client.job(job.id).wait()).length, 4);
  const states = [];
  for await (const { state } of at('cut').job(job.id).events()) states.push(state);
  assert.deepEqual(states, ['done']);
  assert.equal((await at('deaf').job(job.id).wait()).length, 4, 'a proxy lets no events through');
  await at('lost').job(job.id).cancel();
  await assert.rejects(job.status(), { code: 'unknown_job' });
  await assert.rejects(job.wait(), { code: 'unknown_job' });
  const failed = await client.submit('endless', languages);
  await assert.rejects(failed.wait(), { code: 'unfinished' });
  await failed.cancel();
  const endless = await client.submit('wait', { ...languages, idempotencyKey: 'js' });
  await assert.rejects(endless.wait({ timeout: 300 }), { name: 'TimeoutError' });
  assert.equal((await client.submit('wait', { ...languages, idempotencyKey: 'js' })).id, endless.id);
  await endless.cancel();
  await assert.rejects(endless.wait(), JobCancelledError);
  await endless.cancel();
});

test('documents', async () => {
  const job = await client.submitDocument('one\n', 'folder/a.txt', languages);
  assert.equal(new TextDecoder().decode(await job.document()), 'ONE\n');
  const status = await job.status();
  assert.deepEqual([status.document.name, status.document.kind], ['a.txt', 'txt']);
  await assert.rejects(job.wait(), InvalidAnswerError);
  await job.cancel();
  const table = await client.submitDocument(new TextEncoder().encode('a,b\none,two\n'), 'a.csv', { ...languages, columns: ['b'], header: 'keep' });
  assert.equal(new TextDecoder().decode(await table.document()), 'a,b\none,TWO\n');
  await table.cancel();
  await assert.rejects(client.submitDocument('x', 'a.exe', languages), { code: 'unsupported_document' });
});

test('memories', async () => {
  const made = await client.putMemory('ours', 'cat\tchat\n', { ...languages, media: 'text/tab-separated-values' });
  assert.deepEqual(made.languages, [{ from: 'en', to: 'fr', entryCount: 1 }]);
  assert.equal((await client.addToMemory('ours', [{ source: 'dog', target: 'chien' }], languages)).entryCount, 2);
  const tmx = await client.exportMemory('ours');
  assert.match(new TextDecoder().decode(tmx), /<seg>chien<\/seg>/);
  assert.equal((await client.putMemory('ours', tmx, { keep: true })).entryCount, 2);
  assert.equal((await client.memories()).length, 1);
  await at('lost').deleteMemory('ours');
  await assert.rejects(client.memory('ours'), { code: 'unknown_memory' });
});

test('glossaries', async () => {
  const made = await client.createGlossary('Ours', [['steamer', 'vapeur'], { source: 'Acme' }], languages);
  assert.deepEqual(made.dictionaries, [{ from: 'en', to: 'fr', entryCount: 2 }]);
  assert.deepEqual(await client.glossaryTerms(made.id, languages), [{ source: 'steamer', target: 'vapeur' }, { source: 'Acme', target: 'Acme' }]);
  await client.setTerms(made.id, [['a', 'b']], { fromLang: 'en', toLang: 'ja' });
  assert.equal((await client.glossary(made.id)).dictionaries.length, 2);
  assert.equal((await client.glossaries()).length, 1);
  await at('lost').deleteGlossary(made.id);
  await assert.rejects(client.glossary(made.id), { code: 'unknown_glossary' });
  await assert.rejects(at('cut').createGlossary('Ours', [['a', 'b']], languages), ConnectionBrokenError);
});

test('the service', async () => {
  assert.equal((await client.info()).name, 'dragoman');
  assert.ok((await client.languages()).some(({ code, targets }) => code === 'en' && targets.includes('fr')));
  await assert.rejects(at('key', { key: 'wrong' }).translate('one', languages), { status: 401 });
});
