// A button that opens a list of languages, which typing narrows down: a combobox with
// a listbox, as the ARIA Authoring Practices describe it.

import { element, set } from './dom.js';
import { AUTO } from './languages.js';
import { locale, say } from './words.js';

const PAGE = 8; // options that PageDown passes over

export class Picker {
  #root;
  #button;
  #value;
  #panel;
  #input;
  #list;
  #none;
  #languages = null;
  #recent = () => [];
  #auto = false;
  #takes = () => true;
  #choose;
  #code = '';
  #options = []; // of the list as it is, in its order
  #active = -1; // the option that Enter takes

  /** root is the empty element to fill; choose is called with a code that was picked. */
  constructor({ root, template, label, choose }) {
    this.#root = root;
    this.#choose = choose;
    root.append(template.content.cloneNode(true));
    this.#button = root.querySelector('.picker-button');
    this.#value = root.querySelector('.picker-value');
    this.#panel = root.querySelector('.picker-panel');
    this.#input = root.querySelector('input');
    this.#list = root.querySelector('.picker-list');
    this.#none = root.querySelector('.picker-none');
    this.#button.querySelector('.unseen').textContent = `${label}: `;
    this.#list.id = `${root.id}-list`;
    this.#list.setAttribute('aria-label', label);
    this.#input.setAttribute('aria-label', say('{label}, type to search', { label }));
    this.#input.setAttribute('aria-controls', this.#list.id);
    this.#listen();
  }

  /** Offers languages that takes(code) allows: AUTO first where auto says so, then recent() and all. */
  offer({ languages, auto, recent, takes }) {
    this.#languages = languages;
    this.#auto = auto;
    this.#recent = recent;
    this.#takes = takes;
    this.#button.disabled = false;
  }

  /** Shows a choice. text is what the button says. */
  show(code, text) {
    this.#code = code;
    set(this.#value, { textContent: text, lang: code === AUTO ? locale : code });
  }

  #listen() {
    this.#button.addEventListener('click', () => (this.#panel.hidden ? this.#open() : this.#close()));
    this.#button.addEventListener('mousedown', (event) => {
      if (!this.#panel.hidden) event.preventDefault(); // or Safari closes the panel before the click
    });
    this.#button.addEventListener('keydown', (event) => {
      const letter = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') event.preventDefault();
      else if (!letter) return;
      this.#open(); // the letter goes into the input, which has the focus now
    });
    this.#input.addEventListener('input', () => this.#fill());
    this.#input.addEventListener('keydown', (event) => this.#key(event));
    this.#list.addEventListener('mousedown', (event) => event.preventDefault()); // the focus stays
    this.#list.addEventListener('click', ({ target }) => this.#pick(target.closest('[role=option]')));
    this.#root.addEventListener('focusout', ({ relatedTarget }) => {
      if (!this.#root.contains(relatedTarget)) this.#close();
    });
  }

  #open() {
    if (this.#button.disabled || !this.#panel.hidden) return;
    this.#panel.hidden = false;
    this.#button.setAttribute('aria-expanded', 'true');
    this.#input.value = '';
    this.#fill();
    this.#input.focus();
  }

  #close() {
    this.#panel.hidden = true;
    this.#button.setAttribute('aria-expanded', 'false');
  }

  #pick(option) {
    if (!option) return;
    this.#button.focus();
    this.#close();
    this.#choose(option.dataset.code);
  }

  #key(event) {
    const last = this.#options.length - 1;
    const moves = {
      ArrowDown: this.#active >= last ? 0 : this.#active + 1,
      ArrowUp: this.#active <= 0 ? last : this.#active - 1,
      PageDown: Math.min(this.#active + PAGE, last),
      PageUp: Math.max(this.#active - PAGE, 0),
    };
    if (event.key in moves) this.#activate(moves[event.key]);
    else if (event.key === 'Enter' && !event.isComposing) this.#pick(this.#options[this.#active]);
    else if (event.key === 'Escape') {
      this.#button.focus();
      this.#close();
    } else return;
    event.preventDefault();
  }

  /** Fills the list with what fits the text that was typed. */
  #fill() {
    const typed = this.#input.value.trim();
    const takes = ({ code }) => this.#takes(code);
    const list = this.#languages.list.filter(takes);
    if (typed) {
      this.#list.replaceChildren(...this.#languages.search(typed).filter(takes).map((language) => this.#option(language)));
    } else {
      const recent = this.#recent().map((code) => this.#languages.get(code)).filter((language) => language && takes(language));
      const auto = this.#auto ? [this.#option({ code: AUTO, name: say('Detect language'), known: '' })] : [];
      const groups = recent.length > 0 && list.length > recent.length ? [[say('Recent'), recent], [say('All languages'), list]] : [[say('All languages'), list]];
      this.#list.replaceChildren(...auto, ...groups.map(([title, members], i) => this.#group(title, members, i)));
    }
    this.#options = [...this.#list.querySelectorAll('[role=option]')];
    this.#options.forEach((option, i) => (option.id = `${this.#list.id}-${i}`));
    this.#none.textContent = this.#options.length > 0 ? '' : say('No language fits.');
    const chosen = this.#options.findIndex((option) => option.dataset.code === this.#code);
    this.#activate(typed ? Math.min(0, this.#options.length - 1) : Math.max(chosen, 0));
  }

  #group(title, members, i) {
    const heading = element('div', { className: 'picker-heading', id: `${this.#list.id}-group-${i}`, textContent: title });
    heading.setAttribute('aria-hidden', 'true');
    const group = element('div', {}, heading, ...members.map((language) => this.#option(language)));
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', title);
    return group;
  }

  #option({ code, name, known }) {
    const option = element('div', { className: 'picker-option' }, element('span', { textContent: name, lang: code === AUTO ? locale : code }));
    if (known && known !== name) option.append(' ', element('span', { className: 'quiet', textContent: known }));
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', String(code === this.#code));
    option.dataset.code = code;
    return option;
  }

  #activate(index) {
    this.#options[this.#active]?.classList.remove('active');
    this.#active = index;
    const option = this.#options[index];
    this.#input.setAttribute('aria-activedescendant', option?.id ?? '');
    option?.classList.add('active');
    option?.scrollIntoView({ block: 'nearest' });
  }
}
