// The last texts that were translated, which stay in this browser, unless a switch says that they do not.

import { element } from './dom.js';
import { lasting } from './storage.js';
import { unchanged } from './text.js';
import { say } from './words.js';

const MOST = { texts: 50, characters: 1_000_000, text: 200_000 };

/** What is shown of a text. */
const SHOWN = 200;

/** Tells whether a text has come of another by editing: most of the shorter one is still there. */
function continues(before, after) {
  const { head, tail } = unchanged(before, after);
  return 2 * (head + tail) > Math.min(before.length, after.length);
}

/** The entries: {from, to, text, chosen, id}, the latest first; chosen has pairs of sentences and their translations. */
function read() {
  try {
    const list = JSON.parse(lasting.get('history')) ?? [];
    return list.filter(({ text, from, to }) => [text, from, to].every((value) => typeof value === 'string'));
  } catch {
    return []; // of another version
  }
}

/** Stores the latest entries, as many as there is room for. */
function write(list) {
  let [kept, characters] = [[], 0];
  for (const entry of list.slice(0, MOST.texts)) {
    characters += entry.text.length;
    if (characters > MOST.characters) break;
    kept.push(entry);
  }
  while (!lasting.set('history', kept.length > 0 ? JSON.stringify(kept) : null) && kept.length > 0) kept = kept.slice(0, kept.length >> 1);
}

export class History {
  #view;
  #name;
  #restore;
  #id = ''; // of the entry for the text that is on the page, '' where there is none yet
  #last = ''; // what was kept last

  /**
   * view has the elements: dialog, button, close, list, none, keep and clear. name names a language; keep keeps the text
   * that is on the page; restore is called with an entry to show again.
   */
  constructor(view, { name, keep: keepText, restore }) {
    this.#view = view;
    this.#name = name;
    this.#restore = restore;
    const { dialog, button, close, keep, clear } = view;
    keep.checked = this.#on;
    keep.addEventListener('change', () => {
      lasting.set('history-off', keep.checked ? null : 'yes');
      this.#forget();
    });
    clear.addEventListener('click', () => this.#forget());
    close.addEventListener('click', () => dialog.close());
    button.addEventListener('click', () => {
      keepText();
      this.#fill();
      dialog.showModal();
    });
  }

  get #on() {
    return lasting.get('history-off') === null;
  }

  /** Keeps a text that was translated, in the place of what it has come of. */
  keep(entry) {
    if (!this.#on || entry.text.length > MOST.text) return;
    const last = JSON.stringify(entry);
    if (last === this.#last) return;
    this.#last = last;
    const list = read(); // other tabs have added to it
    const before = list.find(({ id }) => id === this.#id);
    if (!before || !continues(before.text, entry.text)) this.#id = crypto.getRandomValues(new Uint32Array(2)).join('-');
    const same = ({ id, text, from, to }) => id === this.#id || (text === entry.text && from === entry.from && to === entry.to);
    write([{ ...entry, id: this.#id }, ...list.filter((one) => !same(one))]);
  }

  /** Says that the next text is another one. */
  begin() {
    this.#id = '';
  }

  #forget() {
    write([]);
    this.#id = '';
    this.#last = '';
    this.#fill();
  }

  #fill() {
    const { list, none, clear, dialog } = this.#view;
    const items = read().map((entry) => {
      const way = element('span', { className: 'quiet', textContent: say('{from} → {to}', { from: this.#name(entry.from), to: this.#name(entry.to) }) });
      const text = element('span', { className: 'past-text', dir: 'auto', textContent: entry.text.slice(0, SHOWN) });
      const button = element('button', { type: 'button', className: 'past' }, way, ' ', text);
      button.addEventListener('click', () => {
        dialog.close();
        this.#restore(entry);
        this.#id = entry.id;
      });
      return element('li', {}, button);
    });
    list.replaceChildren(...items);
    none.hidden = items.length > 0;
    clear.disabled = items.length === 0;
  }
}
