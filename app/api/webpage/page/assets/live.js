// Translates while one types, over a WebSocket: the server has the text, is sent what
// changes of it, and says what changes of its translation, sentence by sentence. Whenever
// that does not work, requests do it instead. docs/live.md describes the protocol.

import { LiveLines } from './livelines.js';
import { difference } from './text.js';

const MOST_CHARACTERS = 10_000; // of a text

/** How long the page does without, after failures, and how long a server may say nothing that is asked. */
const WAIT_MS = { first: 1000, most: 60_000 };
const SILENCE_MS = 10_000;

export class Live {
  #api;
  #blocks;
  #changed;
  #offered = false;
  #socket = null; // open, or being opened
  #opened = 0; // sessions on it
  #session = null; // { s, way, number, text (as the server has it), texts (by number), lines, settled (a number) }
  #waiting = null; // wakes settle
  #wait = 0; // after the next failure, in ms
  #until = 0; // when to try again after the last one

  /** changed is called when there is something new to show. */
  constructor({ api, blocks, changed }) {
    this.#api = api;
    this.#blocks = blocks;
    this.#changed = changed;
  }

  /** Says whether the server has live text. */
  offer(offered) {
    this.#offered = offered;
  }

  /** Sends what has changed of a text that is being typed; tells whether that is possible. */
  write(job, text) {
    if (!this.#takes(job, text)) {
      this.#end();
      return false;
    }
    const { fromLang, toLang, model } = job;
    const way = JSON.stringify({ fromLang, toLang, model });
    if (this.#session?.way !== way) this.#open(way);
    this.#sendEdits(text, false);
    return true;
  }

  /**
   * Has all of a text translated as it stands, for nobody types; tells whether that was done. It throws signal's
   * reason.
   */
  async settle(job, text, signal) {
    if (!this.write(job, text)) return false;
    this.#sendEdits(text, true);
    const session = this.#session;
    while (this.#session === session && session.lines.shown < session.settled) await this.#news(signal);
    while (this.#session === session && session.lines.fits && !session.lines.final) await this.#news(signal);
    return this.#blocks.missing().length === 0;
  }

  #takes({ glossaryId, memoryId }, text) {
    return this.#offered && !glossaryId && !memoryId && text.length <= MOST_CHARACTERS && Date.now() >= this.#until;
  }

  /** Opens a session, and a connection where there is none. */
  #open(way) {
    this.#end();
    let first = {};
    if (!this.#socket) {
      ({ socket: this.#socket, first } = this.#api.connect());
      const socket = this.#socket;
      this.#opened = 0;
      socket.addEventListener('message', ({ data }) => this.#socket === socket && this.#take(JSON.parse(data)));
      socket.addEventListener('close', ({ code }) => this.#socket === socket && this.#lose(code !== 1000));
    }
    const s = ++this.#opened;
    this.#session = { s, way, number: 0, text: '', texts: new Map(), lines: new LiveLines(), settled: 0 };
    this.#send({ ...first, s, payload: JSON.parse(way) });
  }

  /** Ends the session. */
  #end() {
    if (this.#session) this.#send({ s: this.#session.s, end: true });
    this.#session = null;
    this.#waiting?.();
  }

  /** Sends what the text has become, and whether the writer pauses. */
  #sendEdits(text, settle) {
    const session = this.#session;
    const edit = difference(session.text, text);
    if (!edit && (!settle || session.settled === session.number)) return;
    const n = ++session.number;
    session.text = text;
    session.texts.set(n, text);
    if (settle) session.settled = n;
    this.#send({ s: session.s, n, ...(edit && { edits: [edit] }), ...(settle && { settle }) });
  }

  #send(message) {
    const socket = this.#socket;
    const text = JSON.stringify(message);
    if (socket.readyState === WebSocket.CONNECTING) socket.addEventListener('open', () => socket.send(text), { once: true });
    else socket.send(text); // does nothing where it is closed
  }

  /** Takes a message of the server. */
  #take({ s, error, retryAfter = 0, ended, ...update }) {
    const session = this.#session;
    if (s !== undefined && s !== session?.s) return; // of one that has ended
    if (error || ended === 'shutdown') {
      this.#lose(true, retryAfter * 1000);
      return;
    }
    if (ended) {
      this.#session = null; // the next one begins with the text
    } else {
      this.#wait = 0;
      session.lines.take(update, session.texts);
      this.#show(session);
    }
    this.#waiting?.();
  }

  /** Shows the translation, as far as the text is still what it was made of. */
  #show({ way, lines, text }) {
    const { fromLang } = JSON.parse(way);
    const { done, drafts } = lines.answers(fromLang === 'auto');
    this.#blocks.settle(done);
    const fits = text.split('\n').length === drafts.length;
    if (fits) drafts.forEach((draft, i) => draft !== null && this.#blocks.draft(i, draft));
    this.#changed();
  }

  /** Waits for the server, or that it is lost. */
  #news(signal) {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const over = new AbortController(); // takes the listener away
      const timer = setTimeout(() => this.#lose(true), SILENCE_MS);
      const end = (settle, value) => {
        clearTimeout(timer);
        over.abort();
        this.#waiting = null;
        settle(value);
      };
      this.#waiting = () => end(resolve);
      signal.addEventListener('abort', () => end(reject, signal.reason), { signal: over.signal });
    });
  }

  /** Gives the connection up; after a failure, for a while, which is what the server asks for at least. */
  #lose(failed, least = 0) {
    this.#socket?.close();
    this.#socket = null;
    this.#session = null;
    if (failed) {
      this.#wait = Math.min(Math.max(2 * this.#wait, WAIT_MS.first), WAIT_MS.most);
      this.#until = Date.now() + Math.max(this.#wait, least);
    }
    this.#waiting?.();
  }
}
