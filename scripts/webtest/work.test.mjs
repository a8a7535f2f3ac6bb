// What a person has done is kept: texts, sentences, languages; and links bring them.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { base, control, eventually, fitsWidth, has, pageTest, pick, put, says, screenshot, stopClock, translate, translated, useBrowser } from './browser.mjs';

useBrowser();

const QUESTION = 'Where is the station?';
const options = (page) => page.locator('#choices [role=option]');
const sentence = (page, number) => page.locator('#output .segment').nth(number);
const source = (page, text) => eventually(async () => assert.equal(await page.inputValue('#source'), text));
const pasts = (page) => page.locator('#history-list button');
const stored = (page) => page.evaluate(() => JSON.parse(localStorage.getItem('dragoman.history')) ?? []);

/** Waits until the history has these texts, the latest first. */
const keeps = (page, ...texts) => eventually(async () => assert.deepEqual((await stored(page)).map(({ text }) => text), texts));

/** Puts another translation in the place of a sentence: an alternative by its number, or a text. */
async function choose(page, number, other) {
  await sentence(page, number).click();
  await options(page).nth(2).waitFor();
  if (typeof other === 'number') return options(page).nth(other).click();
  await page.click('#choices-change');
  await page.fill('#choices-text', other);
  return page.click('#choices-form [type=submit]');
}

for (const [name, other, shown] of [['an alternative that was chosen', 1, '[fr] Two. (second)'], ['a sentence that was written', 'Deux !', 'Deux !']]) {
  pageTest(`${name} survives edits elsewhere`, { script: {} }, async (page) => {
    await translate(page, 'One. Two. Three.\nFour.');
    await choose(page, 1, other);
    for (const [text, lines] of [
      ['One, changed. Two. Three.\nFour.', [`[fr] One, changed. ${shown} [fr] Three.`, '[fr] Four.']], // before it
      ['One, changed. Two. Three? Five.\nFour.', [`[fr] One, changed. ${shown} [fr] Three? [fr] Five.`, '[fr] Four.']], // behind it
      ['Zero.\nOne.\nTwo. Three.', ['[fr] Zero.', '[fr] One.', `${shown} [fr] Three.`]], // its line is divided
      ['Two, changed.', ['[fr] Two, changed.']],
      ['One. Two.', [`[fr] One. ${shown}`]], // it comes back
    ]) assert.deepEqual(await translate(page, text), lines);
    await pick(page, 'to', 'german');
    assert.deepEqual(await translated(page), ['[de] One. [de] Two.']);
    await pick(page, 'to', 'french');
    assert.deepEqual(await translated(page), [`[fr] One. ${shown}`]);
    await page.reload();
    assert.deepEqual(await translated(page), [`[fr] One. ${shown}`]);
  });
}

pageTest('a sentence of the translation is edited with the keyboard alone', { script: {} }, async (page) => {
  await translate(page, 'One. Two.');
  await sentence(page, 0).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('F2');
  await has(page.locator('#choices-text'), 'lang', 'fr');
  assert.equal(await page.inputValue('#choices-text'), '[fr] Two.');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Deux.');
  await page.keyboard.press('Enter');
  assert.deepEqual(await translated(page), ['[fr] One. Deux.']);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Deux.');

  await page.keyboard.press('F2'); // Escape leaves it as it was
  await page.keyboard.type('?');
  await page.keyboard.press('Escape');
  assert.deepEqual(await translated(page), ['[fr] One. Deux.']);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Deux.');

  await page.keyboard.press('F2'); // a sentence cannot be emptied
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Enter');
  assert.deepEqual(await translated(page), ['[fr] One. Deux.']);
});

pageTest('what is being written is not lost with the focus', { script: {} }, async (page) => {
  await translate(page, 'One. Two.');
  await sentence(page, 0).focus();
  await page.keyboard.press('F2');
  await page.fill('#choices-text', 'Un,\r\n$& un.');
  await page.locator('#source').click();
  assert.deepEqual(await translated(page), ['Un, $& un. [fr] Two.']);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'source');
});

pageTest('a reload keeps text, languages and tab', { script: {}, path: '/' }, async (page) => {
  await pick(page, 'from', 'english');
  await pick(page, 'to', 'japanese');
  await translate(page, `${QUESTION}\n\tindented & <b>`);
  await page.click('#documents-tab');
  await page.reload();
  await page.locator('#documents-panel').waitFor();
  await page.click('#text-tab');
  await source(page, `${QUESTION}\n\tindented & <b>`);
  await says(page.locator('#from .picker-value'), 'English');
  assert.equal((await translated(page))[0], '駅はどこですか。');
  await page.click('#clear');
  await page.reload();
  await says(page.locator('#count'), '0 characters');
});

pageTest('another tab has the languages and no text', { script: {} }, async (page, context) => {
  await translate(page, QUESTION);
  await page.reload();
  const other = await context.newPage();
  await other.goto(`${base}/`);
  await says(other.locator('#to .picker-value'), /français/);
  await says(other.locator('#count'), '0 characters');
});

