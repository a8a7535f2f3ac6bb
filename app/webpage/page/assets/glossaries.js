// Which stored glossary a translation uses. There is a choice only where one has terms for the
// languages, which must both be known.

import { lasting } from './storage.js';

const option = (value, textContent) => Object.assign(document.createElement('option'), { value, textContent });

export class Glossaries {
  #box;
  #select;
  #api;
  #list = [];
  #loaded = false;
  #loading = false;
  #offered = '';
  #wanted = lasting.get('glossary'); // id

  /** box is what is shown where there is a choice, and has the select; changed is called after one. */
  constructor({ box, select, api, changed }) {
    this.#box = box;
    this.#select = select;
    this.#api = api;
    select.addEventListener('change', () => {
      this.#wanted = select.value || null;
      lasting.set('glossary', this.#wanted);
      changed();
    });
  }

  /** Loads what there is, unless it has. Where that fails there is no choice until the next time. */
  async load() {
    if (this.#loaded || this.#loading) return false;
    this.#loading = true;
    try {
      this.#list = await this.#api.glossaries();
      this.#loaded = true;
    } catch (err) {
      this.#loaded = err.kind === 'absent'; // the service has none
    } finally {
      this.#loading = false;
    }
    return this.#list.length > 0;
  }

  #fitting({ from, to }) {
    return this.#list.filter(({ dictionaries }) => dictionaries.some((d) => d.from === from && d.to === to));
  }

  /** The id of the glossary that is chosen, if it has terms for the languages; '' for none. */
  chosen(pair) {
    return this.#fitting(pair).some(({ id }) => id === this.#wanted) ? this.#wanted : '';
  }

  /** Offers the glossaries that have terms for the languages. */
  offer(pair) {
    const fitting = this.#fitting(pair);
    const chosen = this.chosen(pair);
    const offered = JSON.stringify([chosen, fitting.map(({ id, name }) => [id, name])]);
    if (offered === this.#offered) return;
    this.#offered = offered;
    this.#select.replaceChildren(option('', 'No glossary'), ...fitting.map(({ id, name }) => option(id, name)));
    this.#select.value = chosen;
    this.#box.hidden = fitting.length === 0;
  }
}
