// Other translations of a sentence: a list below it, which a click or Enter opens. It
// is a listbox, as the ARIA Authoring Practices describe it.

import { ApiError } from './api.js';
import { say } from './words.js';

/** How many translations to choose from, and what a server with narrow searches may still give. */
const COUNTS = [5, 2];

export class Alternatives {
  #output;
  #box;
  #list;
  #status;
  #blocks;
  #api;
  #changed;
  #span = null; // the sentence that the list is open for
  #asking = null; // aborts the question for it
  #active = -1; // the option that Enter takes

  /**
   * view has the elements: output, and box with list and status in it. changed is called
   * with the sentence's new span after one was chosen.
   */
  constructor({ output, box, list, status }, { blocks, api, changed }) {
    this.#output = output;
    this.#box = box;
    this.#list = list;
    this.#status = status;
    this.#blocks = blocks;
    this.#api = api;
    this.#changed = changed;

    output.addEventListener('click', ({ target }) => {
      if (document.getSelection().isCollapsed) this.#open(target.closest('.segment')); // or a text is selected to be copied
    });
    output.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      if (this.#open(event.target.closest('.segment'))) event.preventDefault();
    });
    list.addEventListener('keydown', (event) => this.#key(event));
    list.addEventListener('mousedown', (event) => event.preventDefault()); // the focus stays
    list.addEventListener('click', ({ target }) => this.#choose(target.closest('[role=option]')));
    list.addEventListener('focusout', () => this.close());
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

  /** Opens the list for a sentence; tells whether there is one. */
  #open(span) {
    const sentence = span && this.#blocks.sentenceOf(span);
    if (!sentence) return false;
    this.close();
    this.#span = span;
    span.setAttribute('aria-expanded', 'true');
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
      const option = Object.assign(document.createElement('div'), { className: 'choice', id: `choice-${i}`, textContent: text, lang, dir });
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
    else if (event.key === 'Escape') this.#span.focus(); // which closes the list
    else return;
    event.preventDefault();
  }

  /** Puts the translation that an option shows in the sentence's place. */
  #choose(option) {
    if (!option) return;
    const span = this.#blocks.replace(this.#span, option.textContent);
    this.#changed(span);
    span.focus();
    this.close();
  }
}
