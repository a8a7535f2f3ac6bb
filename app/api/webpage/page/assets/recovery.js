// What to do when a request fails: wait and try again where that can help, and tell
// the person in front of the page, who can hurry or decide.

import { ApiError } from './api.js';
import { say } from './words.js';

const POLL_SECONDS = 1;
const MOST_TRIES = 8; // that the page makes by itself
const MOST_BROKEN = 3; // of them, when answers are cut off

/** Failures that the same request meets again. */
const FINAL = ['size', 'refused'];

/** How long to wait where the server does not say, in seconds: 1, 2, 4, … 30. */
const backoff = (attempt) => Math.min(2 ** (attempt - 1), 30);

/** The message beside the translation, with a countdown and a button. */
export class Notice {
  #box;
  #text;
  #count;
  #button;

  constructor({ box, text, count, button }) {
    this.#box = box;
    this.#text = text;
    this.#count = count;
    this.#button = button;
  }

  /** Shows a message. Only the message is read aloud, and once. */
  show(message, { count = '', action = '' } = {}) {
    this.#box.hidden = false;
    if (this.#text.textContent !== message) this.#text.textContent = message;
    this.#count.textContent = count;
    this.#button.textContent = action;
    this.#button.hidden = !action;
  }

  clear() {
    this.#box.hidden = true;
    this.#text.textContent = '';
  }

  /**
   * Waits until the button is pressed or the seconds are over; tells whether it was
   * the button, or the network that came back. It throws signal's reason.
   */
  pause(signal, seconds = Infinity) {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const over = new AbortController(); // takes all listeners away
      const end = (settle, value) => {
        over.abort();
        settle(value);
      };
      const options = { signal: over.signal };
      signal.addEventListener('abort', () => end(reject, signal.reason), options);
      this.#button.addEventListener('click', () => end(resolve, true), options);
      window.addEventListener('online', () => end(resolve, true), options);
      if (seconds === Infinity) return;
      const timer = setTimeout(() => end(resolve, false), seconds * 1000);
      over.signal.addEventListener('abort', () => clearTimeout(timer));
    });
  }
}

/** Repeats what fails until it works or nobody wants it any more. */
export class Recovery {
  #api;
  #keys;
  #notice;
  #quiet = { until: 0, message: '' }; // when a busy server wants to hear from us again (ms), and why
  #turns = 0; // runs so far: the notice belongs to the last one

  constructor({ api, keys, notice }) {
    this.#api = api;
    this.#keys = keys;
    this.#notice = notice;
  }

  /** Returns what action returns. It throws signal's reason, and nothing else. */
  async run(action, signal) {
    const turn = ++this.#turns;
    try {
      await this.#keepQuiet(signal);
      let fetching = false; // then the notice stays, of which only the share changes
      for (let attempt = 1; ; attempt++) {
        try {
          if (!fetching) this.#notice.clear();
          return await action();
        } catch (err) {
          signal.throwIfAborted();
          fetching = err.kind === 'loading' && err.share !== null;
          if (fetching) attempt = 0;
          await this.#before(err, attempt, signal);
        }
      }
    } finally {
      if (turn === this.#turns) this.#notice.clear();
    }
  }

  /** Waits for the moment to try again. */
  async #before(err, attempt, signal) {
    const { kind } = err;
    if (kind === 'key') return this.#askKey(signal);
    if (kind === 'loading') return err.share === null ? this.#untilReady(signal) : this.#whileFetching(err, signal);
    if (kind === 'cut' && attempt < MOST_BROKEN) return undefined;
    if ((kind === 'busy' || kind === 'full' || kind === 'unreachable') && attempt < MOST_TRIES) {
      const seconds = err.retryAfter ?? backoff(attempt);
      if (kind === 'busy') this.#quiet = { until: Date.now() + seconds * 1000, message: err.message };
      return this.#countDown(err.message, seconds, signal);
    }
    if (!(err instanceof ApiError)) console.error(err); // a fault of the page or of a proxy
    this.#notice.show(err instanceof ApiError ? err.message : say('The server gave an answer that makes no sense.'), { action: FINAL.includes(kind) ? '' : say('Try again') });
    return this.#notice.pause(signal);
  }

  /** Waits on where another text was told to wait: typing is no reason to hurry a busy server. */
  async #keepQuiet(signal) {
    const { until, message } = this.#quiet;
    const left = (until - Date.now()) / 1000;
    if (left > 0) await this.#countDown(message, left, signal);
  }

  async #countDown(message, seconds, signal) {
    for (let left = Math.max(1, Math.ceil(seconds)); left > 0; left--) {
      this.#notice.show(message, { count: say('Trying again in {left} s.', { left }), action: say('Try now') });
      if (await this.#notice.pause(signal, 1)) break;
    }
    this.#quiet.until = 0;
  }

  /** Shows how much of a model has arrived, until it is time to ask again. */
  async #whileFetching({ share, retryAfter }, signal) {
    const percent = /^\d+(?= ?%)/.exec(share);
    this.#notice.show(say('The model for these languages is being fetched. This page goes on by itself.'), { count: percent ? `${percent[0]} %` : '' });
    await this.#notice.pause(signal, retryAfter ?? POLL_SECONDS);
  }

  async #untilReady(signal) {
    this.#notice.show(say('The model is loading. This page goes on by itself.'));
    do await this.#notice.pause(signal, POLL_SECONDS);
    while (!(await this.#api.ready(signal)));
  }

  async #askKey(signal) {
    if (await this.#keys.ask(signal)) return;
    signal.throwIfAborted();
    this.#notice.show(say('This server translates for those who have an API key.'), { action: say('Enter a key') });
    await this.#notice.pause(signal);
  }
}
