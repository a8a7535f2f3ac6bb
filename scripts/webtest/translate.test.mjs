// Translating: typing, streaming, languages, highlighting, copying.

import assert from 'node:assert/strict';
import { base, control, eventually, fitsWidth, has, isFake, pageTest, pick, says, stopClock, translate, translated, useBrowser } from './browser.mjs';

useBrowser();

const QUESTION = 'Where is the station?';

/** Waits until the made-up API has seen so many requests; returns them. */
const requests = (count) =>
  eventually(async () => {
    const seen = control.seen();
    assert.equal(seen.length, count);
    return seen;
  });

/** Asserts an answer of the made-up API; of a real one that there is an answer. */
function expectLines(lines, made) {
  if (isFake) assert.deepEqual(lines, made);
  else assert.equal(lines.length, made.length);
}

pageTest('translates as one types and shows the language that it found', { path: '/#auto/fr' }, async (page) => {
  await page.locator('#source').pressSequentially('Where is the station?');
  expectLines(await translated(page), ['Où est la gare ?']);
  await says(page.locator('#from .picker-value'), 'English (detected)');
  await says(page.locator('#count'), '21 characters');
  await has(page.locator('#source'), 'lang', 'en');
  await has(page.locator('#output'), 'lang', 'fr');
});

pageTest('Control and Enter translates at once', { script: {} }, async (page) => {
  await stopClock(page); // only the keys can start it
  await page.fill('#source', QUESTION);
  await page.keyboard.press('Control+Enter');
  await says(page.locator('#output'), 'Où est la gare ?');
  assert.equal(control.seen().length, 1);
});

pageTest('keeps blank lines and indentation', {}, async (page) => {
  const lines = await translate(page, `Good morning.\n\n${QUESTION}\n`);
  expectLines(lines, ['Bonjour.', '', 'Où est la gare ?', '']);
});

pageTest('shows results as they come, each in its place', { script: { hold: true } }, async (page) => {
  await page.fill('#source', 'One.\nTwo.\nThree.');
  const shows = (...lines) => eventually(async () => assert.deepEqual(await page.locator('#output .line').allInnerTexts(), lines));
  await requests(1);
  await has(page.locator('#output'), 'aria-busy', 'true');
  control.release('Three.');
  await shows('', '', '[fr] Three.');
  await says(page.locator('#status'), 'Translating, 1 of 3 lines');
  control.release('One.');
  await shows('[fr] One.', '', '[fr] Three.');
  control.release('Two.');
  await shows('[fr] One.', '[fr] Two.', '[fr] Three.');
  await has(page.locator('#output'), 'aria-busy', 'false');
});

pageTest('asks only for lines that are new', { script: {} }, async (page) => {
  await translate(page, 'One.\nTwo.\nTwo.\n\nThree.');
  await translate(page, 'One.\nTwo.\nTwo.\n\nThree, changed.');
  await translate(page, 'Zero.\nOne.\nTwo.\nThree.');
  const seen = control.seen();
  assert.deepEqual(seen.map(({ texts }) => texts), [['One.', 'Two.', 'Three.'], ['Three, changed.'], ['Zero.']]);
});

pageTest('typing on ends the request in flight', { script: { hold: true } }, async (page) => {
  await page.fill('#source', 'One');
  await requests(1);
  await page.fill('#source', 'One two');
  await eventually(async () => assert.equal(control.seen()[0].state, 'cancelled'));
  control.release('One', 'One two');
  assert.deepEqual(await translated(page), ['[fr] One two']);
});

pageTest('clearing ends the request in flight', { script: { hold: true } }, async (page) => {
  await page.fill('#source', 'One');
  await requests(1);
  await page.click('#clear');
  await eventually(async () => assert.equal(control.seen()[0].state, 'cancelled'));
  await says(page.locator('#count'), '0 characters');
  await has(page.locator('#output'), 'aria-busy', 'false');
  assert.equal(await page.locator('#source').evaluate((element) => element === document.activeElement), true);
  assert.equal(await page.locator('#copy').isVisible(), false);
});

pageTest('swaps languages and texts', {}, async (page) => {
  const [french] = await translate(page, QUESTION);
  await page.click('#swap');
  assert.equal(await page.inputValue('#source'), french);
  await says(page.locator('#from .picker-value'), /français/i);
  await says(page.locator('#to .picker-value'), /English/);
  expectLines(await translated(page), [QUESTION]);
  assert.equal(new URL(page.url()).hash, '#fr/en');
});

pageTest('swaps to the language that it found', { path: '/#auto/fr' }, async (page) => {
  await translate(page, QUESTION);
  await says(page.locator('#from .picker-value'), /English/);
  await page.click('#swap');
  assert.equal(new URL(page.url()).hash, '#fr/en');
});

pageTest('says when there is nothing to translate', { script: {}, path: '/#auto/en' }, async (page) => {
  await translate(page, QUESTION);
  await says(page.locator('#notes'), 'The text is in English already.');
});

pageTest('finds languages by typing', { path: '/#en/fr' }, async (page) => {
  await pick(page, 'to', 'japan');
  await says(page.locator('#to .picker-value'), '日本語');
  await page.click('#to .picker-button');
  const options = page.locator('#to [role=option]');
  for (const typed of ['FRANC', 'fra', 'frÄnc']) {
    await page.fill('#to input', typed);
    await says(options.first(), /fran/i);
  }
  await page.fill('#to input', 'klingon');
  await says(page.locator('#to .picker-none'), 'No language fits.');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await says(page.locator('#to .picker-value'), '日本語');
});

