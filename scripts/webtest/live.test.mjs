// Live text: the translation of what is being typed.

import assert from 'node:assert/strict';
import { control, eventually, pageTest, says, stopClock, translate, translated, useBrowser } from './browser.mjs';

useBrowser();

const LIVE = { script: { live: true } };
const TEXT = 'Where is the station?';

/** What the output has shown, each time that it changed. */
async function record(page) {
  await page.evaluate(() => {
    window.shown = [];
    const output = document.getElementById('output');
    new MutationObserver(() => window.shown.push(output.textContent)).observe(output, { childList: true, subtree: true, characterData: true });
  });
  return () => page.evaluate(() => window.shown);
}

pageTest('translates while one types, without a pause', LIVE, async (page) => {
  await page.waitForLoadState('networkidle');
  await stopClock(page); // nobody pauses
  await page.locator('#source').pressSequentially(`${TEXT} It is not far from here`);
  await says(page.locator('#output'), /gare/);
  assert.equal(await page.locator('#output .draft').count(), 1);
  await page.clock.resume();
  const [line] = await translated(page);
  assert.match(line, /gare.+\S/);
  assert.equal(await page.locator('#output .segment').count(), 2);
  assert.equal(control.seen().length, 0, 'no request is needed');
  assert.equal(control.liveConnections(), 1);
});

pageTest('a sentence that is being written does not flicker', LIVE, async (page) => {
  await page.waitForLoadState('networkidle');
  const shown = await record(page);
  await page.locator('#source').pressSequentially('The people who were present in the room were surprised.', { delay: 30 });
  const [final] = await translated(page);
  const words = (text) => text.split(/\s+/).filter(Boolean);
  let erased = 0;
  const states = (await shown()).map(words);
  states.forEach((state, i) => {
    const before = states[i - 1] ?? [];
    let same = 0;
    while (same < before.length && before[same] === state[same]) same++;
    erased += before.length - same;
  });
  assert(states.length > 3, `${states.length} states`);
  assert(erased <= words(final).length, `${erased} words were taken back of ${words(final).length}`);
});

pageTest('lines keep their translations while others are edited', LIVE, async (page) => {
  await page.waitForLoadState('networkidle');
  const before = await translate(page, `Good morning.\n\n${TEXT}\n  I can cook.`);
  assert.equal(before.length, 4);
  assert.equal(before[1], '');
  await page.locator('#source').press('Control+Home');
  await page.locator('#source').pressSequentially('It is late. 😀 ');
  const after = await translated(page);
  assert.deepEqual(after.slice(1), before.slice(1));
  assert.match(after[0], /😀/u);
  assert.equal(control.seen().length, 0);
  assert.equal(await page.locator('#output .segment').count(), (await page.locator('#mirror .segment').count()));
});

pageTest('finds the language, and swaps', { ...LIVE, path: '/#auto/fr' }, async (page) => {
  await page.waitForLoadState('networkidle');
  await page.locator('#source').pressSequentially(TEXT);
  const [french] = await translated(page);
  await says(page.locator('#from .picker-value'), 'English (detected)');
  await page.click('#swap');
  assert.equal(await page.inputValue('#source'), french);
  await translated(page);
  assert.equal(control.seen().length, 0);
});

pageTest('a connection that breaks is made again', LIVE, async (page) => {
  await page.waitForLoadState('networkidle');
  await page.locator('#source').pressSequentially(TEXT);
  await translated(page);
  control.cutLive();
  await page.locator('#source').pressSequentially(' I can cook.');
  const [first] = await translated(page); // maybe by a request
  assert.match(first, /gare/);
  await eventually(async () => {
    await page.locator('#source').press('x');
    assert(control.liveConnections() > 1);
  });
  await translated(page);
});

pageTest('without connections there are requests', { script: { live: 'broken' } }, async (page) => {
  await page.waitForLoadState('networkidle');
  await page.locator('#source').pressSequentially('One. Two');
  assert.deepEqual(await translated(page), ['[fr] One. [fr] Two']);
  assert(control.liveConnections() > 0);
});

pageTest('a glossary is used by requests', {
  script: { live: true, glossaries: [{ id: 'g', name: 'Ours', dictionaries: [{ from: 'en', to: 'fr' }] }] },
}, async (page) => {
  await page.selectOption('#glossary', 'g');
  assert.deepEqual(await translate(page, 'One.'), ['[fr] One.']);
  assert.equal(control.seen()[0].glossaryId, 'g');
  assert.equal(control.liveConnections(), 0);
});

pageTest('a message that goes over lines, and a long text, are for requests', LIVE, async (page) => {
  await page.waitForLoadState('networkidle');
  await translate(page, '{n, plural,\n one {a file}\n other {files}}');
  assert(control.seen().length > 0);
  await translate(page, 'One. '.repeat(2500));
  assert.equal(control.seen().at(-1).texts[0].length, 12_500);
});
