// What goes wrong: busy and broken servers, keys, networks, hostile and long texts.

import assert from 'node:assert/strict';
import { control, eventually, fitsWidth, has, pageTest, put, says, stopClock, translate, translated, useBrowser } from './browser.mjs';

useBrowser();

const busy = (retryAfter, status = 503) => ({ status, code: status === 503 ? 'busy' : 'rate_limited', message: 'try again', retryAfter });
const broken = { status: 500, code: 'internal', message: 'internal error, request id 77' };
const cut = (after) => ({ after });
const script = (...failures) => ({ script: { failures } });

const notice = (page) => page.locator('#notice-text');
const gone = (page) => page.locator('#notice').waitFor({ state: 'hidden' });

for (const [name, failure, message] of [
  ['a busy server', busy('2'), 'The server is busy.'],
  ['a server that limits the rate', busy('2', 429), 'This is more than the server allows at once.'],
  ['a busy server that gives a date', busy(new Date(Date.now() + 3_600_000).toUTCString()), 'The server is busy.'],
]) {
  pageTest(`${name} is waited for`, script(failure), async (page) => {
    await page.fill('#source', 'One.');
    await says(notice(page), message);
    await says(page.locator('#notice-count'), /^Trying again in \d+ s\.$/);
    if (failure.retryAfter.length > 1) await page.click('#notice-button'); // an hour
    assert.deepEqual(await translated(page), ['[fr] One.']);
    await gone(page);
    assert.equal(control.seen().length, 2);
  });
}

pageTest('the countdown counts', script(busy('600')), async (page) => {
  await page.clock.install();
  await page.fill('#source', 'One.');
  const count = page.locator('#notice-count');
  await says(count, /in (600|599) s/);
  await page.clock.runFor(100_000);
  await says(count, /in (500|49\d) s/);
  await says(page.locator('#notice-button'), 'Try now');
  await page.click('#notice-button');
  assert.deepEqual(await translated(page), ['[fr] One.']);
});

pageTest('typing on does not hurry a busy server', script(busy('600')), async (page) => {
  await page.fill('#source', 'One.');
  await says(notice(page), 'The server is busy.');
  await page.fill('#source', 'One. Two.');
  await says(page.locator('#notice-count'), /in 5\d\d s/);
  assert.equal(control.seen().length, 1);
  await page.click('#notice-button');
  assert.deepEqual(await translated(page), ['[fr] One. [fr] Two.']);
});

pageTest('an error is shown and can be retried', script(broken, broken), async (page) => {
  await page.fill('#source', 'One.');
  for (let i = 0; i < 2; i++) {
    await says(notice(page), 'Internal error, request id 77.');
    await page.click('#notice-button');
  }
  assert.deepEqual(await translated(page), ['[fr] One.']);
  await gone(page);
});

pageTest('an error goes away with the text', script(broken), async (page) => {
  await page.fill('#source', 'One.');
  await says(notice(page), /request id 77/);
  await page.click('#clear');
  await gone(page);
  assert.deepEqual(await translate(page, 'Two.'), ['[fr] Two.']);
});

pageTest('what a cut answer lacks is asked for again', { script: { hold: true, failures: [cut(1)] } }, async (page) => {
  await page.fill('#source', 'One.\nTwo.\nThree.');
  control.release('One.');
  await says(page.locator('#output .line').first(), '[fr] One.');
  control.release('Two.', 'Three.'); // breaks the connection
  assert.deepEqual(await translated(page), ['[fr] One.', '[fr] Two.', '[fr] Three.']);
  const seen = control.seen();
  assert.deepEqual(seen.map(({ texts }) => texts.length), [3, 2]);
});

pageTest('answers that are always cut are not asked for forever', script(cut(0), cut(0), cut(0)), async (page) => {
  await page.fill('#source', 'One.');
  await says(notice(page), 'The connection was cut before the translation was complete.');
  assert.equal(control.seen().length, 3);
  await page.click('#notice-button');
  assert.deepEqual(await translated(page), ['[fr] One.']);
});

pageTest('an error within the stream is shown', script({ after: 1, code: 'timeout', message: 'the translation took longer than 5m0s' }), async (page) => {
  await page.fill('#source', 'One.\nTwo.');
  await says(notice(page), 'The translation took longer than 5m0s.');
  await says(page.locator('#output .line').first(), '[fr] One.');
  await page.click('#notice-button');
  assert.deepEqual(await translated(page), ['[fr] One.', '[fr] Two.']);
});

pageTest('a server that takes few records gets few', { script: { maxRecords: 2 } }, async (page) => {
  const lines = Array.from({ length: 7 }, (_, i) => `Line ${i}.`);
  assert.deepEqual(await translate(page, lines.join('\n')), lines.map((line) => `[fr] ${line}`));
});

pageTest('a model that loads is waited for', { script: { loading: true } }, async (page) => {
  await says(notice(page), /^The model is loading\./);
  await page.fill('#source', 'One.');
  assert.equal(await page.locator('#from .picker-button').isEnabled(), false);
  control.set({});
  assert.deepEqual(await translated(page), ['[fr] One.']);
  await gone(page);
});

const fetching = (share) => ({ status: 503, code: 'not_ready', message: `the model firefox:en-fr is being fetched (${share}): try again in a moment`, retryAfter: '1' });

