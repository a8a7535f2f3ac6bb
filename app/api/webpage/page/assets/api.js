// The service's HTTP API, as far as the page uses it. Addresses are relative to the
// page, so that it also works below a prefix of a proxy.

import { retryAfter } from './text.js';
import { locale, say } from './words.js';

/**
 * What went wrong, by what can be done about it (kind):
 *
 *   key          the server wants an API key, or another one
 *   busy         try again after retryAfter seconds (null: unknown)
 *   loading      the model is not ready yet
 *   unreachable  no answer at all
 *   cut          the answer ended too early
 *   size         the request has too many records or bytes
 *   absent       there is no such thing, or not any more
 *   full         the server takes no further jobs
 *   refused      the server will not translate this
 *   cancelled    the person in front of the page did not want it
 *   failed       the server could not translate this
 *
 * The message is for people.
 */
export class ApiError extends Error {
  constructor(kind, message, retryAfter = null, share = null) {
    super(message);
    this.kind = kind;
    this.retryAfter = retryAfter;
    this.share = share; // of a model that is being fetched, as text; null: none is
  }
}

/** Error codes whose kind does not follow from the HTTP status. */
const KINDS = new Map([
  ['not_ready', 'loading'],
  ['model_broken', 'failed'],
  ['busy', 'busy'],
  ['shutting_down', 'busy'],
  ['rate_limited', 'busy'],
  ['too_many_records', 'size'],
  ['body_too_large', 'size'],
  ['not_found', 'absent'],
  ['method_not_allowed', 'absent'],
  ['unknown_job', 'absent'],
  ['not_done', 'refused'],
  ['too_many_jobs', 'full'],
  ['jobs_unavailable', 'full'],
]);

function kindOf(status, code) {
  if (KINDS.has(code)) return KINDS.get(code);
  if (status === 401) return 'key';
  if (status === 413) return 'size';
  if (status === 429 || status === 503) return 'busy';
  return status >= 500 ? 'failed' : 'refused';
}

/** Begins a server's message as a sentence and ends it as one. */
function sentence(message) {
  const text = String(message ?? '').trim() || say('The server gave no reason');
  return text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

/** What error codes mean to a person who uses the page. */
const MEANINGS = new Map([
  ['unknown_language', 'The server does not translate between these languages.'],
  ['unsupported_source', 'The server does not translate the language of this text.'],
  ['unknown_model', 'The server does not have it any more.'],
  ['unknown_glossary', 'The server does not have it any more.'],
  ['no_dictionary', 'The glossary has no terms for these languages.'],
  ['glossaries_unavailable', 'The server failed.'],
  ['unknown_memory', 'The server does not have it any more.'],
  ['memories_unavailable', 'The server failed.'],
  ['invalid_text', 'The server did not take this.'],
  ['text_too_long', 'This is more than the server allows at once.'],
  ['too_many_records', 'This is more than the server allows at once.'],
  ['too_many_sentences', 'This is more than the server allows at once.'],
  ['too_many_tokens', 'This is more than the server allows at once.'],
  ['too_many_characters', 'This is more than the server allows at once.'],
  ['too_large', 'This is more than the server allows at once.'],
  ['body_too_large', 'This is more than the server allows at once.'],
  ['body_timeout', 'This took too long.'],
  ['timeout', 'This took too long.'],
  ['unsupported_document', 'The server does not translate files of this kind.'],
  ['invalid_document', 'The file cannot be read.'],
  ['unknown_job', 'The server does not have it any more.'],
  ['job_lost', 'The server does not have it any more.'],
  ['too_many_jobs', 'The server takes no more documents and long texts now.'],
  ['jobs_unavailable', 'The server takes no more documents and long texts now.'],
  ['turned_off', 'The server does not offer this.'],
  ['not_found', 'The server does not offer this.'],
  ['method_not_allowed', 'The server does not offer this.'],
  ['unauthorized', 'This server translates for those who have an API key.'],
  ['not_ready', 'The model is loading. This page goes on by itself.'],
  ['model_broken', 'The model cannot be used now.'],
  ['model_too_large', 'The model cannot be used now.'],
  ['model_crashed', 'The model cannot be used now.'],
  ['stuck', 'The model cannot be used now.'],
  ['unfinished', 'The translation did not come to its end.'],
  ['internal', 'The server failed.'],
]);

/**
 * Says what the server's message means to a person, who is not told to wait twice. The message is in English: in other
 * languages it is a detail.
 */
function explain(kind, status, code, message) {
  if (kind !== 'busy') {
    const text = sentence(message);
    return locale === 'en' || !code ? text : say('{meaning} (Server: {text})', { meaning: say(MEANINGS.get(code) ?? 'The server did not take this.'), text });
  }
  if (status === 429) return say('This is more than the server allows at once.');
  return code === 'shutting_down' ? say('The server is restarting.') : say('The server is busy.');
}

/** The ApiError for what the service says in an answer with a status. */
export function problem(status, { code, message }, wait = null) {
  const kind = kindOf(status, code);
  const [, share = null] = (kind === 'loading' && /being fetched \(([^)]*)\)/.exec(message)) || [];
  return new ApiError(kind, explain(kind, status, code, message), wait, share);
}