for (const [path, text, hash] of [
  ['/?source=en&target=de&q=Good+morning.%0AStay%20a%20while%26', 'Good morning.\nStay a while&', '#en/de'],
  ['/?target=de&q=One.', 'One.', '#auto/de'],
  ['/?q=100%25+%2B+caf%C3%A9', '100% + café', '#auto/en'],
  ['/?source=german&target=PT-br', '', '#de/pt'],
  ['/?source=auto&target=xx&q=One.', 'One.', '#auto/en'],
  ['/?q=One.&other=1#en/fr', 'One.', '#en/fr'],
  ['/#en/de/Good%20morning.%20and%2For%3F', 'Good morning. and/or?', '#en/de'],
  ['/#en/de/either/or', 'either/or', '#en/de'],
  ['/#en/de/50% of it', '50% of it', '#en/de'],
  ['/#auto/zh-Hans/%F0%9F%91%8D%3Cb%3E', '👍<b>', '#auto/zh'],
]) {
  pageTest(`a link brings a text: ${path}`, { script: {}, path }, async (page) => {
    await source(page, text);
    if (text) await translated(page);
    await eventually(() => assert.equal(new URL(page.url()).hash, hash));
    const { search } = new URL(page.url());
    assert.equal(search, path.includes('other') ? '?other=1' : '', 'the text does not stay in the address');
    await page.fill('#source', `${text} More.`);
    await translated(page);
    await page.reload();
    await source(page, `${text} More.`); // and does not come back
  });
}

pageTest('a link in an open page keeps what was there', { script: {} }, async (page) => {
  await translate(page, 'One.');
  await page.evaluate(() => (location.hash = '#de/en/Zwei.'));
  await source(page, 'Zwei.');
  assert.deepEqual(await translated(page), ['[en] Zwei.']);
  await keeps(page, 'Zwei.', 'One.');
  assert.deepEqual((await stored(page)).map(({ from, to }) => `${from} ${to}`), ['de en', 'en fr']);
});

pageTest('the history has the last texts, each once, and shows them again', { script: {} }, async (page) => {
  await translate(page, 'First. Second.');
  await choose(page, 1, 'Deuxième.');
  await page.locator('#source').focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' Third.'); // still the same text
  await keeps(page, 'First. Second. Third.');
  await page.click('#clear');
  await pick(page, 'to', 'japanese');
  await translate(page, 'Other.');
  await keeps(page, 'Other.', 'First. Second. Third.');
  await translate(page, QUESTION); // pasted over it
  await keeps(page, QUESTION, 'Other.', 'First. Second. Third.');
  await page.click('#swap');
  await translated(page);
  await page.click('#history-button');
  await says(pasts(page).nth(3), 'English → French\nFirst. Second. Third.');
  await fitsWidth(page);
  await screenshot(page, 'history');
  await pasts(page).nth(3).click();
  await source(page, 'First. Second. Third.');
  assert.deepEqual(await translated(page), ['[fr] First. Deuxième. [fr] Third.']);
  assert.equal(new URL(page.url()).hash, '#en/fr');
  await keeps(page, 'First. Second. Third.', '駅はどこですか。', QUESTION, 'Other.');
});

pageTest('the history is off by a switch, which empties it', { script: {} }, async (page, context) => {
  await translate(page, QUESTION);
  await keeps(page, QUESTION);
  await page.click('#history-button');
  await page.uncheck('#history-keep');
  await page.locator('#history-none').waitFor();
  assert.deepEqual(await stored(page), []);
  await page.keyboard.press('Escape');
  await translate(page, 'Another sentence.');
  await page.click('#clear');
  const other = await context.newPage();
  await other.goto(page.url());
  await translate(other, 'Yet another one.');
  await other.close({ runBeforeUnload: true });
  await page.click('#history-button');
  assert.equal(await page.isChecked('#history-keep'), false);
  assert.deepEqual(await stored(page), []);
  const all = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  assert.doesNotMatch(all, /station|nother/);
});

pageTest('the history has 50 texts and can be emptied', { script: {} }, async (page) => {
  await page.evaluate(() => {
    const entries = Array.from({ length: 50 }, (_, i) => ({ id: `${i}`, from: 'en', to: 'fr', text: `Text ${i}. ${'x'.repeat(i === 3 ? 999_990 : 10)}`, chosen: [] }));
    localStorage.setItem('dragoman.history', JSON.stringify(entries));
  });
  await translate(page, QUESTION);
  await eventually(async () => assert.equal((await stored(page)).length, 4, 'and no more than a million characters'));
  await page.evaluate(() => localStorage.setItem('dragoman.history', '{"not":"a list"}'));
  await translate(page, 'A whole other sentence.');
  await keeps(page, 'A whole other sentence.');
  await page.click('#history-button');
  await page.click('#history-clear');
  await page.locator('#history-none').waitFor();
  assert.deepEqual(await stored(page), []);
});

