// Other translations of a sentence: looking at them, choosing one.

import assert from 'node:assert/strict';
import { control, eventually, fitsWidth, has, isFake, pageTest, put, says, screenshot, translate, translated, useBrowser } from './browser.mjs';

useBrowser();

const options = (page) => page.locator('#choices [role=option]');
const sentence = (page, number) => page.locator('#output .segment').nth(number);
const focused = (page) => page.evaluate(() => document.activeElement.textContent);

/** Waits for the list of a sentence; returns what it has. */
const listed = (page) =>
  eventually(async () => {
    const texts = await options(page).allInnerTexts();
    assert(texts.length > 0);
    return texts;
  });

const closed = (page) => eventually(async () => assert.equal(await page.locator('#choices').isVisible(), false));

pageTest('a click shows other translations, and another puts one in place', {}, async (page) => {
  const [before] = await translate(page, 'Good morning. Where is the station?');
  await sentence(page, 1).click();
  const texts = await listed(page);
  assert(texts.length > 1);
  assert.equal(new Set(texts).size, texts.length);
  assert.equal(texts[0], await sentence(page, 1).innerText());
  await has(options(page).first(), 'aria-selected', 'true');
  await has(sentence(page, 1), 'aria-expanded', 'true');
  await screenshot(page, 'alternatives');
  await options(page).nth(1).click();
  await closed(page);
  assert.deepEqual(await translated(page), [before.replace(texts[0], () => texts[1])]);
  assert.equal(await focused(page), texts[1]);

  await sentence(page, 1).click(); // what was there can be had back
  assert((await listed(page)).includes(texts[0]));
});

pageTest('keys do the same', {}, async (page) => {
  await translate(page, 'Where is the station?');
  await sentence(page, 0).focus();
  await page.keyboard.press('Enter');
  const texts = await listed(page);
  await page.keyboard.press('ArrowDown');
  await has(options(page).nth(1), 'class', 'choice active');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  await has(options(page).last(), 'class', 'choice active');
  await page.keyboard.press('Enter');
  await closed(page);
  assert.deepEqual(await translated(page), [texts.at(-1)]);
  assert.equal(await focused(page), texts.at(-1));
  await page.keyboard.press('Space');
  await listed(page);
  await page.keyboard.press('Escape');
  await closed(page);
  assert.equal(await focused(page), texts.at(-1));
});

pageTest('what was chosen is copied, swapped, and there again', { script: {} }, async (page, context) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await translate(page, 'One.\nTwo.');
  await sentence(page, 1).click();
  await listed(page);
  await options(page).nth(2).click();
  await page.click('#copy');
  await eventually(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), '[fr] One.\n[fr] Two. (third)'));
  assert.deepEqual(await translate(page, 'Zero.\nTwo.'), ['[fr] Zero.', '[fr] Two. (third)']);
});

pageTest('one sentence is asked for, in the language of the text', { script: {}, path: '/#auto/fr' }, async (page) => {
  await translate(page, '駅はどこですか。OK.');
  await sentence(page, 1).click();
  await listed(page);
  const { state, ...asked } = control.seen().at(-1);
  assert.deepEqual(asked, { fromLang: 'ja', toLang: 'fr', texts: ['OK.'], alternatives: 5 });
});

pageTest('a server with narrow searches shows what it can', { script: { mostAlternatives: 2 } }, async (page) => {
  await translate(page, 'One.');
  await sentence(page, 0).click();
  assert.deepEqual(await listed(page), ['[fr] One.', '[fr] One. (second)']);
});

pageTest('says that there are no others', { script: {} }, async (page) => {
  await translate(page, 'The only one.');
  await sentence(page, 0).click();
  await says(page.locator('#choices-status'), 'There are no other translations.');
  assert.deepEqual(await listed(page), ['[fr] The only one.']);
});

pageTest('says what went wrong', { script: { mostAlternatives: 1 } }, async (page) => {
  await translate(page, 'One.');
  await sentence(page, 0).click();
  await says(page.locator('#choices-status'), 'Ask for 1 or fewer.');
  await page.keyboard.press('Escape');
  await closed(page);
  assert.deepEqual(await translated(page), ['[fr] One.']);
});

pageTest('a new text closes the list and ends the question', { script: { hold: true } }, async (page) => {
  control.release('One.');
  await translate(page, 'One.');
  control.set({ hold: true });
  await sentence(page, 0).click();
  await says(page.locator('#choices-status'), 'Looking for other translations');
  await put(page, 'Two.');
  await closed(page);
  await eventually(async () => assert.equal(control.seen()[0].state, 'cancelled'));
});

pageTest('selecting a part of the translation shows nothing', { script: {} }, async (page) => {
  await translate(page, 'Where is the station?');
  await sentence(page, 0).dblclick();
  await closed(page);
  assert.notEqual(await page.evaluate(() => document.getSelection().toString()), '');
});

pageTest('the list fits a small window', { viewport: { width: 320, height: 560 } }, async (page) => {
  await translate(page, 'Good morning. Where is the station? By noon the cafés are full, and nobody is in a hurry.');
  await sentence(page, 2).click();
  await listed(page);
  await fitsWidth(page);
  if (isFake) await screenshot(page, 'alternatives-small');
});

pageTest('a corrected sentence is remembered, and used from then on', { script: { memory: [] } }, async (page) => {
  await translate(page, 'Where is the station?');
  await sentence(page, 0).click();
  await listed(page);
  await page.keyboard.press('F2');
  await page.locator('#choices-text').fill('Mais où est la gare ?');
  await page.locator('#choices-keep').click();
  await closed(page);
  assert.deepEqual(await translated(page), ['Mais où est la gare ?']);
  const [kept] = control.kept();
  assert.deepEqual(kept.entries, [{ source: 'Where is the station?', target: 'Mais où est la gare ?' }]);
  await translate(page, 'Where is the bus?');
  assert.equal(control.seen().at(-1).memoryId, 'page');
  await page.reload();
  await translate(page, 'Where is the car?');
  assert.equal(control.seen().at(-1).memoryId, 'page');
});
