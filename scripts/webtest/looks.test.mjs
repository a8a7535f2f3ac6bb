// How the page looks and who can use it: themes, small screens, scripts from right to
// left, keyboards, screen readers. Screenshots go to build/webtest.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { base, control, eventually, fitsWidth, has, pageTest, pick, says, screenshot, translate, translated, useBrowser } from './browser.mjs';

useBrowser();

const TEXT =
  'The old harbour wakes up slowly. Fishermen mend their nets while the first ferry leaves for the islands.\n\n' +
  'By noon the cafés are full, and nobody is in a hurry. Stay a while.';
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true };
const SMALL = { viewport: { width: 320, height: 568 } };

const colorOf = (locator, property) => locator.evaluate((element, name) => getComputedStyle(element)[name], property);
const ground = (page) => colorOf(page.locator('body'), 'backgroundColor');

for (const colorScheme of ['light', 'dark']) {
  pageTest(`looks right in ${colorScheme}`, { path: '/#auto/ja', colorScheme }, async (page) => {
    await screenshot(page, `${colorScheme}-empty`);
    await translate(page, TEXT);
    await page.locator('#output .segment').nth(1).hover();
    await screenshot(page, colorScheme);
    await page.click('#to .picker-button');
    await screenshot(page, `${colorScheme}-languages`);
  });
  pageTest(`looks right on a phone in ${colorScheme}`, { path: '/#en/fr', colorScheme, ...PHONE }, async (page) => {
    await translate(page, TEXT);
    await page.locator('#source').blur();
    await screenshot(page, `phone-${colorScheme}`, { fullPage: true });
    await page.tap('#from .picker-button');
    await screenshot(page, `phone-${colorScheme}-languages`);
    await fitsWidth(page);
  });
}

pageTest('the theme follows the system', { colorScheme: 'dark' }, async (page) => {
  const night = await ground(page);
  await has(page.locator('#theme'), 'aria-pressed', 'true');
  await page.emulateMedia({ colorScheme: 'light' });
  await has(page.locator('#theme'), 'aria-pressed', 'false');
  assert.notEqual(await ground(page), night);
});

pageTest('the theme can be chosen and is kept', { colorScheme: 'light' }, async (page) => {
  const day = await ground(page);
  await page.getByRole('button', { name: 'Dark mode' }).click();
  await has(page.locator('#theme'), 'aria-pressed', 'true');
  const night = await ground(page);
  assert.notEqual(night, day);
  await page.reload();
  assert.equal(await ground(page), night);
  await page.click('#theme');
  assert.equal(await ground(page), day);
});

pageTest('fits 320 pixels', { ...SMALL, script: {} }, async (page) => {
  await fitsWidth(page);
  await translate(page, `${TEXT}\n${'unbroken'.repeat(30)}\nhttps://example.com/${'path/'.repeat(30)} flag:truncated`);
  await fitsWidth(page);
  await screenshot(page, 'small');
  for (const picker of ['from', 'to']) {
    await page.click(`#${picker} .picker-button`);
    await fitsWidth(page);
    const { x, width } = await page.locator(`#${picker} .picker-panel`).boundingBox();
    assert(x >= 0 && x + width <= 320, `the list reaches from ${x} to ${x + width}`);
    await screenshot(page, `small-${picker}`);
    await page.keyboard.press('Escape');
  }
  await pick(page, 'to', 'indonesian');
  await fitsWidth(page);
  control.set({ failures: [{ status: 503, code: 'busy', message: 'busy', retryAfter: '600' }] });
  await page.fill('#source', 'One.');
  await says(page.locator('#notice-text'), 'The server is busy.');
  await fitsWidth(page);
  await screenshot(page, 'small-busy');
});

pageTest('languages from right to left', { path: '/#en/ar', script: {} }, async (page) => {
  const source = page.locator('#source');
  const output = page.locator('#output');
  await translate(page, 'Where is the station? Good morning.');
  await has(output, 'dir', 'rtl');
  await has(output, 'lang', 'ar');
  await has(source, 'dir', 'ltr');
  const [pane, first] = [await output.boundingBox(), await output.locator('.segment').first().boundingBox()];
  assert(first.x + first.width > pane.x + pane.width - 40, 'the text does not begin at the right');
  await screenshot(page, 'rtl');

  await output.locator('.segment').first().focus();
  await page.keyboard.press('ArrowLeft'); // forward
  await says(output.locator('.active'), 'صباح الخير.');

  await page.click('#swap');
  await translated(page);
  await has(source, 'dir', 'rtl');
  await has(output, 'dir', 'ltr');
  const mark = page.locator('#mirror .segment').first();
  const box = await mark.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await eventually(async () => assert.match(await mark.getAttribute('class'), /active/));

  await page.goto(`${base}/#auto/en`);
  await page.reload();
  await page.fill('#source', 'أين المحطة؟');
  await translated(page);
  await has(source, 'dir', 'rtl');
  await has(source, 'lang', 'ar');
});