async function problemOf(response) {
  const { status, headers } = response;
  const wait = retryAfter(headers.get('Retry-After'));
  try {
    const { error } = await response.json();
    return problem(status, typeof error === 'string' ? { message: error } : error, wait);
  } catch {
    return problem(status, { message: say('The server answered with status {status}', { status }) }, wait); // not the service itself: a proxy
  }
}

/** The name of a file that an answer has. */
function fileName(disposition) {
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  if (encoded) return decodeURIComponent(encoded);
  const [, quoted, plain] = /filename=(?:"([^"]*)"|([^;]+))/i.exec(disposition) ?? [];
  return quoted ?? plain ?? '';
}

/** Yields the lines of a body as they arrive, without the empty ones. */
async function* readLines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      yield* lines.filter((line) => line.trim());
    }
    if (rest.trim()) yield rest;
  } finally {
    reader.cancel().catch(() => {}); // closes the connection where the rest is not wanted
  }
}

/** The translation memory of what was corrected on the page. */
const MEMORY = 'page';

/** A client of the API. key returns the API key to send, or null. */
export class Api {
  #key;

  /** The id of the translation memory with what was corrected on the page; '' as long as there is none. */
  memory = '';

  constructor(key) {
    this.#key = key;
  }

  /** What the server has: {models: [{name}], none where there is no choice, live: whether it takes live text}. */
  async about(signal) {
    const response = await this.#send('./', { headers: { Accept: 'application/json' }, signal });
    const { models = [], live = '' } = await response.json();
    return { models, live: live !== '' };
  }

  /** A WebSocket for live text, and what its first message has to have: {socket, first}. */
  connect() {
    const key = this.#key();
    const address = new URL('live', document.baseURI);
    address.protocol = address.protocol.replace('http', 'ws');
    return { socket: new WebSocket(address), first: key ? { key } : {} };
  }

  /** The glossaries that are stored: [{id, name, dictionaries: [{from, to}]}]. */
  async glossaries() {
    const response = await this.#send('glossaries', {});
    return (await response.json()).glossaries ?? [];
  }

