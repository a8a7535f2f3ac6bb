// Decides when to translate what: after a pause in typing, only lines that are new,
// in requests of a bounded size, one at a time.

import { ApiError } from './api.js';
import { takeBatch } from './text.js';

const PAUSE_MS = 350;

/** The most that goes into one request. A server that allows less says so. */
const BATCH = { lines: 128, characters: 60_000 };

export class Translator {
  #api;
  #blocks;
  #recovery;
  #pair;
  #model;
  #changed;
  #batch = BATCH;
  #timer = 0;
  #running = null; // aborts what is in flight

  /**
   * pair returns the languages {from, to}, or null as long as they are unknown. model
   * returns the name of a model, or '' for any.
   * changed is called when translating begins, goes on or ends.
   */
  constructor({ api, blocks, recovery, pair, model, changed }) {
    this.#api = api;
    this.#blocks = blocks;
    this.#recovery = recovery;
    this.#pair = pair;
    this.#model = model;
    this.#changed = changed;
  }

  /** Tells whether a translation is being made. */
  get busy() {
    return this.#running !== null;
  }

  /** Translates after a pause. What is in flight is out of date and ends now. */
  soon() {
    this.stop();
    this.#timer = setTimeout(() => this.now(), PAUSE_MS);
  }

  /** Drops what is in flight or planned. */
  stop() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
    this.#changed();
  }

  /** Translates what has no translation yet. */
  async now() {
    this.stop();
    const pair = this.#pair();
    if (!pair) return;
    const job = { fromLang: pair.from, toLang: pair.to, detail: true };
    if (this.#model()) job.model = this.#model();
    this.#blocks.setJob(job);
    const running = new AbortController();
    this.#running = running;
    this.#changed();
    try {
      await this.#translate(job, running.signal);
    } catch (err) {
      if (!running.signal.aborted) throw err;
    } finally {
      if (this.#running === running) this.#running = null;
      this.#changed();
    }
  }

  async #translate(job, signal) {
    while (this.#blocks.missing().length > 0) {
      await this.#recovery.run(() => this.#request(job, signal), signal);
    }
  }

  /** Makes one request for the first lines without a translation. */
  async #request(job, signal) {
    const batch = takeBatch(this.#blocks.missing(), this.#batch);
    const left = new Set(batch);
    const records = batch.map(({ text }, i) => ({ id: String(i), text }));
    try {
      for await (const answer of this.#api.translate({ ...job, records }, signal)) {
        signal.throwIfAborted();
        const block = batch[Number(answer.id)];
        if (!left.delete(block)) continue; // not an id of this request
        this.#blocks.settle(block, answer);
        this.#changed();
      }
    } catch (err) {
      if (err.kind !== 'size' || batch.length < 2) throw err;
      this.#batch = { lines: batch.length >> 1, characters: BATCH.characters };
      return;
    }
    if (left.size > 0) throw new ApiError('failed', 'The server left a part of the text out.');
  }
}
