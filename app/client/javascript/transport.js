// Sends requests, again where that may help: see Client.
import { ConnectionBrokenError, DragomanError, InvalidAnswerError, serviceError } from './errors.js';

const firstPause = 500; // the longest pause before the second try, in milliseconds; it doubles with each try
const inNode = typeof process !== 'undefined' && Boolean(process.versions?.node);

// Limit is the time that a call may take, and the signal of its caller.
export class Limit {
  #end;
  #timer;

  constructor({ timeout, signal } = {}) {
    if (timeout !== undefined && !(timeout > 0)) throw new RangeError('dragoman: timeout is more than 0 milliseconds');
    this.#end = timeout === undefined ? Infinity : Date.now() + timeout;
    this.#timer = timeout === undefined ? undefined : AbortSignal.timeout(timeout);
    const signals = [signal, this.#timer].filter(Boolean);
    this.signal = signals.length > 0 ? AbortSignal.any(signals) : undefined;
  }

  // left returns the milliseconds that are left.
  left() {
    this.signal?.throwIfAborted();
    return this.#end - Date.now();
  }

  // sleep pauses after a failure. It rejects with the failure where the pause is longer than what is left.
  async sleep(ms, failure) {
    if (this.left() <= ms) throw new DOMException(`dragoman: the time of the call is over, after: ${failure.message}`, 'TimeoutError');
    await new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.signal?.addEventListener('abort', done);
    });
    this.signal?.throwIfAborted();
  }
}

// call returns a request, which is the same at each try but for the time that is left. once: a second try would have another effect.
export function newCall(method, path, { body, media = 'application/json', accept = 'application/json', key = '', once = false, requestId } = {}) {
  const id = requestId ?? newId();
  if (!/^[A-Za-z0-9._:/+=-]{1,128}$/.test(id)) {
    throw new RangeError('dragoman: requestId has more than 128 characters, or others than letters, digits and ._:/+=-');
  }
  return { method, path, body, media, accept, key, once, id };
}

export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

export class Transport {
  constructor(url, { key = '', retries = 3, maxBackoff = 30_000, maxResponseBytes = 64 << 20, fetch = globalThis.fetch } = {}) {
    const parsed = new URL(url);
    if (!/^https?:$/.test(parsed.protocol)) throw new TypeError(`dragoman: the URL is ${url}: use one such as http://localhost:9527`);
    if (parsed.search || parsed.hash) throw new TypeError('dragoman: leave out of the URL what follows ? or #');
    if (!(retries >= 0 && maxBackoff >= 0 && maxResponseBytes > 0)) {
      throw new RangeError('dragoman: retries and maxBackoff are 0 or more, maxResponseBytes is more than 0');
    }
    Object.assign(this, { base: String(url).replace(/\/+$/, ''), key, retries, maxBackoff, maxResponseBytes, fetch: (...args) => fetch(...args) });
  }

  // send makes one try. cancel ends it.
  async send(call, limit, cancel) {
    const left = limit.left();
    const headers = { Accept: call.accept, 'X-Request-Id': call.id };
    if (inNode) headers['User-Agent'] = 'dragoman-js-client';
    if (call.body !== undefined) headers['Content-Type'] = call.media;
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    if (call.key) headers['Idempotency-Key'] = call.key;
    if (left <= 86_400_000) headers['Request-Timeout'] = (Math.max(left, 1) / 1000).toFixed(3);
    const signals = [limit.signal, cancel].filter(Boolean);
    let response;
    try {
      // A redirection would make a GET of a POST.
      response = await this.fetch(this.base + call.path, {
        method: call.method, headers, body: call.body, redirect: 'manual', signal: signals.length > 0 ? AbortSignal.any(signals) : undefined,
      });
    } catch (err) {
      throw this.broken(err, limit, 'there was no answer');
    }
    if (response.ok) return response;
    throw await errorOf(response, call.id);
  }

  // broken returns the error of a connection that broke, unless it was ended from here.
  broken(err, limit, what) {
    if (limit.signal?.aborted) return limit.signal.reason;
    if (err instanceof InvalidAnswerError) return err;
    return new ConnectionBrokenError(`dragoman: ${what}: ${err.cause?.message ?? err.message}`, { cause: err.cause ?? err });
  }

