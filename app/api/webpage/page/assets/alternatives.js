// Other translations of a sentence: a list below it, which a click or Enter opens. It
// is a listbox, as the ARIA Authoring Practices describe it. A person may also write another
// translation: F2, or a button below the list, puts a text area in the list's place.

import { ApiError } from './api.js';
import { element } from './dom.js';
import { say } from './words.js';

/** How many translations to choose from, and what a server with narrow searches may still give. */
const COUNTS = [5, 2];

export class Alternatives {
  #output;
  #box;
  #list;
  #status;
  #change;
  #form;
  #text;
  #blocks;
  #api;
  #changed;
  #span = null; // the sentence that the list is open for
  #asking = null; // aborts the question for it
  #active = -1; // the option that Enter takes

  /**
   * view has the elements: output, and box with list, status and the button change in it, and form, with the
   * text area text and the buttons keep and cancel. changed is called with the sentence's new span after one was chosen.
   */
  constructor({ output, box, list, status, change, form, text, keep, cancel }, { blocks, api, changed }) {
    this.#output = output;
    this.#box = box;
    this.#list = list;
    this.#status = status;
    this.#change = change;
    this.#form = form;
    this.#text = text;
    this.#blocks = blocks;
    this.#api = api;
    this.#changed = changed;

    output.addEventListener('click', ({ target }) => {
      if (document.getSelection().isCollapsed) this.#open(target.closest('.segment')); // or a text is selected to be copied
    });
    output.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ' && event.key !== 'F2') return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      if (!this.#open(event.target.closest('.segment'))) return;
      event.preventDefault();
      if (event.key === 'F2') this.#write();
    });
    list.addEventListener('keydown', (event) => this.#key(event));
    list.addEventListener('click', ({ target }) => this.#choose(target.closest('[role=option]')));
    change.addEventListener('click', () => this.#write());
    text.addEventListener('input', () => this.#takeText());
    text.addEventListener('keydown', (event) => this.#writeKey(event));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (event.submitter === keep) this.#keep(text.value.trim());
      else this.#put(text.value);
    });
    cancel.addEventListener('click', () => this.#leave());
    box.addEventListener('keydown', (event) => event.key === 'Escape' && this.#leave());
    box.addEventListener('mousedown', (event) => event.target === text || event.preventDefault()); // the focus stays
    box.addEventListener('focusout', ({ relatedTarget }) => {
      if (!this.#span || box.contains(relatedTarget)) return;
      if (!form.hidden) this.#put(text.value, false); // what was written is not lost
      else this.close();
    });
  }

  /** Closes the list where its sentence is not there any more, or has no translation yet. */
  refresh() {
    if (this.#span && !this.#blocks.sentenceOf(this.#span)) this.close();
  }

  close() {
    this.#asking?.abort();
    this.#span?.setAttribute('aria-expanded', 'false');
    this.#span = null;
    this.#box.hidden = true;
  }

  /** Closes the list, and goes back to the sentence. */
  #leave() {
    const span = this.#span;
    this.close();
    span?.focus();
  }

  /** Lets the person write a translation of the sentence. */
  #write() {
    this.#asking?.abort();
    const { text } = this.#blocks.sentenceOf(this.#span);
    Object.assign(this.#text, { value: text, lang: this.#output.lang, dir: this.#output.dir });
    this.#form.hidden = false;
    this.#takeText();
    this.#text.focus(); // before the list goes, which has the focus
    this.#list.hidden = true;
    this.#change.hidden = true;
    this.#status.textContent = '';
    this.#box.scrollIntoView({ block: 'nearest' });
  }

  /** Keeps what is written to one line, as the sentence is, and as high as it needs. */
  #takeText() {
    const text = this.#text;
    if (/[\r\n]/.test(text.value)) text.value = text.value.replace(/\s*[\r\n]+\s*/g, ' ');
    text.style.blockSize = 'auto';
    text.style.blockSize = `${text.scrollHeight + text.offsetHeight - text.clientHeight}px`;
  }

  #writeKey(event) {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    this.#put(this.#text.value);
  }

  /** Opens the list for a sentence; tells whether there is one. */
  #open(span) {
    const sentence = span && this.#blocks.sentenceOf(span);
    if (!sentence) return false;
    this.close();
    this.#span = span;
    span.setAttribute('aria-expanded', 'true');
    this.#list.hidden = false;
    this.#change.hidden = false;
    this.#form.hidden = true;
    this.#show([], sentence);
    this.#status.textContent = say('Looking for other translations');
    this.#box.hidden = false;
    this.#place(span);
    this.#list.focus({ preventScroll: true });
    this.#fill(sentence);
    return true;
  }

  /** Puts the list below the last line of a sentence. */
  #place(span) {
    const line = [...span.getClientRects()].at(-1);
    this.#box.style.insetBlockStart = `${line.bottom - this.#box.offsetParent.getBoundingClientRect().top}px`;
    this.#box.scrollIntoView({ block: 'nearest' });
  }

  /** Asks for the translations of a sentence, and shows them. */
  async #fill(sentence) {
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const found = await this.#ask(sentence, asking.signal);
      if (asking.signal.aborted) return;
      const others = found.filter((text) => text !== sentence.text);
      this.#show([sentence.text, ...others], sentence);
      this.#status.textContent = others.length > 0 ? '' : say('There are no other translations.');
    } catch (err) {
      if (asking.signal.aborted) return;
      this.#status.textContent = err instanceof ApiError ? err.message : say('The server gave an answer that makes no sense.');
    }
    this.#box.scrollIntoView({ block: 'nearest' });
  }

  async #ask({ job, source }, signal) {
    const records = [{ id: '0', text: source }];
    for (let i = 0; ; i++) {
      try {
        return await this.#api.alternatives({ ...job, records, alternatives: COUNTS[i] }, signal);
      } catch (err) {
        if (err.kind !== 'refused' || i === COUNTS.length - 1) throw err;
      }
    }
  }

  #show(texts, { text: current }) {
    const { lang, dir } = this.#output;
    const options = texts.map((text, i) => {
      const option = element('div', { className: 'choice', id: `choice-${i}`, textContent: text, lang, dir });
      option.setAttribute('role', 'option');
      option.setAttribute('aria-selected', String(text === current));
      return option;
    });
    this.#list.replaceChildren(...options);
    this.#active = -1;
    this.#list.removeAttribute('aria-activedescendant');
    if (options.length > 0) this.#activate(0);
  }

  #activate(index) {
    const options = this.#list.children;
    options[this.#active]?.classList.remove('active');
    this.#active = index;
    options[index].classList.add('active');
    options[index].scrollIntoView({ block: 'nearest' });
    this.#list.setAttribute('aria-activedescendant', options[index].id);
  }

  #key(event) {
    const last = this.#list.children.length - 1;
    const moves = {
      ArrowDown: this.#active >= last ? 0 : this.#active + 1,
      ArrowUp: this.#active <= 0 ? last : this.#active - 1,
      Home: 0,
      End: last,
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves && last >= 0) this.#activate(moves[event.key]);
    else if (event.key === 'Enter' || event.key === ' ') this.#choose(this.#list.children[this.#active]);
    else if (event.key === 'F2') this.#write();
    else return;
    event.preventDefault();
  }

  /** Keeps a text for the next time, and puts it in the sentence's place. */
  async #keep(text) {
    const span = this.#span;
    const { job, source } = this.#blocks.sentenceOf(span);
    if (!text) return;
    try {
      await this.#api.remember(job, source, text);
    } catch (err) {
      if (!(err instanceof ApiError)) throw err;
      if (this.#span === span) this.#status.textContent = err.message;
      return;
    }
    if (this.#span === span) this.#put(text);
  }

  /** Puts the translation that an option shows in the sentence's place. */
  #choose(option) {
    if (option) this.#put(option.textContent);
  }

  /** Puts a text in the sentence's place, unless there is none, and goes back to the sentence or stays where the focus is. */
  #put(text, back = true) {
    let span = this.#span;
    const written = text.trim();
    this.close();
    if (written && written !== this.#blocks.sentenceOf(span)?.text) {
      span = this.#blocks.replace(span, written) ?? span;
      this.#changed(span);
    }
    if (back) span.focus();
  }
}
