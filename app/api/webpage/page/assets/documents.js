// Documents: files that the server translates as jobs, which go on while the page reloads.

import { ApiError, problem } from './api.js';
import { download } from './download.js';
import { nameOf } from './languages.js';
import { session } from './storage.js';
import { say } from './words.js';

/** How long to wait before a connection that broke is made again: longer each time. */
const PAUSE_MS = { first: 500, factor: 1.6, most: 10_000 };

/** Failures of a document itself: to send it again would not help. */
const FINAL = ['refused', 'size', 'failed', 'absent'];

/** What people call the kinds of documents that most have, by the extension of one. */
const KINDS = new Map([
  ['.docx', 'Word'], ['.xlsx', 'Excel'], ['.pptx', 'PowerPoint'], ['.pdf', 'PDF'], ['.odt', 'LibreOffice'], ['.epub', 'EPUB'], ['.html', 'HTML'],
  ['.md', 'Markdown'], ['.txt', 'text'], ['.csv', 'tables'], ['.srt', 'subtitles'], ['.po', 'messages of programs'],
]);

/** A key that no other request has. crypto.randomUUID is only there with HTTPS. */
const randomKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

export class Documents {
  #api;
  #recovery;
  #view;
  #way;
  #turn = Promise.resolve(); // documents are sent one after the other
  #items = new Set();

  /**
   * view has the elements: input, hint, details, all, list, status and template, and shows the panel by show. way tells which languages
   * and model are chosen. Documents that this tab sent before it was loaded again are picked up.
   */
  constructor({ api, recovery, view, way }) {
    this.#api = api;
    this.#recovery = recovery;
    this.#view = view;
    this.#way = way;
    const { input } = view;
    input.addEventListener('change', () => {
      this.#add(input.files);
      input.value = ''; // so that the same file can be chosen again
    });
    // Anywhere on the page, or the browser opens the file in its place.
    for (const name of ['dragenter', 'dragover', 'drop']) document.addEventListener(name, (event) => this.#drag(event, name !== 'drop'));
    document.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget ?? this.#mark(false));
  }

  /** Takes documents of these extensions from now on; tells whether there are any. */
  offer(types) {
    const { input, hint, details, all } = this.#view;
    if (types.length === 0) return false;
    input.disabled = false;
    input.accept = types.join(',');
    const kinds = [...KINDS].filter(([type]) => types.includes(type)).map(([, kind]) => say(kind));
    hint.textContent = say('{kinds} and more', { kinds: kinds.join(', ') });
    all.textContent = types.map((type) => type.slice(1)).join(' ');
    details.hidden = false;
    this.#restore();
    return true;
  }

  #drag(event, over) {
    if (!event.dataTransfer.types.includes('Files')) return; // text, which the text area takes
    event.preventDefault();
    this.#mark(over && !this.#view.input.disabled);
    if (over || this.#view.input.disabled) return;
    this.#view.show();
    this.#add(event.dataTransfer.files);
  }

  /** Shows that files can be dropped. */
  #mark(over) {
    document.documentElement.classList.toggle('dropping', over);
  }

  #add(files) {
    if (this.#view.input.disabled) return;
    for (const file of files) {
      const way = this.#way();
      const item = this.#show(file.name, way.toLang);
      item.say(say('Waiting'));
      this.#turn = this.#turn.then(() => this.#watch(item, () => this.#submit(item, file, way)));
    }
  }