pageTest('works with the keyboard alone', { path: '/#en/fr' }, async (page) => {
  const focus = () => page.evaluate(() => document.activeElement.id || document.activeElement.className);
  const { keyboard } = page;
  assert.equal(await focus(), 'source');
  await keyboard.type('Good morning. Where is the station?');
  await translated(page);
  for (const [key, id] of [['Tab', 'clear'], ['Tab', 'segment active'], ['ArrowDown', 'segment active'], ['Tab', 'download'], ['Tab', 'copy']]) {
    await keyboard.press(key);
    assert.equal(await focus(), id);
  }
  for (const id of ['download', 'segment active']) {
    await keyboard.press('Shift+Tab');
    assert.equal(await focus(), id);
  }
  await keyboard.press('Home');
  assert.equal(await page.locator('#output .segment').first().evaluate((span) => span === document.activeElement), true);
  await keyboard.press('Shift+Tab');
  await keyboard.press('Shift+Tab');
  assert.equal(await focus(), 'source');

  await keyboard.press('Shift+Tab');
  assert.equal(await focus(), 'picker-button');
  await keyboard.press('j'); // opens the list and is the first letter of the search
  await keyboard.type('ap');
  await has(page.locator('#to input'), 'aria-activedescendant', 'to-list-0');
  await keyboard.press('Enter');
  await says(page.locator('#to .picker-value'), '日本語');
  assert.equal(await focus(), 'picker-button');
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown');
  await keyboard.press('Escape');
  assert.equal(await page.locator('#to .picker-panel').isVisible(), false);
  await says(page.locator('#to .picker-value'), '日本語');
  await keyboard.press('Enter');
  await keyboard.press('Tab'); // leaves the list, which closes
  await page.locator('#to .picker-panel').waitFor({ state: 'hidden' });
  await page.locator('#swap').focus();
  await keyboard.press('Enter');
  await says(page.locator('#from .picker-value'), '日本語');
});

pageTest('what has the focus can be seen', {}, async (page) => {
  await translate(page, 'Good morning.');
  for (const selector of ['#theme', '#swap', '#to .picker-button', '#clear', '#copy', '#output .segment']) {
    await page.locator('#source').focus();
    await page.keyboard.press('Tab'); // so that the browser shows the focus
    await page.locator(selector).first().focus();
    assert.equal(await colorOf(page.locator(selector).first(), 'outlineStyle'), 'solid', selector);
  }
});

pageTest('moves nothing for those who want that', { script: { hold: true } }, async (page) => {
  await page.fill('#source', 'One.\nTwo.');
  await page.locator('#progress').waitFor();
  assert.equal(await colorOf(page.locator('.placeholder').first(), 'animationName'), 'none');
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  assert.equal(await colorOf(page.locator('.placeholder').first(), 'animationName'), 'breathe');
  await screenshot(page, 'waiting');
});

