// The page in front of a made-up API, so that tests of the page can say when each answer
// comes and what goes wrong. All but that API comes from the service at PAGE_URL.

import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { buffer, json } from 'node:stream/consumers';

/**
 * What the next requests meet; every field may be missing:
 *
 *   key         the API key that is wanted
 *   loading     the model is not ready
 *   hold        results wait for control.release
 *   maxRecords  of a request
 *   maxCharacters  of a request, by the key's limit
 *   memory      what was kept, as requests have it; without it there are no translation memories
 *   glossaries  that are stored, as the API lists them; they are the key's, where there is one
 *   languages   their codes; those of `usual` where it is missing
 *   models      by name, each with its pairs of languages: { 'en-ja': { en: ['ja'] } }
 *   holdJobs    the answer of POST /jobs waits for control.release('jobs')
 *   noJobs      what POST /jobs fails with: { status, code, message }
 *   mostAlternatives  of a request; more are refused
 *   jobError    of jobs, which then fail: { code, message }
 *   noDocuments the server translates none
 *   live        the server has live text, which is the service's; "broken": all connections for it fail
 *   cutEvents   so many streams of events of a job break off after their first event
 *   brokenFile  what a translated document is answered with: { status, code, message }
 *   failures    of the next translations, one each: { status, code, message, retryAfter },
 *               or { after, code, message } in the middle of an answer, after so many
 *               results; without a code the connection breaks
 *
 * A job is done as far as its results need not wait. The texts of a document are its lines; a text
 * with a flag counts as flagged.
 */
let script = {};
let released = new Set(); // source texts whose results may go
let seen = []; // translations that were asked for, with a state: open, done, failed or cancelled
let sockets = []; // for live text, also those that are closed
let jobs = []; // that were submitted: { id, key, payload, state, document: { name, content } where there is one }; a state is running, done, failed, cancelled or removed
const changed = new EventEmitter().setMaxListeners(0);

export const control = {
  set(next) {
    control.cutLive();
    [script, released, seen, jobs, sockets] = [structuredClone(next), new Set(), [], [], []];
    changed.emit('change');
  },
  release(...texts) {
    for (const text of texts) released.add(text);
    changed.emit('change');
  },
  seen: () => structuredClone(seen),
  kept: () => structuredClone(script.memory), // in the translation memory
  liveConnections: () => sockets.length, // there have been
  cutLive: () => sockets.forEach((socket) => socket.destroy()),
  jobs: () => structuredClone(jobs),
};

/** Starts the server; returns its address, and a function that ends it. */
export async function serve() {
  const server = http.createServer((req, res) => answer(req, res).catch((err) => res.destroy(err)));
  server.on('upgrade', passLive);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return [
    `http://127.0.0.1:${server.address().port}`,
    () => {
      server.close();
      server.closeAllConnections();
    },
  ];
}

async function answer(req, res) {
  const translation = req.url === '/translation/stream' || req.url.startsWith('/jobs') || req.url.startsWith('/documents');
  if (translation && script.key && req.headers.authorization !== `Bearer ${script.key}`) {
    fail(res, { status: 401, code: 'unauthorized', message: 'an API key is needed' });
  } else if (script.loading && req.url === '/languages') {
    send(res, 503, { error: 'the model is loading' }); // as LibreTranslate says it
  } else if (script.loading && (translation || req.url === '/readyz')) {
    fail(res, { status: 503, code: 'not_ready', message: 'the model is loading', retryAfter: '1' });
  } else if (req.url === '/jobs') {
    await submit(req.headers['idempotency-key'], (await json(req)).payload, res);
  } else if (req.url === '/documents') {
    await submitDocument(req, res);
  } else if (req.url.startsWith('/documents/')) {
    answerDocument(req.url.split('/')[2], res);
  } else if (req.url.endsWith('/events')) {
    await follow(req.url.split('/')[2], res);
  } else if (req.url === '/frontend/settings') {
    send(res, 200, { supportedFilesFormat: script.noDocuments ? [] : ['.docx', '.pdf', '.txt'] });
  } else if (translation && req.url !== '/translation/stream') {
    answerJob(req.method, req.url.slice('/jobs/'.length), res);
  } else if (translation) {
    await translate((await json(req)).payload, res);
  } else if (req.url.startsWith('/languages')) {
    listLanguages(new URL(req.url, 'http://fake').searchParams.get('model'), res);
  } else if (req.url === '/memories' && script.memory) {
    send(res, 200, { memories: script.memory.length > 0 ? [{ id: 'page' }] : [] });
  } else if (req.url === '/memories/page/entries' && script.memory) {
    const kept = await json(req);
    script.memory.push(kept);
    send(res, 200, { memory: { id: 'page' } });
  } else if (req.url === '/glossaries') {
    if (script.key && req.headers.authorization !== `Bearer ${script.key}`) fail(res, { status: 401, code: 'unauthorized', message: 'an API key is needed' });
    else if (script.glossaries) send(res, 200, { glossaries: script.glossaries });
    else fail(res, { status: 404, code: 'not_found', message: 'there is nothing at this path' });
  } else if (script.models && req.url === '/' && !/html/.test(req.headers.accept)) {
    send(res, 200, { name: 'dragoman', models: Object.keys(script.models).flatMap((name) => [{ name, version: '2' }, { name, version: '1' }]) });
  } else {
    await forward(req, res);
  }
}

