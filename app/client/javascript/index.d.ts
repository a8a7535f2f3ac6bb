/** Settings of a client. */
export interface ClientOptions {
  /** The API key. */
  key?: string;
  /** How many tries follow the first: 3 without it. */
  retries?: number;
  /** The longest pause between two tries, in milliseconds: 30,000 without it. If the service asks for a longer one, there is no other try. */
  maxBackoff?: number;
  /** The most bytes of an answer, and of each line of a stream: 64 MiB without it. */
  maxResponseBytes?: number;
  /** What sends requests: the global fetch without it. */
  fetch?: typeof fetch;
}

/** What each call takes. */
export interface CallOptions {
  /** The most milliseconds of the call with all its tries. The service is told the rest of that time. */
  timeout?: number;
  /** Ends the call. */
  signal?: AbortSignal;
}

export interface TextRecord {
  /** The answer repeats it; ids may repeat and be empty. */
  id: string;
  text: string;
}

/** One text, or several. Texts without an id have their position, from "0" on. */
export type Texts = string | TextRecord | readonly (string | TextRecord)[];

/** A term and what it becomes, also as a pair. Without a target it stays as it is. */
export type Term = { source: string; target?: string } | readonly [source: string, target?: string];

/** How to decode; the service's settings apply where there is none. */
export interface Options {
  beams?: number;
  maxLength?: number;
  lengthPenalty?: number;
  noRepeatNgramSize?: number;
  repetitionPenalty?: number;
}

/** A request for translations: see docs/api.md. */
export interface TranslateOptions extends CallOptions {
  /** The code of a language, or "auto". */
  fromLang: string;
  /** The code of a language, or of several. */
  toLang: string | readonly string[];
  model?: string;
  format?: 'text' | 'html' | 'xml';
  xml?: { splittingTags?: string[]; nonSplittingTags?: string[]; outlineDetection?: boolean; splitLines?: boolean };
  priority?: 'high' | 'normal' | 'low';
  split?: boolean;
  wrapped?: 'auto' | 'on' | 'off';
  detail?: boolean;
  alternatives?: number;
  glossary?: { source: string; target?: string }[];
  glossaryId?: string;
  memoryId?: string;
  options?: Options;
  /** The request's id in the service's log, the same at all tries. */
  requestId?: string;
}

export interface SubmitOptions extends TranslateOptions {
  /** The same key with the same request is the same job. */
  idempotencyKey?: string;
  /** The address that is told how the job has ended. */
  webhook?: string;
}

/** How a document is translated: see docs/documents.md. */
export interface DocumentOptions extends CallOptions {
  fromLang: string;
  toLang: string;
  columns?: readonly string[];
  header?: 'auto' | 'keep' | 'translate';
  also?: readonly string[];
  wrapped?: 'auto' | 'on' | 'off';
  as?: 'html' | 'txt';
  model?: string;
  priority?: 'high' | 'normal' | 'low';
  glossaryId?: string;
  memoryId?: string;
  options?: Options;
  requestId?: string;
  idempotencyKey?: string;
  webhook?: string;
}

export interface Alternative {
  text: string;
  score: number;
}

export interface Segment {
  source: string;
  text: string;
  flags?: string[];
  alternatives?: Alternative[];
  steps?: { model: string; version: string; fromLang: string; toLang: string; text: string; score: number; cacheHit: boolean; flags?: string[] }[];
}

/** How a translation was made. */
export interface Detail {
  model?: string;
  version?: string;
  /** The preferred model, if its server was away. */
  insteadOf?: string;
  fromLang?: string;
  detected: boolean;
  segments: Segment[];
  sourceTokens: number;
  targetTokens: number;
  score: number;
  cacheHit: boolean;
  queueMs: number;
  computeMs: number;
  /** What looks wrong after all retries, such as "truncated". */
  flags: string[];
}

/** A record's translation. */
export interface Result {
  id: string;
  text: string;
  toLang: string;
  detail?: Detail;
  alternatives?: Alternative[];
  /** Why this record alone has no translation, such as one of code `unfinished`; text is '' then. */
  error?: DragomanError;
}

/** A job at some moment. Newer services may have more states. */
export interface JobStatus {
  id: string;
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  created?: Date;
  started?: Date;
  finished?: Date;
  expires?: Date;
  progress: { records: number; done: number; flagged: number; characters: number };
  document?: { name: string; kind: string; bytes: number; result: string; headerKept?: boolean; kept?: number };
  /** Why it failed. */
  error?: DragomanError;
}

/** Describes a stored glossary, without its terms. */
export interface Glossary {
  id: string;
  name: string;
  created: string;
  changed: string;
  dictionaries: { from: string; to: string; entryCount: number }[];
}

/** Describes a translation memory, without its entries. */
export interface Memory {
  id: string;
  created: string;
  changed: string;
  entryCount: number;
  languages: { from: string; to: string; entryCount: number }[];
}

export interface Language {
  code: string;
  name: string;
  nativeName: string;
  targets: string[];
  pivots?: Record<string, string>;
}

export interface Model {
  name: string;
  version: string;
  source?: string;
  revision?: string;
  precision?: string;
  license?: string;
}

