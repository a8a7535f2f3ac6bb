// The page: what its controls do.

import { readAddress } from './address.js';
import { Alternatives } from './alternatives.js';
import { Api } from './api.js';
import { Blocks } from './blocks.js';
import { Documents } from './documents.js';
import { element, set } from './dom.js';
import { download } from './download.js';
import { Glossaries } from './glossaries.js';
import { Highlight } from './highlight.js';
import { History } from './history.js';
import { Keys } from './keys.js';
import { AUTO, Choice, Languages, direction, nameOf } from './languages.js';
import { Live } from './live.js';
import { LongText } from './long.js';
import { Models } from './models.js';
import { Picker } from './picker.js';
import { Notice, Recovery } from './recovery.js';
import { lasting, session } from './storage.js';
import { Tabs } from './tabs.js';
import { countCharacters, describeFlags } from './text.js';
import { Translator } from './translator.js';
import { locale, localize, say } from './words.js';

const MOST_NOTES = 5;
const FEEDBACK_MS = 2000;
const KEEP_MS = 500; // after the last change

document.documentElement.lang = locale;
localize(document);

const $ = (id) => document.getElementById(id);
const source = $('source');
const output = $('output');
const view = { source, output, mirror: $('mirror') };

const keys = new Keys({ dialog: $('key-dialog'), form: $('key-form'), input: $('key'), text: $('key-text'), cancel: $('key-cancel') });
const api = new Api(() => keys.get());
const notice = new Notice({ box: $('notice'), text: $('notice-text'), count: $('notice-count'), button: $('notice-button') });
const recovery = new Recovery({ api, keys, notice });
const blocks = new Blocks(view);
const highlight = new Highlight(view, blocks);
const alternatives = new Alternatives(
  { output, box: $('choices'), list: $('choices-list'), status: $('choices-status'), change: $('choices-change'), form: $('choices-form'), text: $('choices-text'), keep: $('choices-keep'), cancel: $('choices-cancel') },
  { blocks, api, changed: showTranslation },
);
const long = new LongText(api);
const live = new Live({ api, blocks, changed: showSoon });
const translator = new Translator({
  api, blocks, recovery, long, live, pair: () => choice, model: () => models.chosen, glossary: (pair) => glossaries.chosen(pair), changed: showSoon,
});

const glossaries = new Glossaries({
  views: ['glossary', 'documents-glossary'].map((id) => ({ box: $(`${id}-choice`), select: $(id) })),
  api,
  changed: (language) => choose(() => language && choice.setFrom(language)),
});
const tabs = new Tabs({ list: $('tabs'), panels: [$('text-panel'), $('documents-panel')] });
const documents = new Documents({
  api,
  recovery: new Recovery({
    api, keys, notice: new Notice({ box: $('documents-notice'), text: $('documents-notice-text'), count: $('documents-notice-count'), button: $('documents-notice-button') }),
  }),
  view: { show: () => tabs.show(1), input: $('files'), hint: $('files-hint'), details: $('files-kinds'), all: $('files-all'), list: $('documents'), status: $('documents-status'), template: $('document-template') },
  way: () => {
    const glossaryId = glossaries.chosen(choice);
    return { fromLang: choice.from, toLang: choice.to, ...(models.chosen && { model: models.chosen }), ...(glossaryId && { glossaryId }), ...(api.memory && { memoryId: api.memory }) };
  },
});

const past = new History(
  { dialog: $('history-dialog'), button: $('history-button'), close: $('history-close'), list: $('history-list'), none: $('history-none'), keep: $('history-keep'), clear: $('history-clear') },
  { name: (code) => (code === AUTO ? say('Detect language') : nameOf(code)), keep: keepWork, restore: restorePast },
);

const models = new Models({ box: $('model-choice'), select: $('model'), changed: changeModel });

let languages = null; // until they are loaded
let choice = null;

const template = $('picker-template');
const from = new Picker({ root: $('from'), template, label: say('Translate from'), choose: (code) => choose(() => choice.setFrom(code)) });
const to = new Picker({ root: $('to'), template, label: say('Translate to'), choose: (code) => choose(() => choice.setTo(code)) });