  // fetchBytes makes one try and returns the answer's body.
  async fetchBytes(call, limit) {
    const response = await this.send(call, limit);
    const parts = [];
    let size = 0;
    try {
      for await (const part of chunks(response)) {
        size += part.length;
        if (size > this.maxResponseBytes) {
          throw new InvalidAnswerError(`the answer has more than ${this.maxResponseBytes} bytes: send fewer records, or raise maxResponseBytes`);
        }
        parts.push(part);
      }
    } catch (err) {
      throw this.broken(err, limit, `the answer was cut off after ${size} bytes`);
    }
    const body = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      body.set(part, at);
      at += part.length;
    }
    return body;
  }

  // read makes one try and returns what read makes of the answer's JSON.
  async read(call, limit, read) {
    return checked(read, new TextDecoder().decode(await this.fetchBytes(call, limit)));
  }

  // ask returns what read makes of the answer's JSON, after as many tries as it takes.
  ask(call, limit, read) {
    return this.retry(call, limit, () => this.read(call, limit, read));
  }

  // retry calls attempt until it succeeds, fails for good, or has failed retries + 1 times.
  async retry(call, limit, attempt) {
    for (let n = 0; ; n++) {
      try {
        return await attempt();
      } catch (err) {
        if (n === this.retries || !retryable(err) || (call.once && err instanceof ConnectionBrokenError)) throw err;
        const pause = this.pause(err, n);
        if (pause > this.maxBackoff || limit.left() <= pause) throw err;
        await limit.sleep(pause, err);
      }
    }
  }

  // persist calls attempt until it succeeds or fails for good, or the time is over: also while the service restarts.
  async persist(limit, attempt) {
    for (let n = 0; ; n++) {
      try {
        return await attempt();
      } catch (err) {
        if (!retryable(err)) throw err;
        await limit.sleep(this.pause(err, n), err);
      }
    }
  }

  // pause returns the milliseconds after a failure: more than maxBackoff only where the service asks for that.
  pause(err, failures) {
    const asked = (err.retryAfter ?? 0) * 1000;
    const pause = Math.random() * Math.min(firstPause * 2 ** Math.min(failures, 16), this.maxBackoff) + asked;
    return Math.min(pause, Math.max(asked, this.maxBackoff));
  }

  // remove deletes what is at a path. After a try whose answer was lost, what is not there any more is deleted.
  async remove(path, unknown, limit) {
    const call = newCall('DELETE', path);
    let tries = 0;
    await this.retry(call, limit, async () => {
      tries++;
      try {
        await this.fetchBytes(call, limit);
      } catch (err) {
        if (tries === 1 || err.code !== unknown) throw err;
      }
    });
  }
}

// chunks yields the parts of a body. Leaving it ends the request.
export async function* chunks(response) {
  if (response.body === null) return;
  const reader = response.body.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        ended = true;
        return;
      }
      yield value;
    }
  } finally {
    if (!ended) reader.cancel().catch(() => {});
  }
}

// lines yields the lines of a body, without their ends. A last line without an end is not yielded: it was cut off.
export async function* lines(response, most) {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of chunks(response)) {
    const parts = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = parts.pop();
    yield* parts;
    if (rest.length > most) throw new InvalidAnswerError(`a line of the stream has more than ${most} characters: send shorter records, or raise maxResponseBytes`);
  }
}

// checked returns what read makes of JSON.
export function checked(read, text) {
  try {
    return read(JSON.parse(text));
  } catch (err) {
    if (!(err instanceof SyntaxError || err instanceof TypeError)) throw err;
    throw new InvalidAnswerError(`${text.length} characters are not as the API has them: ${err.message}`);
  }
}

// encode returns JSON. It fails for text that UTF-8 cannot have.
export function encode(value) {
  return JSON.stringify(value, (name, item) => {
    if (typeof item === 'string' && /\p{Surrogate}/u.test(item)) {
      throw new TypeError(`dragoman: ${name}: half of a surrogate pair is no character`);
    }
    return item;
  });
}

// query returns a path with the values that are not empty as its query.
export function query(path, values) {
  const encoded = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '')).toString();
  return encoded ? `${path}?${encoded}` : path;
}

// retryable tells whether another try may succeed. It is always safe, for translating twice does no harm.
export function retryable(err) {
  if (err instanceof DragomanError) return err.temporary;
  return err instanceof ConnectionBrokenError && !/^(ENOTFOUND|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(err.cause?.code ?? '');
}

// errorOf returns the error of an answer: the service's own, {"error": "what happened"} of compatible routes, or a proxy's.
async function errorOf(response, sentId) {
  const text = await response.text().catch(() => ''); // the status says the most
  const more = {
    status: response.status, requestId: response.headers.get('X-Request-Id') ?? sentId, retryAfter: retryAfter(response.headers),
  };
  let told;
  try {
    told = JSON.parse(text)?.error;
  } catch {
    // it is a proxy's
  }
  const own = serviceError(told, more);
  if (own) return own;
  if (typeof told === 'string') return new DragomanError(told, more);
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    return new DragomanError(`the service has moved to ${response.headers.get('Location') ?? 'another address'}: use that as the URL`, more);
  }
  return new DragomanError([response.statusText || 'error', text.slice(0, 200).replace(/\s+/g, ' ').trim()].filter(Boolean).join(': '), more);
}

// retryAfter returns the seconds that an answer asks to wait, relative to its own date if it has one; 0 if it does not ask.
function retryAfter(headers) {
  const value = headers.get('Retry-After') ?? '';
  if (/^\d+$/.test(value)) return Math.min(Number(value), 1e9);
  const at = Date.parse(value);
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  return Number.isNaN(at) ? 0 : Math.max(0, (at - now) / 1000);
}