export interface Info {
  name: string;
  version: string;
  model?: Model;
  models?: Model[];
}

/**
 * Sends requests to one dragoman service.
 *
 * Translating twice does no harm, so a try that fails for the moment (no connection, a broken one, 429, 502, 503, a proxy's 504) is
 * followed by others, after random pauses of up to 0.5, 1, 2 … seconds on top of the Retry-After of the service. All tries of a call
 * have the same request id, and those of a submit the same idempotency key. Calls reject with a DragomanError, InvalidAnswerError,
 * ConnectionBrokenError, or the reason of their signal, which is a TimeoutError when the time is over.
 */
export class Client {
  constructor(url?: string, options?: ClientOptions);
  /** The translations, in the order of the texts; with several languages all in the first one first. */
  translate(texts: Texts, options: TranslateOptions): Promise<Result[]>;
  /** Each translation as soon as it arrives, in any order. Leaving the loop ends the request. */
  stream(texts: Texts, options: TranslateOptions): AsyncGenerator<Result, void, void>;
  /** Submits texts that the service translates in the background. */
  submit(texts: Texts, options: SubmitOptions): Promise<Job>;
  /** Submits a file, whose name says what it is. */
  submitDocument(content: Uint8Array | ArrayBuffer | Blob | string, name: string, options: DocumentOptions): Promise<Job>;
  /** A job by its id, without asking the service. */
  job(id: string): Job;
  /** The jobs of this client's key, the newest first. */
  jobs(options?: CallOptions): Promise<JobStatus[]>;
  /** Creates a glossary with the terms of one dictionary. Where the outcome of a try is unknown there is no other one. */
  createGlossary(name: string, terms: readonly Term[], options: { fromLang: string; toLang: string } & CallOptions): Promise<Glossary>;
  /** Replaces the terms of a glossary for two languages. */
  setTerms(id: string, terms: readonly Term[], options: { fromLang: string; toLang: string } & CallOptions): Promise<Glossary>;
  glossaries(options?: CallOptions): Promise<Glossary[]>;
  glossary(id: string, options?: CallOptions): Promise<Glossary>;
  /** The terms of a glossary for two languages; without them those of its only dictionary. */
  glossaryTerms(id: string, options?: { fromLang?: string; toLang?: string } & CallOptions): Promise<{ source: string; target: string }[]>;
  /** Deletes a glossary. Jobs that use it go on. */
  deleteGlossary(id: string, options?: CallOptions): Promise<void>;
  /** Makes a file a translation memory: TMX, XLIFF, or TSV with its languages. With keep the present entries stay. */
  putMemory(id: string, content: Uint8Array | string, options?: { media?: string; fromLang?: string; toLang?: string; keep?: boolean } & CallOptions): Promise<Memory>;
  /** Adds entries to a translation memory, which is made if it does not exist. */
  addToMemory(id: string, entries: readonly { source: string; target: string }[], options: { fromLang: string; toLang: string } & CallOptions): Promise<Memory>;
  memories(options?: CallOptions): Promise<Memory[]>;
  memory(id: string, options?: CallOptions): Promise<Memory>;
  /** The entries of a translation memory as TMX. */
  exportMemory(id: string, options?: CallOptions): Promise<Uint8Array>;
  deleteMemory(id: string, options?: CallOptions): Promise<void>;
  languages(options?: { model?: string } & CallOptions): Promise<Language[]>;
  info(options?: CallOptions): Promise<Info>;
  /** Asks four times a second until the service is ready, also where it does not run yet. */
  waitReady(options?: CallOptions): Promise<void>;
}

/** A job of the service. Any process gets it by its id; it holds nothing, and can be dropped at any time. */
export class Job {
  private constructor();
  readonly id: string;
  status(options?: CallOptions): Promise<JobStatus>;
  /** The state of the job now, and after each change, until it has ended. A connection that breaks is opened again. */
  events(options?: CallOptions): AsyncGenerator<JobStatus, void, void>;
  /** The results as soon as the job has ended, also if the service restarts meanwhile. */
  wait(options?: CallOptions): Promise<Result[]>;
  /** The translated document as soon as the job has ended. */
  document(options?: CallOptions): Promise<Uint8Array>;
  /** Ends the job; one that has ended is removed with its results. */
  cancel(options?: CallOptions): Promise<void>;
}

/** An error answer of the service. */
export class DragomanError extends Error {
  private constructor();
  /** Of HTTP; 0 for an error within a stream, or of a job. */
  readonly status: number;
  /** One of the codes of docs/api.md; "" if the answer is not the service's. */
  readonly code: string;
  /** The field of the request that is meant, such as payload.records[3].text, or "". */
  readonly field: string;
  /** The id of the request in the service's log. */
  readonly requestId: string;
  /** The seconds that the service asks to wait, or 0. */
  readonly retryAfter: number;
  /** Whether the same request may succeed in a moment. */
  readonly temporary: boolean;
}

/** The answer does not belong to the request: not JSON, too large, other ids or another number of results. */
export class InvalidAnswerError extends Error {}

/** There was no answer, or a part of one. The outcome of the request is unknown. */
export class ConnectionBrokenError extends Error {}

/** The job was cancelled. */
export class JobCancelledError extends Error {}
