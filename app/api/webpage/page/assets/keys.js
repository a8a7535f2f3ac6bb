// The API key, for servers that want one.

import { session } from './storage.js';
import { say } from './words.js';

/** What a key may consist of, so that it fits into a header. */
const KEY = /^[\x21-\x7e]+$/;

/** Keeps the key until the tab is closed, and asks for it. */
export class Keys {
  #view;
  #key = session.get('key');

  /** view has the elements: dialog, form, input, text and cancel. */
  constructor(view) {
    this.#view = view;
    const { dialog, form, input, cancel } = view;
    cancel.addEventListener('click', () => dialog.close(''));
    input.addEventListener('input', () => input.setCustomValidity(''));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#take(input.value.trim());
    });
  }

  get() {
    return this.#key;
  }

  /** Shows the dialog; tells whether a key was given. */
  ask(signal) {
    const { dialog, input, text } = this.#view;
    text.textContent = say(this.#key
      ? 'The key that was sent is not accepted. Check it, or ask whoever runs this server.'
      : 'Ask whoever runs this server for one. The page forgets it when you close the tab.');
    input.value = '';
    dialog.returnValue = '';
    dialog.showModal();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => dialog.close(''), { once: true });
      dialog.addEventListener('close', () => resolve(dialog.returnValue === 'given'), { once: true });
    });
  }

  #take(key) {
    const { dialog, input } = this.#view;
    if (!KEY.test(key)) {
      input.setCustomValidity(say('A key consists of letters, digits and signs without spaces.'));
      input.reportValidity();
      return;
    }
    this.#key = key;
    session.set('key', key);
    dialog.close('given');
  }
}
