// Documents: files that come back translated.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { control, eventually, fitsWidth, pageTest, pick, says, screenshot, useBrowser } from './browser.mjs';

useBrowser();

const item = (page, n = 0) => page.locator('.document').nth(n);
const state = (page, n) => item(page, n).locator('.document-state');
const text = (name, content) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });

/** Opens the documents' tab. */
async function open(page) {
  await page.click('#documents-tab');
  await page.locator('#documents-panel').waitFor();
}

/** Downloads a document; returns its name and content. */
async function download(page, n) {
  const waiting = page.waitForEvent('download');
  await item(page, n).getByRole('button', { name: /^Download/ }).click();
  const file = await waiting;
  return [file.suggestedFilename(), await readFile(await file.path(), 'utf8')];
}

pageTest('a document comes back translated', { script: { hold: true } }, async (page) => {
  await open(page);
  assert.equal(await page.locator('#text-panel').isVisible(), false);
  await says(page.locator('#files-hint'), 'Word, PDF, text and more');
  await page.click('#files-kinds summary');
  await says(page.locator('#files-all'), 'docx pdf txt');
  await page.click('#files-kinds summary');
  await page.setInputFiles('#files', [text('Grüße.txt', 'Good morning.\n\nStay a while.\nGood morning.\n')]);
  await says(item(page).locator('.document-name'), 'Grüße.txt');
  await says(state(page), 'Translating, 0 of 2 texts');
  control.release('Good morning.');
  await says(state(page), 'Translating, 1 of 2 texts');
  assert.equal(await item(page).locator('progress').evaluate((bar) => bar.value / bar.max), 0.5);
  await fitsWidth(page);
  await screenshot(page, 'documents');
  control.release('Stay a while.');
  await says(state(page), 'Translated');
  assert.equal(await page.locator('#documents-status').textContent(), 'Grüße.txt: Translated');
  assert.deepEqual(await download(page), ['Grüße.fr.txt', 'Bonjour.\n\nRestez un peu.\nBonjour.\n']);
  const [{ payload }] = control.jobs();
  assert.deepEqual([payload.fromLang, payload.toLang], ['en', 'fr']);
});

pageTest('several documents are dropped, each into the language that is chosen then', { script: {} }, async (page) => {
  await open(page);
  const drop = (names) =>
    page.evaluate((files) => {
      const dataTransfer = new DataTransfer();
      for (const name of files) dataTransfer.items.add(new File(['Good morning.'], name, { type: 'text/plain' }));
      for (const type of ['dragenter', 'dragover', 'drop']) document.getElementById('drop').dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
    }, names);
  await drop(['a.txt', 'b.txt']);
  await pick(page, 'to', 'japanese');
  await drop(['c.txt']);
  for (const n of [0, 1, 2]) await says(state(page, n), 'Translated');
  for (const [n, language] of ['French', 'French', 'Japanese'].entries()) await says(item(page, n).locator('.document-way'), `Target language: ${language}`);
  await page.reload();
  await says(item(page, 2).locator('.document-way'), 'Target language: Japanese');
  assert.deepEqual(await download(page, 1), ['b.fr.txt', 'Bonjour.']);
  assert.deepEqual(await download(page, 2), ['c.ja.txt', 'おはようございます。']);
});

pageTest('a file that is dropped anywhere is translated, and the page shows where', { script: {} }, async (page) => {
  await page.locator('#tabs').waitFor();
  const fire = (types, kind = 'file') =>
    page.evaluate(([types, kind]) => {
      const dataTransfer = new DataTransfer();
      if (kind === 'file') dataTransfer.items.add(new File(['Good morning.'], 'a.txt', { type: 'text/plain' }));
      else dataTransfer.setData('text/plain', 'Good morning.');
      return types.map((type) => !document.querySelector('footer').dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer })));
    }, [types, kind]);
  const outline = () => page.locator('.card').evaluate((card) => getComputedStyle(card).outlineStyle);
  assert.deepEqual(await fire(['dragenter', 'dragover'], 'text'), [false, false], 'text is for the text area');
  assert.equal(await outline(), 'none');
  assert.deepEqual(await fire(['dragenter', 'dragover']), [true, true], 'or the browser opens it');
  assert.equal(await outline(), 'dashed');
  await fire(['dragleave']);
  assert.equal(await outline(), 'none');
  assert.deepEqual(await fire(['dragover', 'drop']), [true, true]);
  assert.equal(await outline(), 'none');
  await page.locator('#documents-panel').waitFor();
  await says(state(page), 'Translated');
});

pageTest('a reload picks documents up', { script: { hold: true } }, async (page) => {
  await open(page);
  await page.setInputFiles('#files', [text('a.txt', 'One.\nTwo.')]);
  await says(state(page), 'Translating, 0 of 2 texts');
  await page.reload();
  await page.locator('#documents-panel').waitFor(); // the tab, too
  await says(state(page), 'Translating, 0 of 2 texts');
  control.release('One.', 'Two.');
  await says(state(page), 'Translated');
  assert.deepEqual(await download(page), ['a.fr.txt', '[fr] One.\n[fr] Two.']);
});

