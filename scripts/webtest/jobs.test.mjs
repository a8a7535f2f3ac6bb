// Long texts, which the server translates as jobs.

import assert from 'node:assert/strict';
import { control, eventually, fitsWidth, pageTest, pick, put, says, translate, translated, useBrowser } from './browser.mjs';

useBrowser();

const LINES = Array.from({ length: 1200 }, (_, i) => `Line ${i}.`);
const TEXT = LINES.join('\n');
const OUTPUT = LINES.map((line) => `[fr] ${line}`);

const status = (page) => page.locator('#status');
const notice = (page) => page.locator('#notice-text');

/** Waits until the made-up API has so many jobs in these states; returns them. */
const jobs = (...states) =>
  eventually(async () => {
    const all = control.jobs();
    assert.deepEqual(all.map(({ state }) => state), states);
    return all;
  });

pageTest('a long text is a job that tells how far it is', { script: { hold: true } }, async (page) => {
  await put(page, `\n${TEXT}\nLine 7.`);
  control.release(...LINES.slice(0, 500));
  await says(status(page), 'Translating, 500 of 1200 lines');
  await fitsWidth(page);
  control.release(...LINES);
  assert.deepEqual(await translated(page), ['', ...OUTPUT, '[fr] Line 7.']);
  assert.equal(await page.locator('#cancel').isVisible(), false);
  const [{ payload }] = await jobs('done');
  assert.deepEqual(payload.records.map(({ text }) => text), LINES);
  assert.deepEqual([payload.fromLang, payload.toLang, payload.detail], ['en', 'fr', true]);
  assert.deepEqual(control.seen(), []);
});

pageTest('a short text is no job', { script: {} }, async (page) => {
  await put(page, LINES.slice(0, 1000).join('\n'));
  assert.deepEqual(await translated(page), OUTPUT.slice(0, 1000));
  assert.deepEqual(control.jobs(), []);
});

pageTest('a reload picks the job up', { script: { hold: true } }, async (page) => {
  await put(page, TEXT);
  await jobs('running');
  await says(status(page), 'Translating, 0 of 1200 lines');
  await page.reload();
  await says(status(page), 'Translating, 0 of 1200 lines');
  assert.equal(await page.inputValue('#source'), TEXT);
  control.release(...LINES);
  assert.deepEqual(await translated(page), OUTPUT);
  await page.reload();
  assert.deepEqual(await translated(page), OUTPUT, 'its results are still there');
  await jobs('done');
  assert.deepEqual(control.seen(), []);
});

pageTest('a page of another tab has no job', { script: { hold: true } }, async (page, context) => {
  await put(page, TEXT);
  await jobs('running');
  const other = await context.newPage();
  await other.goto(page.url());
  await says(other.locator('#count'), '0 characters');
  await jobs('running');
});

pageTest('a job can be cancelled, and begun again', { script: { hold: true } }, async (page) => {
  await put(page, TEXT);
  await page.click('#cancel');
  await jobs('cancelled');
  await says(notice(page), 'The translation was cancelled.');
  assert.equal(await page.locator('#cancel').isVisible(), false);
  control.release(...LINES);
  await page.click('#notice-button');
  assert.deepEqual(await translated(page), OUTPUT);
  await jobs('cancelled', 'done');
});

pageTest('an edit costs a line, and the job goes on', { script: { hold: true } }, async (page) => {
  await put(page, TEXT);
  await jobs('running');
  control.release('New.');
  await put(page, `${TEXT}\nNew.`);
  await says(page.locator('#output .line').last(), '[fr] New.');
  control.release(...LINES);
  assert.deepEqual(await translated(page), [...OUTPUT, '[fr] New.']);
  assert.deepEqual(control.seen().map(({ texts }) => texts), [['New.']]);
  await jobs('done');
});

pageTest('an edit while a job is submitted waits for it', { script: { hold: true, holdJobs: true } }, async (page) => {
  await put(page, TEXT);
  await jobs('running');
  control.release('New.', ...LINES);
  await put(page, `${TEXT}\nNew.`);
  await page.keyboard.press('Control+Enter'); // translates now
  control.release('jobs');
  assert.deepEqual(await translated(page), [...OUTPUT, '[fr] New.']);
  await jobs('done');
});

