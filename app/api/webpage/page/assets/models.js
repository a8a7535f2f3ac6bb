// Which model translates. There is a choice only where the server has several models.

import { element } from './dom.js';
import { lasting } from './storage.js';
import { say } from './words.js';

const option = (value, textContent) => element('option', { value, textContent });

export class Models {
  #box;
  #select;

  /** box is what is shown where there is a choice, and has the select; changed is called after one. */
  constructor({ box, select, changed }) {
    this.#box = box;
    this.#select = select;
    select.addEventListener('change', () => {
      lasting.set('model', this.chosen || null);
      changed();
    });
  }

  /** The name of the model that is chosen, '' for any. */
  get chosen() {
    return this.#select.value;
  }

  /** Offers models by their names, with their licenses: {name, license}, in any number of versions. What was chosen before is chosen again. */
  offer(models) {
    const labels = new Map(models.map(({ name, license }) => [name, license ? `${name} (${license})` : name]).reverse()); // the first version's
    const names = [...new Set(models.map(({ name }) => name))];
    this.#select.replaceChildren(option('', say('Any model')), ...names.map((name) => option(name, labels.get(name))));
    this.#box.hidden = names.length < 2;
    const before = lasting.get('model');
    if (!this.#box.hidden && names.includes(before)) this.#select.value = before;
  }
}
