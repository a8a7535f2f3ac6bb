// Decides when to translate what: where the server has live text, while one types; else
// after a pause, only lines that are new, in requests of a bounded size, one at a time; a
// long text as a job.

import { ApiError } from './api.js';
import { takeBatch } from './text.js';
import { say } from './words.js';

const PAUSE_MS = 350;

/** The most that goes into one request. A server that allows less says so. */
const BATCH = { lines: 128, characters: 60_000 };

export class Translator {
  #api;
  #blocks;
  #recovery;
  #long;
  #live;
  #pair;
  #model;
  #glossary;
  #changed;
  #batch = BATCH;
  #refused = new Map(); // lines that are too long for the server: its error by text
  #timer = 0;
  #running = null; // aborts what is in flight
  #cancelled = false; // by the person in front of the page

  /**
   * pair returns the languages {from, to}, or null as long as they are unknown. model
   * returns the name of a model, or '' for any, and glossary the id of a glossary for the languages, or ''.
   * changed is called when translating begins, goes on or ends.
   */
  constructor({ api, blocks, recovery, long, live, pair, model, glossary, changed }) {
    this.#api = api;
    this.#blocks = blocks;
    this.#recovery = recovery;
    this.#long = long;
    this.#live = live;
    this.#pair = pair;
    this.#model = model;
    this.#glossary = glossary;
    this.#changed = changed;
  }

  /** Tells whether a translation is being made. */
  get busy() {
    return this.#running !== null;
  }

  /** Translates while one types, if possible, and all after a pause. What is in flight is out of date and ends now. */
  soon() {
    this.stop();
    const job = this.#job();
    if (job) this.#live.write(job, this.#text);
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
    const job = this.#job();
    if (!job) return;
    this.#long.keepFor(job, this.#blocks.texts);
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

  /** Takes the languages, the model and the glossary over for all lines. */
  adopt() {
    this.#job();
  }

  /** How to translate, as requests have it; null as long as that is unknown. */
  #job() {
    const pair = this.#pair();
    if (!pair) return null;
    const job = { fromLang: pair.from, toLang: pair.to, detail: true };
    if (this.#model()) job.model = this.#model();
    if (this.#glossary(pair)) job.glossaryId = this.#glossary(pair);
    this.#blocks.setJob(job);
    if (this.#api.memory) job.memoryId = this.#api.memory; // what was translated before stays
    return job;
  }

  get #text() {
    return this.#blocks.texts.join('\n');
  }

  /** How much is translated: {done, total}, in lines. */
  get progress() {
    return this.#long.progress ?? this.#blocks.progress;
  }

  /** Ends a job, until the person in front of the page wants it again. */
  cancel() {
    this.#long.drop();
    this.#cancelled = true;
    this.now();
  }

  async #translate(job, signal) {
    this.#refused.clear();
    while (this.#missing().length > 0) {
      await this.#recovery.run(() => this.#some(job, signal), signal);
    }
    const [refusal] = this.#refused.values();
    if (refusal) await this.#recovery.run(() => Promise.reject(refusal), signal);
  }

  /** The lines that have no translation yet, and may get one. */
  #missing() {
    return this.#blocks.missing().filter(({ text }) => !this.#refused.has(text));
  }

  /** Translates some of the lines without a translation, or finds out how far their job is. */
  async #some(job, signal) {
    if (this.#cancelled) {
      this.#cancelled = false;
      throw new ApiError('cancelled', say('The translation was cancelled.'));
    }
    const missing = this.#missing();
    const fresh = missing.filter(({ text }) => !this.#long.has(text)); // since there is a job
    if (!this.#long.takes(fresh) && fresh.length > 0) {
      return (await this.#live.settle(job, this.#text, signal)) || this.#request(fresh, job, signal);
    }
    if (fresh.length === missing.length) return this.#long.submit(job, this.#text, signal);
    const answers = await this.#long.ask(signal);
    if (answers) this.#blocks.settle(answers);
    this.#changed();
  }

  /** Makes one request for the first of some lines. */
  async #request(blocks, job, signal) {
    const batch = takeBatch(blocks, this.#batch);
    const left = new Set(batch);
    const records = batch.map(({ text }, i) => ({ id: String(i), text }));
    try {
      for await (const answer of this.#api.translate({ ...job, records }, signal)) {
        signal.throwIfAborted();
        const block = batch[Number(answer.id)];
        if (!left.delete(block)) continue; // not an id of this request
        this.#blocks.settle(new Map([[block.text, answer]]));
        this.#changed();
      }
    } catch (err) {
      if (err.kind !== 'size') throw err;
      if (batch.length < 2) this.#refused.set(batch[0].text, err); // the others need not wait
      else this.#batch = { lines: batch.length >> 1, characters: BATCH.characters };
      return;
    }
    if (left.size > 0) throw new ApiError('failed', say('The server left a part of the text out.'));
  }
}