  /** Finds what was corrected on the page before; tells whether the server keeps translation memories. */
  async findMemory() {
    try {
      const { memories } = await (await this.#send('memories', {})).json();
      if (memories.some(({ id }) => id === MEMORY)) this.memory = MEMORY;
      return true;
    } catch (err) {
      if (!(err instanceof ApiError)) throw err;
      return false;
    }
  }

  /** Keeps the translation of a sentence in the translation memory. */
  async remember({ fromLang, toLang }, source, target) {
    const body = JSON.stringify({ from: fromLang, to: toLang, entries: [{ source, target }] });
    await this.#send(`memories/${MEMORY}/entries`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    this.memory = MEMORY;
  }

  /** The languages that a model translates, or with '' all: [{code, name, nativeName, targets}]. */
  async languages(model, signal) {
    try {
      const response = await this.#send(model ? `languages?model=${encodeURIComponent(model)}` : 'languages', { signal });
      return await response.json();
    } catch (err) {
      // Its errors are LibreTranslate's, without a code.
      if (err.kind === 'busy' && !(await this.ready(signal))) throw new ApiError('loading', err.message);
      throw err;
    }
  }

  /** Tells whether the service is ready, as far as it can tell: translating shows the rest. */
  async ready(signal) {
    try {
      await this.#send('readyz', { signal });
      return true;
    } catch (err) {
      if (!(err instanceof ApiError)) throw err;
      return err.kind !== 'loading' && err.kind !== 'busy';
    }
  }

  /**
   * Translates the records of a payload; yields each result as it arrives, in any
   * order. It throws an ApiError, or signal's reason.
   */
  async *translate(payload, signal) {
    const response = await this.#send('translation/stream', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/x-ndjson' },
      body: JSON.stringify({ payload }),
      signal,
    });
    try {
      for await (const line of readLines(response.body)) {
        const { result, error, done } = JSON.parse(line);
        if (error) throw problem(500, error);
        if (done) return;
        if (result) yield result;
      }
    } catch (err) {
      if (err instanceof ApiError || signal.aborted) throw err;
      // The connection broke, maybe within a line: the same as an end without "done".
    }
    throw new ApiError('cut', say('The connection was cut before the translation was complete.'));
  }

  /** The best translations of a payload's only record, the best first. */
  async alternatives(payload, signal) {
    let found = [];
    for await (const { alternatives = [] } of this.translate(payload, signal)) found = alternatives.map(({ text }) => text);
    return found;
  }

  /** Submits a body as a job, once for each key: {id, …}. */
  async submit(body, key) {
    const response = await this.#send('jobs', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body,
    });
    return (await response.json()).job;
  }

  /** A job, with the results of one that is done: {job: {state, progress, error}, result}. */
  async job(id, signal) {
    const response = await this.#send(`jobs/${encodeURIComponent(id)}`, { signal });
    return response.json();
  }

  /** The extensions of files that the server translates, such as .docx; none where it translates none. */
  async fileTypes(signal) {
    const response = await this.#send('frontend/settings', { signal });
    return (await response.json()).supportedFilesFormat ?? [];
  }

  /** Submits a file as a job, once for each key: {id, …}. way has fromLang, toLang and perhaps model. */
  async submitDocument(file, way, key, signal) {
    const body = new FormData();
    for (const [name, value] of Object.entries(way)) body.append(name, value);
    body.append('file', file);
    const response = await this.#send('documents', { method: 'POST', headers: { 'Idempotency-Key': key }, body, signal });
    return (await response.json()).job;
  }

  /** Yields a job as it is and after each change, until it has ended. It throws an ApiError, or signal's reason. */
  async *follow(id, signal) {
    const response = await this.#send(`jobs/${encodeURIComponent(id)}/events`, { headers: { Accept: 'text/event-stream' }, signal });
    try {
      for await (const line of readLines(response.body)) {
        if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)).job;
      }
    } catch (err) {
      if (signal.aborted) throw err; // else the connection broke: the same as an end before the job's
    }
  }

  /** The document that a job has made, with its name: {blob, name}. */
  async document(id, signal) {
    const response = await this.#send(`documents/${encodeURIComponent(id)}/result`, { signal });
    const name = fileName(response.headers.get('Content-Disposition') ?? '');
    try {
      return { blob: await response.blob(), name };
    } catch (err) {
      if (signal?.aborted) throw err;
      throw new ApiError('cut', say('The connection was cut before the document was complete.'));
    }
  }

  /** Ends a job, or removes one that has ended. */
  async remove(id) {
    await this.#send(`jobs/${encodeURIComponent(id)}`, { method: 'DELETE', keepalive: true });
  }

  async #send(address, { headers = {}, signal, ...options }) {
    const key = this.#key();
    if (key) headers = { ...headers, Authorization: `Bearer ${key}` };
    let response;
    try {
      response = await fetch(address, { cache: 'no-store', ...options, headers, signal });
    } catch (err) {
      if (signal?.aborted) throw err;
      throw new ApiError('unreachable', say(navigator.onLine ? 'The server cannot be reached.' : 'You are offline.'));
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }
}