  /** Does something with a document, and says in the list what went wrong. */
  async #watch(item, action) {
    try {
      await action();
    } catch (err) {
      if (item.removed.signal.aborted) return;
      if (!(err instanceof ApiError)) console.error(err); // a fault of the page or of a proxy
      this.#end(item, err instanceof ApiError ? err.message : say('The server gave an answer that makes no sense.'), true);
    }
  }

  /** Repeats what fails until it works; what is the document's own fault is thrown. */
  async #persist(item, action) {
    const { signal } = item.removed;
    const { result, err } = await this.#recovery.run(async () => {
      try {
        return { result: await action(signal) };
      } catch (err) {
        if (FINAL.includes(err.kind)) return { err };
        throw err;
      }
    }, signal);
    if (err) throw err;
    return result;
  }

  /** Sends a document. It is followed without keeping the next one waiting. */
  async #submit(item, file, way) {
    item.removed.signal.throwIfAborted();
    item.say(say('Sending'));
    const key = randomKey();
    ({ id: item.id } = await this.#persist(item, (signal) => this.#api.submitDocument(file, way, key, signal)));
    this.#remember();
    this.#watch(item, () => this.#follow(item));
  }

  /** Shows how far a document is until it has ended, through as many connections as it takes. */
  async #follow(item) {
    const { signal } = item.removed;
    for (let pause = PAUSE_MS.first; ; pause = Math.min(pause * PAUSE_MS.factor, PAUSE_MS.most)) {
      try {
        for await (const job of this.#api.follow(item.id, signal)) {
          if (this.#take(item, job)) return;
          pause = PAUSE_MS.first;
        }
      } catch (err) {
        if (signal.aborted || !(err instanceof ApiError)) throw err;
        if (err.kind === 'absent') throw new ApiError('absent', say('The server does not have it any more.'));
        if (FINAL.includes(err.kind)) throw err;
        if (err.kind === 'key') await this.#persist(item, () => this.#api.job(item.id, signal));
        else item.say(say('{problem} This page goes on by itself.', { problem: err.message }));
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      signal.throwIfAborted();
    }
  }

  /** Shows what has become of a document; tells whether that is the end. */
  #take(item, { state, progress, error, document }) {
    const { done, records, flagged = 0 } = progress;
    if (state === 'queued' || state === 'running') {
      item.say(state === 'queued' ? say('Waiting for its turn') : say('Translating, {done} of {records} texts', { done, records }), { done, records });
      return false;
    }
    if (state === 'done') {
      let text = records ? say('Translated') : say('There is no text to translate');
      if (flagged) text = say('Translated; {flagged} of {records} texts may be wrong', { flagged, records });
      if (document?.headerKept) text = say('{text}. The first row stays, for it looks like names.', { text });
      if (document?.kept) text = say('{text}. Texts to which formulas refer stay ({kept}).', { text, kept: document.kept });
      this.#end(item, text);
      item.offer(() => this.#watch(item, () => this.#download(item)));
    } else if (state === 'failed') this.#end(item, error ? problem(500, error).message : say('It could not be translated'), true);
    else this.#end(item, say('Cancelled'), true);
    return true;
  }

  /** Says how a document has ended, aloud too. */
  #end(item, text, bad = false) {
    item.say(text, { bad });
    this.#view.status.textContent = `${item.name}: ${text}`;
  }

  async #download(item) {
    const { blob, name } = await this.#persist(item, (signal) => this.#api.document(item.id, signal));
    download(blob, name || item.name);
  }

  /** Adds a document to the list. */
  #show(name, to, id = null) {
    const { list, template, input } = this.#view;
    const item = new Item(name, to, template, () => {
      item.removed.abort();
      this.#items.delete(item);
      this.#remember();
      if (item.id) this.#api.remove(item.id).catch(() => {}); // it expires
      (item.element.nextElementSibling ?? item.element.previousElementSibling)?.querySelector('button:not([hidden])').focus();
      item.element.remove();
      if (list.children.length === 0) input.focus();
    });
    item.id = id;
    this.#items.add(item);
    list.append(item.element);
    return item;
  }

  #remember() {
    const sent = [...this.#items].filter(({ id }) => id).map(({ id, name, to }) => ({ id, name, to }));
    session.set('documents', sent.length ? JSON.stringify(sent) : null);
  }

  #restore() {
    let sent = [];
    try {
      sent = JSON.parse(session.get('documents')) ?? [];
    } catch {
      // Of another version.
    }
    for (const { id, name, to } of sent) {
      const item = this.#show(name, to, id);
      this.#watch(item, () => this.#follow(item));
    }
  }
}

/** A document in the list. */
class Item {
  #state;
  #progress;
  #download;
  id = null; // of its job
  removed = new AbortController();

  constructor(name, to, template, remove) {
    this.name = name;
    this.to = to; // the code of the target language
    this.element = template.content.firstElementChild.cloneNode(true);
    const [title, way, state] = this.element.querySelectorAll('p');
    const [download, close] = this.element.querySelectorAll('button');
    this.#state = state;
    this.#progress = this.element.querySelector('progress');
    this.#download = download;
    title.textContent = name;
    if (to) way.textContent = say('Target language: {language}', { language: nameOf(to) });
    this.#progress.setAttribute('aria-label', say('Translation of {name}', { name }));
    download.setAttribute('aria-label', say('Download {name}', { name }));
    close.setAttribute('aria-label', say('Remove {name}', { name }));
    close.addEventListener('click', remove);
  }

  /** Says how the document is, with how much of it is done where that is known. */
  say(text, { done = 0, records = 0, bad = false } = {}) {
    this.#state.textContent = text;
    this.#state.classList.toggle('bad', bad);
    this.#progress.hidden = records === 0;
    if (records) Object.assign(this.#progress, { max: records, value: done });
  }

  /** Offers the translated document. */
  offer(download) {
    this.#download.hidden = false;
    this.#download.addEventListener('click', download);
  }
}
