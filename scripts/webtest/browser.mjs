// What the tests share: a browser, a page that watches for faults, ways to wait for
// what should happen.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { control, serve } from './fake.mjs';

/** The server under test, and whether its API is the made-up one. */
export let base = process.env.BASE_URL?.replace(/\/$/, '');
export const isFake = !base;
assert(base || process.env.PAGE_URL, 'set BASE_URL, or run scripts/webtest/run.sh');
export { control };

const TIMEOUT_MS = 15_000;
const screenshots = new URL('../../build/webtest/', import.meta.url).pathname;

let browser;
let stop = () => {};

/** Starts the browser for the tests of a file. */
export function useBrowser() {
  before(async () => {
    if (isFake) [base, stop] = await serve();
    await mkdir(screenshots, { recursive: true });
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: ['--no-sandbox'], // as root there is none; the page is our own
    });
  });
  after(async () => {
    await browser.close();
    stop();
  });
}

/**
 * Defines a test that gets a page and its context. Faults of the page fail it: errors,
 * violations of the Content-Security-Policy, requests to anywhere else.
 *
 *   path     the page's address, languages included
 *   script   what the made-up API does; a test with one is skipped with a real service
 *   options  of the browser's context, such as viewport
 */
export function pageTest(name, { path = '/#en/fr', script, ...options }, check) {
  test(name, { skip: script && !isFake ? 'needs the made-up API' : false }, async () => {
    if (isFake) control.set(script ?? {});
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(TIMEOUT_MS);
    try {
      const page = await context.newPage();
      const faults = watch(page);
      await page.goto(base + path);
      await check(page, context);
      assert.deepEqual(faults, []);
    } finally {
      await context.close();
    }
  });
}

/** Collects what a page must not do. */
function watch(page) {
  const faults = [];
  page.on('pageerror', (err) => faults.push(`error: ${err.stack}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    // The browser reports each answer that is an error; tests cause those on purpose.
    const expected = /^Failed to load resource|^WebSocket connection to/.test(message.text());
    if (['error', 'warning'].includes(message.type()) && !expected) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${base}/`)) faults.push(`request: ${request.url()}`);
  });
  return faults;
}

/** Repeats a check until it does not throw. */
export async function eventually(check) {
  const end = Date.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await check();
    } catch (err) {
      if (Date.now() > end) throw err;
    }
    await sleep(20);
  }
}

/** Waits until an element's text is, or matches, what is expected. */
export async function says(locator, expected) {
  await eventually(async () => {
    const text = await locator.innerText({ timeout: 1000 });
    if (expected instanceof RegExp) assert.match(text, expected);
    else assert.equal(text, expected);
  });
}

/** Waits until an attribute has a value. */
export const has = (locator, name, value) => eventually(async () => assert.equal(await locator.getAttribute(name), value));

/** Waits until all of the text is translated; returns the translation's lines. */
export async function translated(page) {
  await says(page.locator('#status'), '');
  return eventually(async () => {
    const output = page.locator('#output');
    assert.equal(await output.getAttribute('aria-busy'), 'false');
    assert.equal(await output.locator('.stale, .awaited, .draft').count(), 0);
    assert.match(await output.innerText(), /\S/);
    return page.locator('#output .line').allInnerTexts();
  });
}

/** Puts a text in place without typing: Chromium types thousands of lines in minutes. */
export const put = (page, text) =>
  page.evaluate((value) => {
    const source = document.getElementById('source');
    source.value = value;
    source.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, text);

/** Types a text in one go and waits for its translation. */
export async function translate(page, text) {
  await page.fill('#source', text);
  return translated(page);
}

/** Chooses a language by its English name, as a person with a mouse would. */
export async function pick(page, picker, name) {
  await page.click(`#${picker} .picker-button`);
  await page.fill(`#${picker} input`, name);
  await page.click(`#${picker} [role=option] >> nth=0`);
}

/** Stops the page's clock: timers run only when page.clock says so. */
export async function stopClock(page) {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

/** Asserts that nothing has to be scrolled sideways. */
export async function fitsWidth(page) {
  const { scroll, client } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scroll: scrollWidth, client: clientWidth };
  });
  assert(scroll <= client, `the page is ${scroll} px wide in a window of ${client} px`);
}

/** Puts a screenshot into build/webtest. */
export const screenshot = (page, name, options = {}) => page.screenshot({ path: `${screenshots}${name}.png`, ...options });