/** Answers with the languages of a model, or of all. */
function listLanguages(model, res) {
  const languages = (script.languages ?? usual).map((code) => ({ code, name: nameOf(code, 'en'), nativeName: nameOf(code, code) }));
  const pairs = model && script.models?.[model];
  if (model && !pairs) return send(res, 404, { error: `There is no model "${model}".` });
  if (!pairs) return send(res, 200, languages);
  const known = new Set([...Object.keys(pairs), ...Object.values(pairs).flat()]);
  return send(res, 200, languages.filter(({ code }) => known.has(code)).map((language) => ({ ...language, targets: [language.code, ...(pairs[language.code] ?? [])] })));
}

/** Passes a connection for live text on to the service, as it is. */
function passLive(req, socket) {
  sockets.push(socket);
  if (script.live !== true) return socket.destroy();
  const { hostname, port, host } = new URL(process.env.PAGE_URL);
  const service = net.connect(port, hostname, () => {
    const headers = Object.entries({ ...req.headers, host, origin: `http://${host}` }).map(([name, value]) => `${name}: ${value}\r\n`);
    service.write(`GET ${req.url} HTTP/1.1\r\n${headers.join('')}\r\n`);
    service.pipe(socket).pipe(service);
  });
  for (const [one, other] of [[service, socket], [socket, service]]) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
  return undefined;
}

async function forward(req, res) {
  const { accept = '*/*' } = req.headers;
  const got = await fetch(process.env.PAGE_URL + req.url, { method: req.method, headers: { accept } });
  const headers = Object.fromEntries(got.headers);
  for (const name of ['content-encoding', 'content-length', 'connection', 'keep-alive']) delete headers[name];
  let body = Buffer.from(await got.arrayBuffer());
  if (req.url === '/' && !script.live && headers['content-type'].startsWith('application/json')) {
    const { live, ...about } = JSON.parse(body);
    body = JSON.stringify(about);
  }
  res.writeHead(got.status, headers).end(body);
}

const send = (res, status, value, headers) =>
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));

const fail = (res, { status, code, message, retryAfter }) =>
  send(res, status, { error: { code, message } }, retryAfter && { 'Retry-After': retryAfter });