// Text

source.addEventListener('input', (event) => {
  takeText();
  if (!event.isComposing) translator.soon(); // not halfway through a character of an input method
});
source.addEventListener('compositionend', () => translator.soon());
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || document.querySelector('dialog[open]') || $('text-panel').hidden) return;
  event.preventDefault();
  translator.now();
});

$('cancel').addEventListener('click', () => {
  translator.cancel();
  source.focus();
});

$('clear').addEventListener('click', () => {
  keepWork();
  setText('');
  source.focus();
});

/** Shows what follows from the text; the translation follows later. */
function takeText() {
  const text = source.value;
  blocks.update(text);
  const count = countCharacters(text);
  set($('count'), { textContent: say(count === 1 ? '{count} character' : '{count} characters', { count: count.toLocaleString(locale) }) });
  set($('clear'), { hidden: count === 0 });
  showSoon();
}

/** Puts another text in the place of what is there, which keepWork has kept. */
function setText(text) {
  past.begin();
  source.value = text;
  takeText();
  translator.now();
}

// What outlives the page: the text until the tab is closed, and the history

let keeping = 0;

function keepSoon() {
  clearTimeout(keeping);
  keeping = setTimeout(keepWork, KEEP_MS);
}

function keepWork() {
  clearTimeout(keeping);
  const text = source.value;
  if (!session.set('text', text || null)) session.set('text', null);
  if (blocks.blank) past.begin();
  else if (choice && blocks.progress.done > 0) past.keep({ from: choice.from, to: choice.to, text, chosen: blocks.chosen });
}

window.addEventListener('pagehide', keepWork);

/** Shows a text of the history again. */
function restorePast({ from, to, text, chosen = [] }) {
  if (!choice) return;
  keepWork(); // what is there, in its languages
  choice.take({ from, to });
  translator.adopt();
  if (choice.from === from && choice.to === to) blocks.choose(chosen);
  tabs.show(0);
  setText(text);
  source.focus();
}

// Languages

$('swap').addEventListener('click', () => {
  if (!choice) return;
  const { done, total } = blocks.progress;
  const text = done === total ? blocks.translation : source.value;
  keepWork(); // in its languages
  choice.swap(blocks.detected);
  setText(text);
});

window.addEventListener('hashchange', () => {
  if (!choice) return; // which reads the address when it is made
  const asked = readAddress();
  if (asked.text) keepWork(); // in its languages
  const changed = choice.take(asked);
  if (asked.text) setText(asked.text);
  else if (changed) translator.now();
});

function choose(change) {
  change();
  translator.now();
}

let loading = null; // aborts the list of languages that is on its way

/** Loads the languages of the model that is chosen, and offers them. */
async function loadLanguages() {
  loading?.abort();
  loading = new AbortController();
  const { signal } = loading;
  languages = await recovery.run(async () => new Languages(await api.languages(models.chosen, signal)), signal);
  if (choice) choice.offer(languages);
  else choice = new Choice(languages);
  from.offer({ languages, auto: true, recent: () => choice.recent, takes: (code) => choice.takesFrom(code) });
  to.offer({ languages, auto: false, recent: () => choice.recent, takes: (code) => choice.takesTo(code) });
}

async function changeModel() {
  translator.stop();
  try {
    await loadLanguages();
  } catch (err) {
    if (err.name !== 'AbortError') throw err;
    return; // another model was chosen meanwhile
  }
  translator.now();
}

function showLanguages() {
  const { detected } = blocks;
  const known = choice.from === AUTO ? detected : choice.from;
  from.show(choice.from, choice.from !== AUTO ? languages.get(choice.from).name : detected ? say('{language} (detected)', { language: languages.known(detected) }) : say('Detect language'));
  to.show(choice.to, languages.get(choice.to).name);
  glossaries.offer(choice, detected);
  for (const element of [source, view.mirror]) set(element, { dir: known ? direction(known) : 'auto', lang: known });
  set($('swap'), { disabled: !choice.swaps });
  set(output, { dir: direction(choice.to), lang: choice.to });
}

// The translation

let frame = 0;