pageTest('a connection that breaks is made again', { script: { hold: true, cutEvents: 2 } }, async (page) => {
  await open(page);
  await page.setInputFiles('#files', [text('a.txt', 'One.')]);
  await says(state(page), 'Translating, 0 of 1 texts');
  control.release('One.');
  await says(state(page), 'Translated');
});

pageTest('what goes wrong is said in words', { script: {} }, async (page) => {
  await open(page);
  const send = (name) => page.setInputFiles('#files', [text(name, 'One.')]);
  control.set({ noJobs: { status: 415, code: 'unsupported_document', message: 'the file is a PDF: send the document that it was made of' } });
  await send('a.pdf');
  await says(state(page, 0), 'The file is a PDF: send the document that it was made of.');
  control.set({ noJobs: { status: 413, code: 'body_too_large', message: 'the document has 99 bytes, at most 10 are allowed: divide it' } });
  await send('b.txt');
  await says(state(page, 1), 'The document has 99 bytes, at most 10 are allowed: divide it.');
  control.set({ jobError: { code: 'internal', message: 'it was tried several times' } });
  await send('c.txt');
  await says(state(page, 2), /it was tried several times/i);
  control.set({});
  await page.setInputFiles('#files', [text('d.txt', 'One.\nflag:loop')]);
  await says(state(page, 3), 'Translated; 1 of 2 texts may be wrong');
  assert.equal(await page.locator('.document-state.bad').count(), 3);
});

pageTest('a document that cannot be downloaded says why', { script: { brokenFile: { status: 500, code: 'internal', message: 'internal error, request id 7' } } }, async (page) => {
  await open(page);
  await page.setInputFiles('#files', [text('a.txt', 'One.')]);
  await says(state(page), 'Translated');
  const button = item(page).getByRole('button', { name: /^Download/ });
  await button.click();
  await says(state(page), 'Internal error, request id 7.');
  control.set({}); // the server has forgotten it
  await button.click();
  await says(state(page), 'There is no such job.');
});

pageTest('a busy server is asked again, and a key is asked for', { script: { noJobs: { status: 503, code: 'busy', message: 'busy', retryAfter: '600' } } }, async (page) => {
  await open(page);
  await page.setInputFiles('#files', [text('a.txt', 'Good morning.')]);
  await says(page.locator('#documents-notice-text'), 'The server is busy.');
  control.set({ key: 'sesame' });
  await page.click('#documents-notice-button');
  await page.locator('#key-dialog').waitFor();
  await page.fill('#key', 'sesame');
  await page.keyboard.press('Enter');
  await says(state(page), 'Translated');
  assert.equal((await download(page))[1], 'Bonjour.');
});

pageTest('works with the keyboard alone', { script: { hold: true } }, async (page) => {
  const focus = () => page.evaluate(() => document.activeElement.id || document.activeElement.getAttribute('aria-label'));
  await page.locator('#tabs').waitFor();
  await page.locator('#text-tab').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await focus(), 'documents-tab');
  assert.equal(await page.locator('#documents-tab').getAttribute('aria-selected'), 'true');
  await page.keyboard.press('Home');
  assert.equal(await focus(), 'text-tab');
  await page.keyboard.press('End');
  await page.setInputFiles('#files', [text('a.txt', 'One.'), text('b.txt', 'Two.')]);
  control.release('One.', 'Two.');
  await says(state(page, 1), 'Translated');
  await page.locator('#files').focus();
  await page.keyboard.press('Tab'); // all kinds of files
  for (const label of ['Download a.txt', 'Remove a.txt', 'Download b.txt', 'Remove b.txt']) {
    await page.keyboard.press('Tab');
    assert.equal(await focus(), label);
  }
  await page.keyboard.press('Enter');
  assert.equal(await focus(), 'Download a.txt', 'the focus is not lost');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await focus(), 'files');
  assert.equal(await page.locator('.document').count(), 0);
  await eventually(() => assert.deepEqual(control.jobs().map((job) => job.state), ['removed', 'removed']));
});

pageTest('a document that is removed is cancelled', { script: { hold: true } }, async (page) => {
  await open(page);
  await page.setInputFiles('#files', [text('a.txt', 'One.')]);
  await says(state(page), 'Translating, 0 of 1 texts');
  await page.getByRole('button', { name: 'Remove a.txt' }).click();
  await eventually(() => assert.deepEqual(control.jobs().map((job) => job.state), ['cancelled']));
  await page.reload();
  await page.locator('#documents-panel').waitFor();
  assert.equal(await page.locator('.document').count(), 0);
});

pageTest('there is no tab where no documents are translated', { script: { noDocuments: true } }, async (page) => {
  await page.fill('#source', 'Good morning.');
  await says(page.locator('#output'), 'Bonjour.');
  assert.equal(await page.locator('#tabs').isVisible(), false);
});

pageTest('documents fit into a narrow window', { viewport: { width: 320, height: 640 }, script: { hold: true } }, async (page) => {
  await open(page);
  await page.setInputFiles('#files', [text(`${'unbroken'.repeat(20)}.txt`, 'One.'), text('شهادة.txt', 'One.')]);
  await says(state(page, 1), 'Translating, 0 of 1 texts');
  await fitsWidth(page);
  await screenshot(page, 'small-documents');
});