/** Answers a translation as the script wants it. */
async function translate(payload, res) {
  const { fromLang, toLang, model, records } = payload;
  const entry = { fromLang, toLang, ...(model && { model }), ...(payload.glossaryId && { glossaryId: payload.glossaryId }), ...(payload.memoryId && { memoryId: payload.memoryId }), texts: records.map(({ text }) => text), ...(payload.alternatives && { alternatives: payload.alternatives }), state: 'open' };
  seen.push(entry);
  const characters = records.reduce((sum, { text }) => sum + text.length, 0);
  const failing =
    records.length > script.maxRecords
      ? { status: 413, code: 'too_many_records', message: `${records.length} records, at most ${script.maxRecords} are allowed` }
      : characters > script.maxCharacters
        ? { status: 413, code: 'too_many_characters', message: `the request has ${characters} characters and your limit allows ${script.maxCharacters} at once: send several requests` }
        : payload.alternatives > script.mostAlternatives
          ? { status: 400, code: 'invalid_option', message: `ask for ${script.mostAlternatives} or fewer` }
          : script.failures?.shift();
  if (failing?.status) {
    entry.state = 'failed';
    fail(res, failing);
    return;
  }
  res.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).flushHeaders();
  res.on('close', () => changed.emit('change'));
  const write = (value) => res.write(`${JSON.stringify(value)}\n`);
  const pending = [...records];
  for (let sent = 0; pending.length > 0; sent++) {
    const i = await next(pending, res);
    if (i < 0) {
      entry.state = 'cancelled';
      return;
    }
    if (failing && sent === (failing.after ?? 0)) {
      entry.state = 'done';
      if (!failing.code) res.destroy();
      else res.end(`${JSON.stringify({ error: { code: failing.code, message: failing.message } })}\n`);
      return;
    }
    const [record] = pending.splice(i, 1);
    write({ result: result(payload, record) });
  }
  entry.state = 'done';
  write({ done: { results: records.length } });
  res.end();
}

/** Makes a job, one for each key. */
async function submit(key, payload, res) {
  if (script.noJobs) return fail(res, script.noJobs);
  let job = jobs.find((one) => one.key === key);
  if (!job) jobs.push((job = { id: `job-${jobs.length}`, key, payload, state: 'running' }));
  while (script.holdJobs && !released.has('jobs')) await once(changed, 'change');
  return send(res, 202, { job: { id: job.id, state: job.state } });
}

/** Makes a job of a document, one for each key. */
async function submitDocument(req, res) {
  const form = await new Response(await buffer(req), { headers: { 'content-type': req.headers['content-type'] } }).formData();
  if (script.noJobs) return fail(res, script.noJobs);
  const { file, ...way } = Object.fromEntries(form);
  const content = await file.text();
  const records = [...new Set(content.split('\n').filter((line) => /\S/.test(line)))].map((text) => ({ text }));
  const key = req.headers['idempotency-key'];
  let job = jobs.find((one) => one.key === key);
  if (!job) jobs.push((job = { id: `job-${jobs.length}`, key, payload: { ...way, records }, state: 'running', document: { name: file.name, content } }));
  return send(res, 202, { job: { id: job.id, state: job.state } });
}

/** Answers with a translated document. */
function answerDocument(id, res) {
  const job = known(id);
  if (!job) return fail(res, { status: 404, code: 'unknown_job', message: 'there is no such job' });
  if (script.brokenFile) return fail(res, script.brokenFile);
  const { document, payload } = job;
  const lines = document.content.split('\n').map((text) => (/\S/.test(text) ? result(payload, { text }).text : text));
  const name = encodeURIComponent(document.name.replace(/(\.\w+)$/, `.${payload.toLang}$1`));
  return res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Disposition': `attachment; filename="file.txt"; filename*=UTF-8''${name}` }).end(lines.join('\n'));
}

/** Sends the events of a job. */
async function follow(id, res) {
  if (!known(id)) return fail(res, { status: 404, code: 'unknown_job', message: 'there is no such job' });
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.on('close', () => changed.emit('change'));
  for (;;) {
    const job = known(id);
    if (!job || res.closed) return res.end();
    res.write(`event: job\ndata: ${JSON.stringify({ job: describe(job) })}\n\n`);
    if (job.state !== 'running') return res.end();
    if (script.cutEvents > 0) {
      script.cutEvents--;
      return res.destroy();
    }
    await once(changed, 'change');
  }
}

const known = (id) => jobs.find((one) => one.id === id && one.state !== 'removed');

/** A job as the API has it, which may have ended by now. */
function describe(job) {
  const { records } = job.payload;
  const done = records.filter(({ text }) => !script.hold || released.has(text)).length;
  if (job.state === 'running' && script.jobError) job.state = 'failed';
  if (job.state === 'running' && done === records.length) job.state = 'done';
  const flagged = job.document && job.state === 'done' ? records.filter(({ text }) => text.includes('flag:')).length : 0;
  return {
    id: job.id, state: job.state, progress: { records: records.length, done, ...(flagged && { flagged }) },
    ...(job.state === 'failed' && { error: script.jobError }),
  };
}

