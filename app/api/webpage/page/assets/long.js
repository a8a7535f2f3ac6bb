// Long texts: the server translates them as a job, which goes on while the page reloads.

import { ApiError, problem } from './api.js';
import { session } from './storage.js';
import { isBlank } from './text.js';
import { say } from './words.js';

/** A text with more than this to translate is long. */
const LONG = { lines: 1000, characters: 60_000 };

/** The page asks for a job more and more seldom. */
const PAUSE_MS = { first: 250, factor: 1.5, most: 5000 };

/** Failures after which a long text is translated in many requests, as shorter ones are. */
const NO_JOBS = ['absent', 'size', 'full'];

/** Tells whether lines are too much for requests that end with the page. */
const isLong = (lines) => lines.length > LONG.lines || lines.reduce((sum, { text }) => sum + text.length, 0) > LONG.characters;

/** Waits; throws signal's reason. */
function pause(ms, signal) {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}

/** A key that no other request has. crypto.randomUUID is only there with HTTPS. */
const randomKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** What two jobs for the same text may differ in. */
const sameWay = (a, b) => a.fromLang === b.fromLang && a.toLang === b.toLang && a.model === b.model && a.glossaryId === b.glossaryId;

export class LongText {
  #api;
  #job = null; // { id, way, source }: what was submitted is the whole text, to be translated in that way
  #lines = new Map(); // of the job: by text, the number in the source
  #keep = () => {}; // drops the job where it is not wanted any more
  #submitting = null; // a promise, while a job is being submitted
  #attempt = { body: '', key: '' }; // to submit, for which there was no answer
  #pause = 0; // before the page asks again
  #jobs = true; // the server has jobs, as far as is known

  /** How far a running job is: {done, total}, in lines; else null. */
  progress = null;

  /** A job that this tab submitted before it was loaded again is picked up. */
  constructor(api) {
    this.#api = api;
    try {
      this.#remember(JSON.parse(session.get('job')));
    } catch {
      this.#remember(null); // of another version
    }
  }

  /** The text that was submitted, '' where there is none. */
  get source() {
    return this.#job?.source ?? '';
  }

  /** Tells whether there is a job, running or done, that has a line. */
  has(text) {
    return this.#lines.has(text);
  }

  /** Tells whether lines are to be submitted. */
  takes(lines) {
    return this.#jobs && isLong(lines);
  }

  /** Drops a job for other languages, or of which no line is left. */
  keepFor(way, texts) {
    this.#keep = () => {
      if (this.#job && !(sameWay(way, this.#job.way) && texts.some((text) => this.has(text)))) this.drop();
    };
    this.#keep();
  }

  /**
   * Makes a job of a whole text; where one is being made already, of an earlier text, it waits for
   * that. Submitting does not end with signal: nobody would know the job. Where the server takes
   * no jobs, it is not asked again.
   */
  async submit(way, source, signal) {
    this.#submitting ??= this.#submit(way, source).finally(() => (this.#submitting = null));
    await this.#submitting;
    signal.throwIfAborted();
  }

  async #submit(way, source) {
    const records = [...linesOf(source)].map(([text, number]) => ({ id: String(number), text }));
    const body = JSON.stringify({ payload: { ...way, records } });
    // The same attempt, made again, must not make a second job.
    if (body !== this.#attempt.body) this.#attempt = { body, key: randomKey() };
    try {
      const { id } = await this.#api.submit(body, this.#attempt.key);
      this.drop();
      this.#remember({ id, way, source });
      this.#keep();
    } catch (err) {
      if (!NO_JOBS.includes(err.kind)) throw err;
      this.#jobs = false;
    }
    this.#attempt = { body: '', key: '' };
  }

  /**
   * Waits a moment and asks for the job. Returns the answers of one that is done, a Map by text;
   * null as long as it is not, or where the server has forgotten it. It throws an ApiError where
   * the job cannot be asked for, or has failed; then it is dropped.
   */
  async ask(signal) {
    await pause(this.#pause, signal);
    this.#pause = Math.min(this.#pause * PAUSE_MS.factor || PAUSE_MS.first, PAUSE_MS.most);
    let answer;
    try {
      answer = await this.#api.job(this.#job.id, signal);
    } catch (err) {
      if (err.kind !== 'absent') throw err;
      // It has expired; or there are several servers, of which another has it: no second job then.
      this.#remember(null);
      this.#jobs = false;
      return null;
    }
    signal.throwIfAborted();
    const { job, result } = answer;
    this.progress = { done: job.progress.done, total: job.progress.records };
    if (job.state === 'queued' || job.state === 'running') return null;
    const answers = job.state === 'done' ? this.#answers(result) : null;
    if (!answers) {
      this.drop();
      throw job.error ? problem(500, job.error) : new ApiError('failed', say('The server did not translate all of the text.'));
    }
    this.#pause = 0;
    this.progress = null;
    return answers; // the job stays, for when the page is loaded again
  }

  /** Forgets the job; the server does, too. */
  drop() {
    if (this.#job) this.#api.remove(this.#job.id).catch(() => {}); // it expires
    this.#remember(null);
  }

  /** The answers by text; null where one is missing. */
  #answers(result) {
    const lines = this.#job.source.split('\n');
    const answers = new Map(result.map((answer) => [lines[Number(answer.id)], answer]));
    return [...this.#lines.keys()].every((text) => answers.has(text)) ? answers : null;
  }

  #remember(job) {
    this.#job = job;
    this.#lines = linesOf(job?.source ?? '');
    this.#pause = 0;
    this.progress = null;
    session.set('job', job && JSON.stringify(job));
  }
}

/** The lines of a text that have something to translate, by text, with their first numbers. */
function linesOf(source) {
  const lines = new Map();
  source.split('\n').forEach((text, number) => {
    if (!isBlank(text) && !lines.has(text)) lines.set(text, number);
  });
  return lines;
}