pageTest('a text that is cleared while it is submitted is not translated', { script: { hold: true, holdJobs: true } }, async (page) => {
  await put(page, TEXT);
  await jobs('running');
  await page.click('#clear');
  control.release('jobs');
  await jobs('cancelled');
});

pageTest('a text that grows by much is another job', { script: {} }, async (page) => {
  await put(page, TEXT);
  await translated(page);
  await put(page, `${TEXT}\n${TEXT.replaceAll('Line', 'Verse')}`);
  assert.equal((await translated(page)).at(-1), '[fr] Verse 1199.');
  await jobs('removed', 'done');
});

for (const [name, change] of [
  ['clearing the text', (page) => page.click('#clear')],
  ['another text', (page) => translate(page, 'Good morning.')],
]) {
  pageTest(`${name} ends the job`, { script: { hold: true } }, async (page) => {
    control.release('Good morning.');
    await put(page, TEXT);
    await jobs('running');
    await change(page);
    await jobs('cancelled');
    await page.reload();
    assert.notEqual(await page.inputValue('#source'), TEXT);
  });
}

pageTest('another language is another job', { script: { hold: true } }, async (page) => {
  await put(page, TEXT);
  await jobs('running');
  await pick(page, 'to', 'german');
  control.release(...LINES);
  assert.equal((await translated(page))[0], '[de] Line 0.');
  await jobs('cancelled', 'done');
});

for (const failure of [
  { status: 503, code: 'jobs_unavailable', message: 'there are no jobs here' },
  { status: 429, code: 'too_many_jobs', message: 'there are 100 jobs' },
  { status: 404, code: 'not_found', message: 'nothing here' },
  { status: 413, code: 'body_too_large', message: 'too large' },
]) {
  pageTest(`without jobs there are many requests: ${failure.code}`, { script: { noJobs: failure } }, async (page) => {
    await put(page, TEXT);
    assert.deepEqual(await translated(page), OUTPUT);
    assert(control.seen().length > 9);
    assert.deepEqual(control.jobs(), []);
  });
}

pageTest('a busy server gets the job later', { script: { noJobs: { status: 503, code: 'busy', message: 'no', retryAfter: '600' } } }, async (page) => {
  await put(page, TEXT);
  await says(notice(page), 'The server is busy.');
  control.set({});
  await page.click('#notice-button');
  assert.deepEqual(await translated(page), OUTPUT);
  await jobs('done');
});

pageTest('a job that fails says why', { script: { jobError: { code: 'unfinished', message: 'line 3 has no end' } } }, async (page) => {
  await put(page, TEXT);
  await says(notice(page), 'Line 3 has no end.');
  await jobs('removed');
  control.set({});
  await page.click('#notice-button');
  assert.deepEqual(await translated(page), OUTPUT);
  await jobs('done');
});

pageTest('a job that the server has forgotten is submitted again', { script: { hold: true } }, async (page) => {
  await put(page, TEXT);
  await says(status(page), 'Translating, 0 of 1200 lines');
  control.set({});
  assert.deepEqual(await translated(page), OUTPUT);
  await jobs('done');
});

pageTest('a job survives a server that is away', { script: { hold: true } }, async (page, context) => {
  await put(page, TEXT);
  await jobs('running');
  await context.setOffline(true);
  await says(notice(page), 'You are offline.');
  control.release(...LINES);
  await context.setOffline(false);
  assert.deepEqual(await translated(page), OUTPUT);
  await jobs('done');
});

pageTest('a job needs the key', { script: { key: 'sesame' } }, async (page) => {
  await put(page, TEXT);
  await page.locator('#key-dialog').waitFor();
  await page.fill('#key', 'sesame');
  await page.keyboard.press('Enter');
  assert.deepEqual(await translated(page), OUTPUT);
  await jobs('done');
});

pageTest('a long line is a job', {}, async (page) => {
  await put(page, 'Where is the station? '.repeat(3000));
  const [line] = await translated(page);
  assert(line.length > 30_000, `${line.length} characters`);
  await page.reload();
  assert.deepEqual(await translated(page), [line]);
});