/** Answers GET and DELETE of a job. */
function answerJob(method, id, res) {
  const job = known(id);
  if (!job) return fail(res, { status: 404, code: 'unknown_job', message: 'there is no such job' });
  const described = describe(job);
  if (method === 'DELETE') {
    const ended = job.state !== 'running';
    job.state = ended ? 'removed' : 'cancelled';
    return ended ? res.writeHead(204).end() : send(res, 200, {});
  }
  return send(res, 200, {
    job: described,
    ...(job.state === 'done' && !job.document && { result: job.payload.records.map((record) => result(job.payload, record)) }),
  });
}

/** Waits until one of the records may go and returns its index; -1 when the client has left. */
async function next(pending, res) {
  for (;;) {
    if (res.closed) return -1;
    const i = pending.findIndex(({ text }) => !script.hold || released.has(text));
    if (i >= 0) return i;
    await once(changed, 'change');
  }
}

// Translations that make screenshots worth looking at. Every other sentence becomes
// "[fr] sentence".
const phrases = {
  fr: {
    'Where is the station?': 'Où est la gare ?',
    'Good morning.': 'Bonjour.',
    'The old harbour wakes up slowly.': 'Le vieux port s’éveille lentement.',
    'Fishermen mend their nets while the first ferry leaves for the islands.':
      'Les pêcheurs réparent leurs filets pendant que le premier ferry part pour les îles.',
    'By noon the cafés are full, and nobody is in a hurry.': 'À midi, les cafés sont pleins et personne n’est pressé.',
    'Stay a while.': 'Restez un peu.',
  },
  ja: {
    'Where is the station?': '駅はどこですか。',
    'Good morning.': 'おはようございます。',
    'The old harbour wakes up slowly.': '古い港がゆっくりと目を覚ます。',
    'Fishermen mend their nets while the first ferry leaves for the islands.': '最初のフェリーが島へ向かうころ、漁師たちは網を繕っている。',
    'By noon the cafés are full, and nobody is in a hurry.': '昼にはカフェが満席になり、急ぐ人は誰もいない。',
    'Stay a while.': 'ゆっくりしていってください。',
  },
  ar: { 'Where is the station?': 'أين المحطة؟', 'Good morning.': 'صباح الخير.' },
  en: { 'Où est la gare ?': 'Where is the station?', '駅はどこですか。': 'Where is the station?', 'أين المحطة؟': 'Where is the station?' },
};

const nameOf = (code, language) => new Intl.DisplayNames(language, { type: 'language' }).of(code);
const usual = 'ar cs da de el en es fa fi fr he hi hu id it ja ko nl pl pt ru sv th tr uk vi zh'.split(' ');

/** Translates a record sentence by sentence. A text may ask for flags, as in "flag:truncated". */
function result({ fromLang, toLang, detail, alternatives }, { id, text }) {
  const segments = [];
  const translation = text.replace(/.+?(?:[.!?؟]+(?:\s+|$)|[。！？]+|$)/gs, (part) => {
    const source = part.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, ''); // a mark of byte order stays
    if (!source) return part;
    const translated = phrases[toLang]?.[source] ?? `[${toLang}] ${source}`;
    segments.push({ source, text: translated });
    return part.replace(source, () => translated);
  });
  const detected = fromLang === 'auto';
  const flags = [...text.matchAll(/flag:(\w+)/g)].map(([, flag]) => flag);
  return {
    id,
    text: translation,
    ...(alternatives && { alternatives: alternativesOf(translation, text).slice(0, alternatives) }),
    ...(detail && { detail: { fromLang: detected ? detect(text) : fromLang, detected, segments, flags } }),
  };
}

/** The translations of a text: three, or of one that says "only" no other. */
function alternativesOf(translation, text) {
  const others = text.includes('only') ? [] : [`${translation} (second)`, `${translation} (third)`];
  return [translation, ...others].map((one, i) => ({ text: one, score: -i }));
}

/** Guesses a language by its letters. */
function detect(text) {
  const [letter] = text.match(/[\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Han}\p{sc=Arabic}éèàçùœ]/u) ?? [''];
  if (/[\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Han}]/u.test(letter)) return 'ja';
  if (/\p{sc=Arabic}/u.test(letter)) return 'ar';
  return letter ? 'fr' : 'en';
}
