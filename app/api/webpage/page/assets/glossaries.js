// Which stored glossary a translation uses. There is a choice only where one has terms for the
// languages. Where the source is to be detected, choosing a glossary chooses its language too.

import { element } from './dom.js';
import { AUTO } from './languages.js';
import { lasting } from './storage.js';
import { say } from './words.js';

const option = (value, textContent) => element('option', { value, textContent });

export class Glossaries {
  #views;
  #api;
  #list = [];
  #loaded = false;
  #loading = false;
  #offered = '';
  #pair = { from: AUTO, to: '' };
  #wanted = lasting.get('glossary'); // id

  /**
   * Each view is a box that is shown where there is a choice, with its select; changed is called after
   * one, with the source language that it needs where none is chosen.
   */
  constructor({ views, api, changed }) {
    this.#views = views;
    this.#api = api;
    for (const { select } of views) {
      select.addEventListener('change', () => {
        this.#wanted = select.value || null;
        lasting.set('glossary', this.#wanted);
        changed(this.#wanted && this.#pair.from === AUTO ? this.#source(this.#wanted) : null);
      });
    }
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
    return this.#list.filter(({ dictionaries }) => dictionaries.some((d) => (from === AUTO || d.from === from) && d.to === to));
  }

  /** The source language of a glossary's terms: that which was detected, if it has such. */
  #source(wanted) {
    const { to, detected } = this.#pair;
    const sources = this.#list.find(({ id }) => id === wanted).dictionaries.filter((d) => d.to === to).map((d) => d.from);
    return sources.includes(detected) ? detected : sources[0];
  }

  /** The id of the glossary that is chosen, if it has terms for the languages; '' for none. */
  chosen(pair) {
    return pair.from !== AUTO && this.#fitting(pair).some(({ id }) => id === this.#wanted) ? this.#wanted : '';
  }

  /** Offers the glossaries that have terms for the languages, of which detected may be the source. */
  offer({ from, to }, detected) {
    this.#pair = { from, to, detected };
    const fitting = this.#fitting(this.#pair);
    const chosen = this.chosen(this.#pair);
    const offered = JSON.stringify([chosen, fitting.map(({ id, name }) => [id, name])]);
    if (offered === this.#offered) return;
    this.#offered = offered;
    for (const { box, select } of this.#views) {
      select.replaceChildren(option('', say('No glossary')), ...fitting.map(({ id, name }) => option(id, name)));
      select.value = chosen;
      box.hidden = fitting.length === 0;
    }
  }
}