/** Shows the translation with the next frame: answers may come by the hundred. */
function showSoon() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    showTranslation();
  });
}

function showTranslation() {
  if (choice) showLanguages();
  const { busy, progress } = translator;
  set(output, { ariaBusy: String(busy || blocks.drafting) }); // what changes while one types is not read aloud
  set($('progress'), { hidden: !busy });
  set($('status'), { textContent: busy ? (progress.total > 1 ? say('Translating, {done} of {total} lines', progress) : say('Translating')) : '' });
  set($('cancel'), { hidden: !busy || !long.progress });
  for (const id of ['copy', 'download']) set($(id), { hidden: blocks.progress.done === 0 });
  if (!busy && blocks.progress.done > 0) loadGlossaries(); // a key that was needed is there now
  showNotes();
  highlight.refresh();
  alternatives.refresh();
  keepSoon();
}

function showNotes() {
  const { flagged, detected, progress } = blocks;
  const whole = progress.total === 1;
  const words = flagged.slice(0, MOST_NOTES).map(({ number, flags }) => say('{subject} {faults}.', {
    subject: whole ? say('This translation') : say('Line {number}', { number }), faults: describeFlags(flags),
  }));
  if (flagged.length > MOST_NOTES) words.push(say('{count} more lines have such faults.', { count: flagged.length - MOST_NOTES }));
  if (choice && detected === choice.to) words.unshift(say('The text is in {language} already.', { language: languages.known(detected) }));
  const pivot = choice && progress.done > 0 && languages.get(choice.from === AUTO ? detected : choice.from)?.pivots[choice.to];
  if (pivot) words.push(say('Translated by way of {language}.', { language: languages.known(pivot) }));
  const notes = $('notes');
  set(notes, { hidden: words.length === 0 });
  if (notes.textContent === words.join('')) return;
  notes.replaceChildren(...words.map((text) => element('li', { textContent: text })));
}

async function loadGlossaries() {
  if (!(await glossaries.load())) return;
  if (choice && glossaries.chosen(choice)) translator.now(); // as before a reload
  else showSoon();
}

// Copying and saving

$('download').addEventListener('click', () => download(new Blob([blocks.translation], { type: 'text/plain' }), `translation.${choice.to}.txt`));

let feedback = 0;
$('copy').addEventListener('click', async () => {
  const done = await copy(blocks.translation);
  $('copy').classList.toggle('done', done);
  $('copy').lastElementChild.textContent = say(done ? 'Copied' : 'Copy');
  $('status').textContent = say(done ? 'Copied to the clipboard' : 'The browser does not allow this: select the text and copy it');
  clearTimeout(feedback);
  feedback = setTimeout(() => {
    $('copy').classList.remove('done');
    $('copy').lastElementChild.textContent = say('Copy');
    showTranslation();
  }, FEEDBACK_MS);
});

/** Copies a text; tells whether that worked. Without HTTPS there is the old way only. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element('textarea', { value: text, className: 'unseen' });
    const active = document.activeElement;
    document.body.append(area);
    area.focus({ preventScroll: true });
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    active?.focus({ preventScroll: true });
    return done;
  }
}

// Theme

const dark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark';
const showTheme = () => $('theme').setAttribute('aria-pressed', String(isDark()));
dark.addEventListener('change', showTheme);
$('theme').addEventListener('click', () => {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  lasting.set('theme', theme);
  showTheme();
});

// Start

async function start() {
  showTheme();
  source.value = readAddress().text || source.value || session.get('text') || long.source; // the browser may bring text back
  takeText();
  if (matchMedia('(pointer: fine)').matches) source.focus();
  await loadLanguages(); // once the service is ready, which knows its models then
  const { signal } = new AbortController();
  const about = await recovery.run(() => api.about(signal), signal);
  models.offer(about.models);
  live.offer(about.live);
  const [remembers] = await Promise.all([api.findMemory(), glossaries.load()]);
  $('choices-keep').hidden = !remembers;
  if (documents.offer(await recovery.run(() => api.fileTypes(signal), signal))) tabs.offer();
  if (models.chosen) await changeModel();
  else translator.now();
}

start();