pageTest('remembers languages', { path: '/', script: {} }, async (page) => {
  await pick(page, 'from', 'english');
  await pick(page, 'to', 'arabic');
  await pick(page, 'to', 'japanese');
  await translate(page, QUESTION);
  assert.equal(new URL(page.url()).hash, '#en/ja');

  await page.goto('about:blank');
  await page.goto(`${base}/`);
  await says(page.locator('#from .picker-value'), 'English');
  await says(page.locator('#to .picker-value'), '日本語');
  await page.click('#to .picker-button');
  const recent = page.getByRole('group', { name: 'Recent' }).getByRole('option');
  assert.deepEqual((await recent.allInnerTexts()).map((text) => text.split(/\s/)[0]), ['日本語', 'العربية', 'English']);
});

pageTest('takes the same language on both sides for a swap', {}, async (page) => {
  await pick(page, 'to', 'english');
  assert.equal(new URL(page.url()).hash, '#fr/en');
  await pick(page, 'from', 'english');
  assert.equal(new URL(page.url()).hash, '#en/fr');
});

pageTest('follows the address', {}, async (page) => {
  await translate(page, QUESTION);
  await page.evaluate(() => (location.hash = '#en/ja'));
  await says(page.locator('#to .picker-value'), '日本語');
  expectLines(await translated(page), ['駅はどこですか。']);
  await page.evaluate(() => (location.hash = '#en/xx'));
  await says(page.locator('#to .picker-value'), '日本語');
});

pageTest('shows which sentence comes from which', { script: {} }, async (page) => {
  await translate(page, `Good morning. ${QUESTION}\nStay a while.`);
  const marked = (side, text) => eventually(async () => assert.deepEqual(await page.locator(`#${side} .active`).allInnerTexts(), text ? [text] : []));
  const pairs = [['Good morning.', 'Bonjour.'], [QUESTION, 'Où est la gare ?'], ['Stay a while.', 'Restez un peu.']];
  const clear = () => page.locator('h1').hover();

  await page.locator('#swap').focus();
  for (const [i, [source, output]] of pairs.entries()) {
    await page.locator('#output .segment').nth(i).hover();
    await marked('mirror', source);
    await marked('output', output);
    await clear();
    await marked('output', '');

    const box = await page.locator('#mirror .segment').nth(i).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await marked('output', output);
    await marked('mirror', source);
    await clear();
    await marked('mirror', '');
  }

  await page.locator('#source').focus();
  await page.keyboard.press('Control+Home');
  await marked('output', 'Bonjour.');
  await page.keyboard.press('End');
  await marked('output', 'Où est la gare ?');
  await page.keyboard.press('Control+End');
  await marked('output', 'Restez un peu.');
  await page.keyboard.type(' Yes');
  await translated(page);
  await marked('output', '[fr] Yes');
});

// The mirror must break lines where the text area does, or marks are in the wrong place.
pageTest('the mirror is as high as the text', { viewport: { width: 700, height: 500 } }, async (page) => {
  const long = 'A sentence of some words that goes on and on. '.repeat(20);
  await page.fill('#source', `${long}\n\n\tindented   text \n${'unbroken'.repeat(40)}\n漢字と仮名の交じった文。${'長い文。'.repeat(30)}\n`);
  await eventually(async () => {
    const { content, box } = await page.locator('#source').evaluate(({ scrollHeight, clientHeight }) => ({ content: scrollHeight, box: clientHeight }));
    assert.equal(content, box);
  });
  const { mirror, source } = await page.evaluate(() => {
    const area = document.getElementById('source');
    const copy = area.cloneNode();
    copy.value = area.value;
    copy.style.cssText = 'block-size: 0; min-block-size: 0; position: absolute';
    copy.style.inlineSize = `${area.clientWidth}px`;
    area.parentElement.append(copy);
    const result = { mirror: document.getElementById('mirror').scrollHeight, source: copy.scrollHeight };
    copy.remove();
    return result;
  });
  assert.equal(mirror, source);
  await fitsWidth(page);
});

pageTest('says in words what may be wrong', { script: {} }, async (page) => {
  await translate(page, 'flag:truncated');
  await says(page.locator('#notes'), 'This translation may be incomplete.');
  await translate(page, 'Fine.\nflag:loop flag:markup_lost\nflag:new_one');
  await says(page.locator('#notes'), 'Line 2 may repeat itself and may lack a tag, link or placeholder.\nLine 3 may be wrong (new_one).');
  await translate(page, Array.from({ length: 8 }, (_, i) => `${i} flag:loop`).join('\n'));
  await says(page.locator('#notes'), /3 more lines have such faults\.$/);
  await translate(page, 'Fine.');
  await page.locator('#notes').waitFor({ state: 'hidden' });
});

pageTest('copies', { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  const lines = await translate(page, `Good morning.\n\n${QUESTION}`);
  await page.click('#copy');
  await says(page.locator('#copy'), 'Copied');
  await says(page.locator('#status'), 'Copied to the clipboard');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), lines.join('\n'));
  await says(page.locator('#copy'), 'Copy');
});

pageTest('copies without the clipboard API, as on plain HTTP', {}, async (page) => {
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  const [french] = await translate(page, QUESTION);
  await page.click('#copy');
  await says(page.locator('#copy'), 'Copied');
  await page.locator('#source').focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+v');
  assert.equal(await page.inputValue('#source'), french);
});

pageTest('an input method is not disturbed', { script: {} }, async (page, context) => {
  const client = await context.newCDPSession(page);
  await page.locator('#source').focus();
  await stopClock(page);
  await client.send('Input.imeSetComposition', { text: 'えき', selectionStart: 2, selectionEnd: 2 });
  await page.clock.runFor(5000);
  assert.deepEqual(control.seen(), []);
  await client.send('Input.insertText', { text: '駅' });
  await page.clock.runFor(5000);
  assert.deepEqual((await requests(1))[0].texts, ['駅']);
});
