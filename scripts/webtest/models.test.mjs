// Several models: which one translates, and between what.

import assert from 'node:assert/strict';
import { control, eventually, fitsWidth, has, pageTest, pick, says, translate, useBrowser } from './browser.mjs';

useBrowser();

const models = { all: { en: ['de', 'fr', 'ja'], de: ['en', 'fr', 'ja'], fr: ['de', 'en', 'ja'], ja: ['de', 'en', 'fr'] }, 'en-ja': { en: ['ja'] }, 'de-en': { de: ['en'], fr: ['en'] } };
const modelsOf = () => control.seen().map(({ model, fromLang, toLang }) => [model ?? '', fromLang, toLang]);
const asked = (...expected) => eventually(async () => assert.deepEqual(modelsOf(), expected));

pageTest('offers no models where there is one', {}, async (page) => {
  await translate(page, 'One.');
  assert.equal(await page.locator('#model-choice').isVisible(), false);
});

pageTest('offers each of several models once, and any', { script: { models } }, async (page) => {
  await page.locator('#model').waitFor();
  assert.deepEqual(await page.locator('#model option').allInnerTexts(), ['Any model', 'all', 'en-ja', 'de-en']);
  assert.equal(await page.getByLabel('Model').inputValue(), '');
  await translate(page, 'One.');
  await asked(['', 'en', 'fr']);
  await page.setViewportSize({ width: 320, height: 600 });
  await fitsWidth(page);
});

pageTest('translates again with the model that is chosen', { script: { models } }, async (page) => {
  await translate(page, 'One.');
  await page.selectOption('#model', 'all');
  await asked(['', 'en', 'fr'], ['all', 'en', 'fr']);
  await page.selectOption('#model', '');
  await translate(page, 'One.\nTwo.');
  await asked(['', 'en', 'fr'], ['all', 'en', 'fr'], ['', 'en', 'fr']);
  assert.deepEqual(control.seen()[2].texts, ['Two.'], 'what each model made is kept');
});

pageTest('offers the languages of the model', { script: { models } }, async (page) => {
  await page.selectOption('#model', 'en-ja');
  await says(page.locator('#to .picker-value'), '日本語');
  await has(page.locator('#swap'), 'disabled', '');
  await page.click('#to .picker-button');
  assert.deepEqual(await page.locator('#to [role=option]').allInnerTexts(), ['日本語\nJapanese']);
  await page.keyboard.press('Escape');
  await page.selectOption('#model', 'de-en');
  await says(page.locator('#from .picker-value'), /Detect/);
  await says(page.locator('#to .picker-value'), 'English');
  await pick(page, 'from', 'german');
  await translate(page, 'Eins.');
  await asked(['de-en', 'de', 'en']);
  assert.equal(new URL(page.url()).hash, '#de/en');
});

pageTest('changes the target where the model does not reach it', { script: { models }, path: '/#de/fr' }, async (page) => {
  await page.selectOption('#model', 'de-en');
  await says(page.locator('#to .picker-value'), 'English');
  await says(page.locator('#from .picker-value'), 'Deutsch');
});

pageTest('remembers the model as long as it is there', { script: { models } }, async (page) => {
  await page.selectOption('#model', 'en-ja');
  await says(page.locator('#to .picker-value'), '日本語');
  await page.reload();
  await eventually(async () => assert.equal(await page.inputValue('#model'), 'en-ja'));
  await translate(page, 'Good morning.');
  await asked(['en-ja', 'en', 'ja']);
  control.set({ models: { all: models.all, 'de-en': models['de-en'] } });
  await page.reload();
  await page.locator('#model').waitFor();
  assert.equal(await page.inputValue('#model'), '');
});

pageTest('says that a model is gone', { script: { models } }, async (page) => {
  await page.locator('#model').waitFor();
  control.set({ models: { all: models.all } });
  await page.selectOption('#model', 'en-ja');
  await says(page.locator('#notice-text'), 'There is no model "en-ja".');
  await page.selectOption('#model', 'all');
  await translate(page, 'One.');
  await asked(['all', 'en', 'fr']);
});

pageTest('names of models are text', { script: { models: { all: models.all, '<img src=x>&"': { en: ['fr'] } } } }, async (page) => {
  await page.locator('#model').waitFor();
  await page.selectOption('#model', '<img src=x>&"');
  await translate(page, 'One.');
  await asked(['<img src=x>&"', 'en', 'fr']);
});