pageTest('a model that is fetched is waited for, and the page shows how much there is', script(fetching('not begun, since others are first'), fetching('7 % of 40 MB'), fetching('93 % of 40 MB')), async (page) => {
  await stopClock(page);
  await page.fill('#source', 'One.');
  await page.keyboard.press('Control+Enter');
  for (const share of ['', '7 %', '93 %']) {
    await says(notice(page), 'The model for these languages is being fetched. This page goes on by itself.');
    await says(page.locator('#notice-count'), share);
    assert.equal(await page.locator('#notice-button').isVisible(), false);
    await page.clock.runFor(1100);
  }
  await page.clock.resume();
  assert.deepEqual(await translated(page), ['[fr] One.']);
  await gone(page);
});

pageTest('a model that loads again is waited for', { script: {} }, async (page) => {
  await translate(page, 'One.');
  control.set({ loading: true });
  await page.fill('#source', 'Two.');
  await says(notice(page), /^The model is loading\./);
  control.set({});
  assert.deepEqual(await translated(page), ['[fr] Two.']);
});

pageTest('goes on when the network comes back', {}, async (page, context) => {
  await translate(page, 'Good morning.');
  await context.setOffline(true);
  await page.fill('#source', 'Where is the station?');
  await says(notice(page), 'You are offline.');
  await context.setOffline(false);
  await translated(page);
  await gone(page);
});

pageTest('asks for an API key', { script: { key: 'sesame' } }, async (page, context) => {
  const dialog = page.locator('#key-dialog');
  await page.fill('#source', 'One.');
  await dialog.waitFor();
  await says(page.locator('#key-text'), /^Ask whoever runs this server/);
  await page.fill('#key', 'wrong');
  await page.keyboard.press('Enter');
  await says(page.locator('#key-text'), /not accepted/);
  await page.fill('#key', 'schlüssel mit leerzeichen');
  await page.keyboard.press('Enter');
  assert.equal(await dialog.isVisible(), true);
  await page.fill('#key', ' sesame ');
  await page.click('text=Use this key');
  await dialog.waitFor({ state: 'hidden' });
  assert.deepEqual(await translated(page), ['[fr] One.']);

  await page.reload();
  await translate(page, 'Two.');
  assert.equal(await dialog.isVisible(), false);
  assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage }).includes('sesame')), false);
  assert(!page.url().includes('sesame'));
  const other = await context.newPage(); // another tab knows no key
  await other.goto(page.url());
  await other.fill('#source', 'One.');
  await other.locator('#key-dialog').waitFor();
});

pageTest('a key can be refused and given later', { script: { key: 'sesame' } }, async (page) => {
  await page.fill('#source', 'One.');
  await page.locator('#key-dialog').waitFor();
  await page.keyboard.press('Escape');
  await says(notice(page), 'This server translates for those who have an API key.');
  await page.click('#notice-button');
  await page.click('#key-cancel');
  await page.click('#notice-button');
  await page.fill('#key', 'sesame');
  await page.keyboard.press('Enter');
  assert.deepEqual(await translated(page), ['[fr] One.']);
});

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  'javascript:alert(1)',
  '</textarea><iframe srcdoc="<script>alert(1)</script>">',
  '<style>*{display:none}</style>{{constructor.constructor("alert(1)")()}}',
];

pageTest('texts and translations are never HTML', { script: {} }, async (page) => {
  const elements = await page.locator('*').count();
  await page.click('#swap'); // to English and back: each side shows the text
  for (const text of HOSTILE) {
    const [line] = await translate(page, text);
    assert(line.includes(text), line);
    assert.equal(await page.locator('img, iframe, #output script, #output svg, #output style').count(), 0);
  }
  await page.click('#clear');
  await eventually(async () => assert.equal(await page.locator('*:not(.line)').count(), elements - 2));
});

pageTest('messages, flags and addresses are never HTML', script({ ...broken, message: HOSTILE[0] }), async (page) => {
  await page.fill('#source', 'flag:x');
  await says(notice(page), `${HOSTILE[0]}.`);
  await page.evaluate((text) => (location.hash = `#en/${text}`), HOSTILE[0]);
  await page.click('#notice-button');
  await translated(page);
  assert.equal(await page.locator('img').count(), 0);
});

pageTest('odd characters come through', { script: {} }, async (page) => {
  for (const text of ['\u0000 \u0007', 'e\u0301 👩‍👩‍👧 🇯🇵', '\u202eright to left', '\ufeff\u200b', 'tab\there', '\\n "quoted" \'single\'', '𝒳']) {
    const [line] = await translate(page, `${text}.`);
    assert.equal(line, `[fr] ${text}.`);
  }
  await page.fill('#source', '👍🏽');
  await says(page.locator('#count'), '2 characters');
});

pageTest('a text of many lines', { script: {} }, async (page) => {
  const lines = Array.from({ length: 1000 }, (_, i) => `Line ${i} of a long text.`);
  await put(page, lines.join('\n'));
  const output = await translated(page);
  assert.equal(output.length, lines.length);
  assert.equal(output.at(-1), '[fr] Line 999 of a long text.');
  const seen = control.seen();
  assert(seen.every(({ texts }) => texts.length <= 128));
  await fitsWidth(page);
  await page.locator('#source').press('Control+End');
  await page.keyboard.type('!');
  assert.equal((await translated(page)).at(-1), '[fr] Line 999 of a long text.!');
});

pageTest('a line of many characters', { script: {} }, async (page) => {
  const text = `${'word '.repeat(20_000)}${'x'.repeat(10_000)}`;
  await put(page, text);
  const [line] = await translated(page);
  assert.equal(line, `[fr] ${text}`);
  await says(page.locator('#count'), '110,000 characters');
  await fitsWidth(page);
  await has(page.locator('#output'), 'aria-busy', 'false');
});
