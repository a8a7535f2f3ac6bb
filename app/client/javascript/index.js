// The client of a dragoman service: see index.d.ts.
import { ConnectionBrokenError, InvalidAnswerError, serviceError } from './errors.js';
import { Job, jobStatus } from './job.js';
import { resultOf, resultsOf } from './results.js';
import { checked, encode, Limit, lines, newCall, newId, query, retryable, Transport } from './transport.js';

export { ConnectionBrokenError, DragomanError, InvalidAnswerError, JobCancelledError } from './errors.js';
export { Job } from './job.js';

// newQuery returns a request for translations, with what its answer must have, and the rest of its options.
function newQuery(texts, { fromLang, toLang, timeout, signal, requestId, idempotencyKey, webhook, ...fields }) {
  const list = Array.isArray(texts) ? texts : [texts];
  const records = list.map((text, i) => (typeof text === 'string' ? { id: String(i), text } : text));
  const named = Array.isArray(toLang);
  const payload = { ...fields, fromLang, [named ? 'toLangs' : 'toLang']: toLang, records };
  return {
    ids: records.map((record) => record.id), langs: named ? [...toLang] : [toLang], named,
    body: encode(webhook === undefined ? { payload } : { payload, webhook }), limit: new Limit({ timeout, signal }), requestId, idempotencyKey,
  };
}

const glossaryPath = (id) => `/glossaries/${encodeURIComponent(id)}`;

const memoryPath = (id) => `/memories/${encodeURIComponent(id)}`;

function memoryOf({ memory }) {
  if (!memory.id) throw new InvalidAnswerError('the translation memory has no id');
  return memory;
}

function glossaryOf({ glossary }) {
  if (!glossary.id) throw new InvalidAnswerError('the glossary has no id');
  return glossary;
}

function dictionary(terms, { fromLang, toLang }) {
  return { from: fromLang, to: toLang, entries: terms.map((term) => (Array.isArray(term) ? { source: term[0], target: term[1] } : term)) };
}

function keyOf(given = newId()) {
  if (!/^[!-~]{1,200}$/.test(given)) throw new RangeError('dragoman: idempotencyKey has more than 200 characters, or others than visible ASCII ones');
  return given;
}

export class Client {
  #transport;

  constructor(url = 'http://localhost:9527', options = {}) {
    this.#transport = new Transport(url, options);
  }

  async translate(texts, options) {
    const q = newQuery(texts, options);
    const call = newCall('POST', '/translation', { body: q.body, requestId: q.requestId });
    return this.#transport.ask(call, q.limit, (answer) => resultsOf(answer.result, q));
  }

