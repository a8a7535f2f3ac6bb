// Jobs, which the service goes on with whether or not anyone waits.
import { ConnectionBrokenError, DragomanError, InvalidAnswerError, JobCancelledError, serviceError } from './errors.js';
import { resultOf, resultsOf } from './results.js';
import { checked, Limit, lines, newCall, newId, retryable } from './transport.js';

const silence = 60_000; // the longest time without data in a stream of events: the service sends comments more often
const maxLine = 64 << 10;

export const ended = (status) => ['done', 'failed', 'cancelled'].includes(status.state);

// jobStatus returns a job of an answer.
export function jobStatus(value) {
  if (!value?.id || !value.state) throw new InvalidAnswerError('the job has no id or no state');
  const status = { ...value, progress: { records: 0, done: 0, flagged: 0, characters: 0, ...value.progress } };
  for (const name of ['created', 'started', 'finished', 'expires']) {
    if (value[name]) status[name] = new Date(value[name]);
  }
  delete status.error;
  if (value.state === 'failed') status.error = serviceError(value.error) ?? new DragomanError('the service does not say why the job failed');
  return status;
}

export class Job {
  #transport;
  #query; // what it was submitted with, where that is known
  #path;

  constructor(transport, id, query) {
    this.#transport = transport;
    this.#query = query;
    this.#path = `/jobs/${encodeURIComponent(id)}`;
    this.id = id;
  }

  status(options) {
    return this.#transport.ask(newCall('GET', this.#path), new Limit(options), (answer) => this.#status(answer));
  }

  async *events(options) {
    yield* this.#changes(new Limit(options));
  }

  async wait(options) {
    const limit = new Limit(options);
    await this.#finish(limit);
    const call = newCall('GET', this.#path);
    return this.#transport.persist(limit, () => this.#transport.read(call, limit, (answer) => {
      this.#status(answer);
      if (this.#query) return resultsOf(answer.result, this.#query);
      if (!answer.result) throw new InvalidAnswerError('the job has no results: use document() for one of a document');
      return answer.result.map((value) => resultOf(value, { langs: [''], named: true }));
    }));
  }

  async document(options) {
    const limit = new Limit(options);
    await this.#finish(limit);
    const call = newCall('GET', `/documents/${encodeURIComponent(this.id)}/result`, { accept: '*/*' });
    return this.#transport.persist(limit, () => this.#transport.fetchBytes(call, limit));
  }

  cancel(options) {
    return this.#transport.remove(this.#path, 'unknown_job', new Limit(options));
  }

  async #finish(limit) {
    for await (const status of this.#changes(limit)) {
      if (status.state === 'failed') throw status.error;
      if (status.state === 'cancelled') throw new JobCancelledError(`job ${this.id} was cancelled`);
    }
  }

  #status(answer) {
    const status = jobStatus(answer.job);
    if (status.id !== this.id) throw new InvalidAnswerError(`the answer is about job ${status.id}, expected ${this.id}`);
    return status;
  }

  async *#changes(limit) {
    let last = '';
    let listens = true;
    const requestId = newId(); // of all tries
    for (let failures = 0; ; failures++) {
      let received = false;
      let cause;
      try {
        for await (const status of listens ? this.#listen(limit, requestId) : this.#poll(limit, requestId)) {
          received = true;
          const now = JSON.stringify(status);
          if (now !== last) {
            [last, failures] = [now, 0];
            yield status;
          }
          if (ended(status)) return;
        }
        listens &&= received; // else a proxy lets no events through
        cause = new ConnectionBrokenError(`dragoman: job ${this.id} has not ended`);
      } catch (err) {
        if (!retryable(err)) throw err;
        cause = err;
      }
      await limit.sleep(this.#transport.pause(cause, failures), cause);
    }
  }

  async *#poll(limit, requestId) {
    yield await this.#transport.read(newCall('GET', this.#path, { requestId }), limit, (answer) => this.#status(answer));
  }

  // listen yields the states of one stream of events, up to where it breaks off.
  async *#listen(limit, requestId) {
    const quiet = new AbortController();
    let timer;
    const again = () => {
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), silence);
    };
    try {
      again();
      const call = newCall('GET', `${this.#path}/events`, { accept: 'text/event-stream', requestId });
      const response = await this.#transport.send(call, limit, quiet.signal);
      if (!/^text\/event-stream\b/.test(response.headers.get('Content-Type') ?? '')) {
        await response.body?.cancel();
        return;
      }
      let event = '';
      let data = '';
      for await (const line of lines(response, maxLine)) {
        again();
        const [, name, value] = /^([^:]*):? ?(.*?)\r?$/.exec(line);
        if (name === 'event') event = value;
        else if (name === 'data') data += value;
        else if (name === '' && value === '') {
          if (event === 'job' && data) yield checked((answer) => this.#status(answer), data);
          event = data = '';
        }
      }
    } catch (err) {
      if (limit.signal?.aborted) throw limit.signal.reason;
      if (quiet.signal.aborted || err instanceof TypeError) return; // nothing came, or the connection broke
      throw err;
    } finally {
      clearTimeout(timer);
    }
  }
}
