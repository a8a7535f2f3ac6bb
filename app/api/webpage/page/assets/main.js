// The page: what its controls do.

import { Alternatives } from './alternatives.js';
import { Api } from './api.js';
import { Blocks } from './blocks.js';
import { Documents } from './documents.js';
import { Glossaries } from './glossaries.js';
import { Highlight } from './highlight.js';
import { Keys } from './keys.js';
import { AUTO, Choice, Languages, direction } from './languages.js';
import { Live } from './live.js';
import { LongText } from './long.js';
import { Models } from './models.js';
import { Picker } from './picker.js';
import { Notice, Recovery } from './recovery.js';
import { lasting } from './storage.js';
import { Tabs } from './tabs.js';
import { countCharacters, describeFlags } from './text.js';
import { Translator } from './translator.js';
import { locale, localize, say } from './words.js';

const MOST_NOTES = 5;
const FEEDBACK_MS = 2000;

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
  { output, box: $('choices'), list: $('choices-list'), status: $('choices-status') },
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
    return { fromLang: choice.from, toLang: choice.to, ...(models.chosen && { model: models.chosen }), ...(glossaryId && { glossaryId }) };
  },
});

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
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || $('key-dialog').open || $('text-panel').hidden) return;
  event.preventDefault();
  translator.now();
});

$('cancel').addEventListener('click', () => {
  translator.cancel();
  source.focus();
});

$('clear').addEventListener('click', () => {
  setText('');
  source.focus();
});

/** Shows what follows from the text at once; the translation follows later. */
function takeText() {
  blocks.update();
  const count = countCharacters(source.value);
  $('count').textContent = say(count === 1 ? '{count} character' : '{count} characters', { count: count.toLocaleString(locale) });
  $('clear').hidden = count === 0;
  showTranslation();
}

function setText(text) {
  source.value = text;
  takeText();
  translator.now();
}

// Languages

$('swap').addEventListener('click', () => {
  if (!choice) return;
  const { done, total } = blocks.progress;
  const text = done === total ? blocks.translation : source.value;
  choice.swap(blocks.detected);
  setText(text);
});

window.addEventListener('hashchange', () => {
  if (choice?.readAddress()) translator.now();
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
  for (const element of [source, view.mirror]) {
    element.dir = known ? direction(known) : 'auto';
    element.lang = known;
  }
  $('swap').disabled = !choice.swaps;
  output.dir = direction(choice.to);
  output.lang = choice.to;
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
  output.setAttribute('aria-busy', String(busy || blocks.drafting)); // what changes while one types is not read aloud
  $('progress').hidden = !busy;
  $('status').textContent = busy ? (progress.total > 1 ? say('Translating, {done} of {total} lines', progress) : say('Translating')) : '';
  $('cancel').hidden = !busy || !long.progress;
  $('copy').hidden = blocks.progress.done === 0;
  if (!busy && blocks.progress.done > 0) loadGlossaries(); // a key that was needed is there now
  showNotes();
  highlight.refresh();
  alternatives.refresh();
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
  notes.hidden = words.length === 0;
  if (notes.textContent === words.join('')) return;
  notes.replaceChildren(...words.map((text) => Object.assign(document.createElement('li'), { textContent: text })));
}

async function loadGlossaries() {
  if (!(await glossaries.load())) return;
  if (choice && glossaries.chosen(choice)) translator.now(); // as before a reload
  else showSoon();
}

// Copying

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
    const area = Object.assign(document.createElement('textarea'), { value: text, className: 'unseen' });
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
  source.value ||= long.source;
  takeText(); // a reload may bring text back
  if (matchMedia('(pointer: fine)').matches) source.focus();
  await loadLanguages(); // once the service is ready, which knows its models then
  const { signal } = new AbortController();
  const about = await recovery.run(() => api.about(signal), signal);
  models.offer(about.models);
  live.offer(about.live);
  await glossaries.load();
  if (documents.offer(await recovery.run(() => api.fileTypes(signal), signal))) tabs.offer();
  if (models.chosen) await changeModel();
  else translator.now();
}

start();