const axe = await readFile(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** Asserts that axe finds no fault with the page as it is. */
async function accessible(page, state) {
  const violations = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`);
  });
  assert.deepEqual(violations, [], state);
}

for (const colorScheme of ['light', 'dark']) {
  // axe makes styles that the page's policy forbids.
  pageTest(`axe finds no fault in ${colorScheme}`, { colorScheme, bypassCSP: true, path: '/#auto/fr', script: {} }, async (page, context) => {
    await context.addInitScript(axe);
    await page.reload();
    await says(page.locator('#from .picker-value'), 'Detect language');
    await accessible(page, 'empty');
    await translate(page, `${TEXT}\nflag:truncated`);
    await page.locator('#output .segment').nth(1).focus();
    await accessible(page, 'translated');
    await page.keyboard.press('Enter');
    await page.locator('#choices [role=option]').nth(1).waitFor();
    await accessible(page, 'alternatives');
    await page.keyboard.press('F2');
    await page.locator('#choices-text').waitFor();
    await accessible(page, 'a sentence that is edited');
    await screenshot(page, `${colorScheme}-edit`);
    await page.keyboard.press('Escape');
    await page.click('#history-button');
    await page.locator('#history-list button').waitFor();
    await accessible(page, 'history');
    await screenshot(page, `${colorScheme}-history`);
    await page.keyboard.press('Escape');
    await page.click('#to .picker-button');
    await accessible(page, 'languages');
    await page.keyboard.type('jap');
    await accessible(page, 'search');
    await page.keyboard.press('Escape');
    await page.click('#documents-tab');
    await page.setInputFiles('#files', [{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('One.') }]);
    await says(page.locator('.document-state'), 'Translated');
    await accessible(page, 'documents');
    await screenshot(page, `${colorScheme}-documents`);
    await page.click('#text-tab');
    control.set({ failures: [{ status: 500, code: 'internal', message: 'internal error' }] });
    await page.fill('#source', 'One.');
    await says(page.locator('#notice-text'), 'Internal error.');
    await accessible(page, 'error');
    control.set({ key: 'sesame' });
    await page.click('#notice-button');
    await page.locator('#key-dialog').waitFor();
    await accessible(page, 'key');
    await screenshot(page, `${colorScheme}-key`);
  });
}

pageTest('axe finds no fault with the description of the API', { path: '/docs', bypassCSP: true, script: {} }, async (page, context) => {
  await context.addInitScript(axe);
  await page.reload();
  await page.locator('.opblock').first().waitFor();
  await eventually(() => accessible(page, 'closed'));
  for (const n of [0, 3]) await page.locator('.opblock-summary-control').nth(n).click();
  await page.locator('.body-param__text').first().waitFor();
  await eventually(() => accessible(page, 'open'));
});

// Each language of the bundled model.
for (const [locale, placeholder, all] of [
  ['de-AT', 'Text eingeben oder einfügen', 'Alle Sprachen'], ['fr-CA', 'Saisissez ou collez un texte', 'Toutes les langues'],
  ['ja-JP', 'テキストを入力または貼り付け', 'すべての言語'], ['zh-TW', '输入或粘贴文本', '所有语言'], ['sv-SE', 'Type or paste text', 'All languages'],
]) {
  pageTest(`speaks the browser's language: ${locale}`, { locale, script: {}, ...SMALL }, async (page) => {
    const lang = locale === 'sv-SE' ? 'en' : locale.slice(0, 2);
    await has(page.locator('html'), 'lang', lang);
    await has(page.locator('#source'), 'placeholder', placeholder);
    await translate(page, 'One.');
    await page.click('#to .picker-button');
    await says(page.locator('#to .picker-heading').last(), all);
    await page.keyboard.press('Escape');
    await page.click('#documents-tab');
    await fitsWidth(page);
    if (lang === 'en') return;
    // Nothing of the page is left in English.
    const words = await page.locator('button:visible, label:visible, h2, p:visible').allInnerTexts();
    for (const english of ['Text', 'Documents', 'Choose', 'Copy', 'Clear', 'Translation', 'Languages', 'Made by'].filter((word) => lang !== 'fr' || word !== 'Documents')) {
      assert.ok(!words.some((text) => text.split(/[^A-Za-z]+/).includes(english) && !(lang === 'de' && english === 'Text')), `${english}: ${words}`);
    }
  });
}

// Two letters that name a language in English: about 180 do.
const MANY = [...'abcdefghijklmnopqrstuvwxyz'].flatMap((a) => [...'abcdefghijklmnopqrstuvwxyz'].map((b) => a + b))
  .filter((code) => new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(code));

for (const [size, options] of Object.entries({ phone: PHONE, small: SMALL, 'zoom of 200%': { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 } })) {
  pageTest(`${MANY.length} languages: ${size}`, { path: '/#en/he', script: { languages: MANY }, ...options }, async (page) => {
    await translate(page, TEXT);
    await page.click('#to .picker-button');
    await page.locator('#to [role=option]').nth(MANY.length - 1).waitFor();
    await fitsWidth(page);
    const list = await page.locator('#to .picker-list').boundingBox();
    const window = page.viewportSize();
    assert.ok(list.height < window.height && list.y + list.height <= window.height + 1, `the list ends at ${list.y + list.height} of ${window.height}`);
    await page.fill('#to input', 'zulu');
    await page.keyboard.press('Enter');
    await says(page.locator('#to .picker-value'), 'isiZulu');
  });
}

pageTest('names of languages are whole on a phone', { path: '/#auto/fr', script: {}, ...SMALL }, async (page) => {
  await says(page.locator('#from .picker-value'), 'Detect language');
  for (const id of ['from', 'to']) {
    const [inner, outer] = await page.locator(`#${id} .picker-value`).evaluate((value) => [value.scrollWidth, value.clientWidth]);
    assert.ok(inner <= outer, `${id}: ${inner} of ${outer}`);
  }
  await fitsWidth(page);
});

pageTest('forced colours show one tab as selected', { script: {}, forcedColors: 'active' }, async (page) => {
  await page.locator('#tabs').waitFor();
  const line = (id) => colorOf(page.locator(id), 'borderBottomColor');
  assert.notEqual(await line('#text-tab'), await line('#documents-tab'));
  await page.click('#documents-tab');
  assert.notEqual(await line('#text-tab'), await line('#documents-tab'));
});

pageTest('Control and Enter are for texts', { script: {} }, async (page) => {
  await page.locator('#tabs').waitFor();
  assert.equal(await page.locator('.keys').isVisible(), true);
  await page.click('#documents-tab');
  assert.equal(await page.locator('.keys').isVisible(), false);
});