pageTest('the translation is downloaded as a file', { script: {} }, async (page) => {
  await translate(page, 'Good morning.\n\nStay a while.');
  const waiting = page.waitForEvent('download');
  await page.click('#download');
  const file = await waiting;
  assert.equal(file.suggestedFilename(), 'translation.fr.txt');
  assert.equal(await readFile(await file.path(), 'utf8'), 'Bonjour.\n\nRestez un peu.');
});

for (const [locale, codes, first] of [
  ['en-GB', undefined, 'en'], ['de-AT', undefined, 'de'], ['pt-BR', undefined, 'pt'], ['sv', ['fr', 'en', 'de'], 'en'], ['zh-TW', ['en', 'zh', 'zh-Hant'], 'zh-Hant'], ['nb-NO', ['en', 'no'], 'no'],
]) {
  pageTest(`the first target is the browser's language: ${locale}`, { locale, path: '/', script: { languages: codes } }, async (page) => {
    await eventually(() => assert.equal(new URL(page.url()).hash, `#auto/${first}`));
  });
}

pageTest('languages are found by their other names', { script: {} }, async (page) => {
  await page.click('#to .picker-button');
  for (const [typed, code] of [['farsi', 'fa'], ['Castellano', 'es'], ['mandarin', 'zh'], ['putonghua', 'zh'], ['vlaams', 'nl'], ['ivrit', 'he'], ['castillan', 'es'], ['deutsch', 'de'], ['ALLEM', undefined]]) {
    await page.fill('#to input', typed);
    if (code) await has(page.locator('#to [role=option]').first(), 'data-code', code);
    else await says(page.locator('#to .picker-none'), 'No language fits.');
  }
});

pageTest('a text over a limit says the limit, and the other lines are translated', { script: { maxCharacters: 40 } }, async (page) => {
  const long = 'This sentence is longer than forty characters.';
  await put(page, `One.\n${long}\nThree.`);
  await says(page.locator('#notice-text'), 'The request has 46 characters and your limit allows 40 at once: send several requests.');
  assert.equal(await page.locator('#notice-button').isVisible(), false, 'trying again does not help');
  await says(page.locator('#output .line').nth(0), '[fr] One.');
  await says(page.locator('#output .line').nth(2), '[fr] Three.');
  assert.deepEqual(await translate(page, 'One.\nTwo.\nThree.'), ['[fr] One.', '[fr] Two.', '[fr] Three.']);
  await page.locator('#notice').waitFor({ state: 'hidden' });
});

// Work is counted, for time depends on the machine: the changes of the document for a key.
const words = (count, width) => Array.from({ length: count }, (_, i) => ['harbour', 'wakes', 'slowly', 'mend', 'ferry'][i % 5] + (i % 10 === 9 ? '.' : '') + (i % width === width - 1 ? '\n' : ' ')).join('');
for (const [name, text] of [['one line', words(12_000, 1e9)], ['100 lines', words(10_000, 100)], ['1,000 lines', words(10_000, 10)]]) {
  pageTest(`a key in 10,000 words changes little of the page: ${name}`, { script: {} }, async (page) => {
    await put(page, text);
    await translated(page);
    const counted = await page.evaluate(() => {
      const area = document.getElementById('source');
      area.focus();
      area.setSelectionRange(area.value.length / 2, area.value.length / 2);
      const counts = { nodes: 0, attributes: 0 };
      window.counts = counts;
      new MutationObserver((list) => {
        for (const { type, addedNodes, removedNodes } of list) {
          if (type === 'attributes') counts.attributes++;
          else counts.nodes += addedNodes.length + removedNodes.length + 1;
        }
      }).observe(document.documentElement, { subtree: true, childList: true, attributes: true, characterData: true });
      return counts;
    });
    assert.deepEqual(counted, { nodes: 0, attributes: 0 });
    await stopClock(page); // nothing is translated meanwhile
    await page.keyboard.type('x'); // the line's sentences are no more
    await page.clock.runFor(20);
    const KEYS = 20;
    await page.evaluate(() => Object.assign(window.counts, { nodes: 0, attributes: 0 }));
    for (let i = 0; i < KEYS; i++) {
      await page.keyboard.type('x');
      await page.clock.runFor(20); // a frame
    }
    await says(page.locator('#count'), `${(text.length + KEYS + 1).toLocaleString('en')} characters`);
    const { nodes, attributes } = await page.evaluate(() => window.counts);
    assert.ok(nodes <= 5 * KEYS && attributes <= KEYS, `${nodes} changes of nodes and ${attributes} of attributes for ${KEYS} keys`);
  });
}

// Chromium 156 crashes there where the font has ligatures, such as DejaVu's.
pageTest('typing after 65,536 characters of a line', { script: {} }, async (page) => {
  await put(page, words(12_000, 1e9).trimEnd());
  await translated(page);
  await page.locator('#source').press('Control+End');
  await page.keyboard.type(' End.');
  assert.match((await translated(page))[0], /End\.$/);
});