  async *stream(texts, options) {
    const q = newQuery(texts, options);
    const call = newCall('POST', '/translation/stream', { body: q.body, accept: 'application/x-ndjson', requestId: q.requestId });
    let results;
    const first = await this.#transport.retry(call, q.limit, () => {
      results = this.#results(call, q);
      return results.next();
    });
    if (first.done) return;
    try {
      yield first.value;
      yield* results;
    } finally {
      await results.return();
    }
  }

  async *#results(call, q) {
    const left = new Map();
    const slot = (id, to) => `${to}\0${id}`;
    for (const to of q.langs) for (const id of q.ids) left.set(slot(id, to), (left.get(slot(id, to)) ?? 0) + 1);
    const want = q.ids.length * q.langs.length;
    let got = 0;
    const response = await this.#transport.send(call, q.limit);
    const rest = lines(response, this.#transport.maxResponseBytes);
    try {
      for (;;) {
        let next;
        try {
          next = await rest.next();
        } catch (err) {
          throw this.#transport.broken(err, q.limit, `the stream was cut off after ${got} of ${want} results`);
        }
        if (next.done) throw new ConnectionBrokenError(`dragoman: the stream was cut off after ${got} of ${want} results`);
        if (next.value.trim() === '') continue;
        const event = checked((event) => {
          if (event.error) return { error: serviceError(event.error, { requestId: call.id }) };
          return { result: event.result && resultOf(event.result, q), done: event.done };
        }, next.value);
        if (event.error) throw event.error;
        if (event.done) {
          if (got !== want) throw new InvalidAnswerError(`the stream ended after ${got} of ${want} results`);
          return;
        }
        if (!event.result) continue;
        const place = slot(event.result.id, event.result.toLang);
        if (!left.get(place)) throw new InvalidAnswerError(`there is a result too much for record ${event.result.id} in ${event.result.toLang}`);
        left.set(place, left.get(place) - 1);
        got++;
        yield event.result;
      }
    } finally {
      await rest.return();
    }
  }

  async submit(texts, options) {
    const q = newQuery(texts, options);
    const call = newCall('POST', '/jobs', { body: q.body, key: keyOf(q.idempotencyKey), requestId: q.requestId });
    const { id } = await this.#transport.ask(call, q.limit, (answer) => jobStatus(answer.job));
    return new Job(this.#transport, id, { ids: q.ids, langs: q.langs, named: q.named });
  }

  async submitDocument(content, name, { timeout, signal, requestId, idempotencyKey, ...fields }) {
    for (const [field, value] of Object.entries(fields)) {
      if (Array.isArray(value)) {
        if (value.some((item) => item.includes(','))) {
          throw new RangeError(`dragoman: ${field}: the service takes no name with a comma: use the number of a column`);
        }
        fields[field] = value.join(',');
      } else if (typeof value === 'object' && value !== null) fields[field] = encode(value);
    }
    const call = newCall('POST', query('/documents', { ...fields, name: name.replace(/^.*[/\\]/, '') }), {
      body: content, media: 'application/octet-stream', key: keyOf(idempotencyKey), requestId,
    });
    const { id } = await this.#transport.ask(call, new Limit({ timeout, signal }), (answer) => jobStatus(answer.job));
    return new Job(this.#transport, id);
  }

  job(id) {
    return new Job(this.#transport, id);
  }

  jobs(options) {
    return this.#get('/jobs', options, (answer) => answer.jobs.map(jobStatus));
  }

  async createGlossary(name, terms, { timeout, signal, ...languages }) {
    const call = newCall('POST', '/glossaries', { body: encode({ name, dictionaries: [dictionary(terms, languages)] }), once: true });
    return this.#transport.ask(call, new Limit({ timeout, signal }), glossaryOf);
  }

  async setTerms(id, terms, { timeout, signal, ...languages }) {
    const call = newCall('PATCH', glossaryPath(id), { body: encode({ dictionaries: [dictionary(terms, languages)] }) });
    return this.#transport.ask(call, new Limit({ timeout, signal }), glossaryOf);
  }

  glossaries(options) {
    return this.#get('/glossaries', options, (answer) => answer.glossaries.map((glossary) => glossaryOf({ glossary })));
  }

  glossary(id, options) {
    return this.#get(glossaryPath(id), options, glossaryOf);
  }

  async glossaryTerms(id, { fromLang, toLang, ...options } = {}) {
    const call = newCall('GET', query(`${glossaryPath(id)}/entries`, { from: fromLang, to: toLang }), { accept: 'text/tab-separated-values' });
    const limit = new Limit(options);
    const text = new TextDecoder().decode(await this.#transport.retry(call, limit, () => this.#transport.fetchBytes(call, limit)));
    return text.split('\n').filter(Boolean).map((line) => {
      const [source, target] = line.split('\t');
      return { source, target };
    });
  }

  deleteGlossary(id, options) {
    return this.#transport.remove(glossaryPath(id), 'unknown_glossary', new Limit(options));
  }

  async putMemory(id, content, { media = 'application/x-tmx+xml', fromLang, toLang, keep, ...options } = {}) {
    const path = query(memoryPath(id), { from: fromLang, to: toLang, keep: keep ? 'true' : undefined });
    return this.#transport.ask(newCall('PUT', path, { body: content, media }), new Limit(options), memoryOf);
  }

  async addToMemory(id, entries, { fromLang, toLang, ...options }) {
    const body = encode({ from: fromLang, to: toLang, entries });
    return this.#transport.ask(newCall('POST', `${memoryPath(id)}/entries`, { body }), new Limit(options), memoryOf);
  }

  memories(options) {
    return this.#get('/memories', options, (answer) => answer.memories.map((memory) => memoryOf({ memory })));
  }

  memory(id, options) {
    return this.#get(memoryPath(id), options, memoryOf);
  }

  async exportMemory(id, options) {
    const call = newCall('GET', `${memoryPath(id)}/entries`, { accept: 'application/x-tmx+xml' });
    const limit = new Limit(options);
    return this.#transport.retry(call, limit, () => this.#transport.fetchBytes(call, limit));
  }

  deleteMemory(id, options) {
    return this.#transport.remove(memoryPath(id), 'unknown_memory', new Limit(options));
  }

  languages({ model, ...options } = {}) {
    return this.#get(query('/languages', { model }), options, (answer) => answer.map((language) => language));
  }

  info(options) {
    return this.#get('/', options, (answer) => answer);
  }

  async waitReady(options) {
    const limit = new Limit(options);
    for (;;) {
      try {
        await this.#transport.fetchBytes(newCall('GET', '/readyz'), limit);
        return;
      } catch (err) {
        if (!retryable(err)) throw err;
        await limit.sleep(250, err);
      }
    }
  }

  #get(path, options, read) {
    return this.#transport.ask(newCall('GET', path), new Limit(options), read);
  }
}
