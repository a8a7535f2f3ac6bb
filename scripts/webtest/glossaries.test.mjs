// Stored glossaries: which one a translation uses.

import assert from 'node:assert/strict';
import { control, eventually, fitsWidth, pageTest, pick, says, translate, useBrowser } from './browser.mjs';

useBrowser();

const glossaries = [
  { id: 'g-2', name: 'Law & order', dictionaries: [{ from: 'en', to: 'de', entryCount: 3 }, { from: 'en', to: 'fr', entryCount: 1 }] },
  { id: 'g-1', name: 'Kitchen', dictionaries: [{ from: 'en', to: 'fr', entryCount: 2 }] },
];
const used = () => control.seen().map(({ glossaryId, fromLang, toLang }) => [glossaryId ?? '', fromLang, toLang]);
const asked = (...expected) => eventually(async () => assert.deepEqual(used(), expected));
const path = '/#en/fr';

pageTest('offers no glossaries where there are none', { path }, async (page) => {
  await translate(page, 'One.');
  assert.equal(await page.locator('#glossary-choice').isVisible(), false);
});

pageTest('offers the glossaries of the languages', { script: { glossaries }, path }, async (page) => {
  await page.locator('#glossary').waitFor();
  assert.deepEqual(await page.locator('#glossary option').allInnerTexts(), ['No glossary', 'Law & order', 'Kitchen']);
  assert.equal(await page.locator('#text-panel').getByLabel('Glossary').inputValue(), '');
  await page.setViewportSize({ width: 320, height: 600 });
  await fitsWidth(page);
  await pick(page, 'to', 'german');
  await eventually(async () => assert.deepEqual(await page.locator('#glossary option').allInnerTexts(), ['No glossary', 'Law & order']));
  await pick(page, 'to', 'japanese'); // which none has
  await page.locator('#glossary').waitFor({ state: 'hidden' });
});

pageTest('a glossary says which language it is for, where that is to be detected', { script: { glossaries }, path: '/#auto/fr' }, async (page) => {
  await page.locator('#glossary').waitFor();
  assert.equal(await page.inputValue('#glossary'), '');
  await translate(page, 'One.');
  await page.selectOption('#glossary', 'g-1');
  await says(page.locator('#from .picker-value'), 'English');
  await asked(['', 'auto', 'fr'], ['g-1', 'en', 'fr']);
});

pageTest('documents use the glossary that is chosen beside them', { script: { glossaries }, path }, async (page) => {
  await page.locator('#tabs').waitFor();
  await page.click('#documents-tab');
  await page.selectOption('#documents-glossary', 'g-1');
  await page.setInputFiles('#files', [{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('One.') }]);
  await says(page.locator('.document-state'), 'Translated');
  assert.equal(control.jobs()[0].payload.glossaryId, 'g-1');
  await page.click('#text-tab');
  assert.equal(await page.inputValue('#glossary'), 'g-1');
});

pageTest('translates again with the glossary that is chosen', { script: { glossaries }, path }, async (page) => {
  await translate(page, 'One.');
  await page.selectOption('#glossary', 'g-1');
  await asked(['', 'en', 'fr'], ['g-1', 'en', 'fr']);
  await pick(page, 'to', 'german'); // for which it has no terms
  await asked(['', 'en', 'fr'], ['g-1', 'en', 'fr'], ['', 'en', 'de']);
  await pick(page, 'to', 'french');
  await eventually(async () => assert.equal(await page.inputValue('#glossary'), 'g-1'));
  assert.equal(control.seen().length, 3, 'what each made is kept');
});

pageTest('remembers the glossary as long as it is there', { script: { glossaries }, path }, async (page) => {
  await page.selectOption('#glossary', 'g-2');
  await page.reload();
  await eventually(async () => assert.equal(await page.inputValue('#glossary'), 'g-2'));
  await translate(page, 'Good morning.');
  await asked(['g-2', 'en', 'fr']);
  control.set({ glossaries: glossaries.slice(1) });
  await page.reload();
  await page.locator('#glossary').waitFor();
  assert.equal(await page.inputValue('#glossary'), '');
});

pageTest('offers the glossaries of a key once there is one', { script: { glossaries, key: 'secret' }, path }, async (page) => {
  await page.fill('#source', 'One.');
  await page.fill('#key', 'secret');
  await page.keyboard.press('Enter');
  await says(page.locator('#output'), /./);
  await page.locator('#glossary').waitFor();
});
