// Languages: their names, directions, and which two are chosen.

import { lasting } from './storage.js';

/** Stands for a source language that the server finds out. */
export const AUTO = 'auto';

const RIGHT_TO_LEFT = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'iw', 'ps', 'sd', 'ug', 'ur', 'yi']);
const MOST_RECENT = 4;

/** The direction that a language is written in, for dir. */
export const direction = (code) => (RIGHT_TO_LEFT.has(code) ? 'rtl' : 'ltr');

/** Writes a word so that case and accents do not matter in a search. */
const fold = (word) => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** What the browser calls a language, in a language; '' where it knows none. */
function nameIn(locale, code) {
  try {
    return new Intl.DisplayNames([locale], { type: 'language', fallback: 'none' }).of(code) ?? '';
  } catch {
    return ''; // not a code that Intl takes
  }
}

/** The languages that the server offers, from the answer of GET /languages. */
export class Languages {
  #byCode = new Map();

  constructor(entries) {
    for (const { code, name, nativeName } of entries) {
      const english = name || nameIn('en', code) || code;
      const own = nativeName || nameIn(code, code) || english;
      const words = [own, english, nameIn(navigator.language, code), code].map(fold);
      this.#byCode.set(code, { code, name: own, english, words });
    }
    this.list = [...this.#byCode.values()].sort((a, b) => a.english.localeCompare(b.english, 'en'));
  }

  has(code) {
    return this.#byCode.has(code);
  }

  /** A language's English name. */
  english(code) {
    return this.#byCode.get(code)?.english ?? code;
  }

  get(code) {
    return this.#byCode.get(code);
  }

  /** The languages that fit what was typed, those whose name begins with it first. */
  search(typed) {
    const query = fold(typed.trim());
    const begins = ({ words }) => words.some((word) => word.startsWith(query));
    const found = this.list.filter(({ words }) => words.some((word) => word.includes(query)));
    return [...found.filter(begins), ...found.filter((language) => !begins(language))];
  }
}

/**
 * The two languages that are chosen and those that were. They are kept in the
 * address (#en/ja) and between visits.
 */
export class Choice {
  from = AUTO;
  to = '';
  recent = [];

  constructor(languages) {
    this.languages = languages;
    this.#restore();
    this.readAddress();
    this.#complete();
    this.#write();
  }

  /** Chooses a source language. If it is the target, the two change places. */
  setFrom(code) {
    if (code === this.to) this.to = this.from === AUTO ? this.#other(code) : this.from;
    this.from = code;
    this.#used(code);
  }

  /** Chooses a target language. If it is the source, the two change places. */
  setTo(code) {
    if (code === this.from) this.from = this.to;
    this.to = code;
    this.#used(code);
  }

  /** Turns the direction around. detected is the source language while it is AUTO. */
  swap(detected) {
    const source = this.from === AUTO ? detected : this.from;
    const target = source && source !== this.to ? source : this.#other(this.to);
    this.from = this.to;
    this.to = target;
    this.#used(this.from);
    this.#used(this.to);
  }

  /** Takes the languages of the address over; tells whether that changed anything. */
  readAddress() {
    const [, from, to] = /^#([\w-]+)\/([\w-]+)$/.exec(location.hash) ?? [];
    if (!this.#valid(from, to) || (from === this.from && to === this.to)) return false;
    this.from = from;
    this.to = to;
    return true;
  }

  #restore() {
    try {
      const { from, to, recent } = JSON.parse(lasting.get('languages'));
      this.recent = recent.filter((code) => this.languages.has(code)).slice(0, MOST_RECENT);
      if (this.#valid(from, to)) Object.assign(this, { from, to });
    } catch {
      // Nothing was kept, or by another version.
    }
  }

  /** Chooses what is still open: from any language to that of the browser. */
  #complete() {
    if (!this.languages.has(this.to)) this.to = this.#other('en');
  }

  /** A language other than this one: a recent one, the browser's, or any. */
  #other(code) {
    const { languages } = this;
    const browser = navigator.languages.map((tag) => tag.split('-')[0]);
    const candidates = [...this.recent, ...browser, 'en', 'fr', ...languages.list.map((l) => l.code)];
    return candidates.find((c) => c !== code && languages.has(c)) ?? code;
  }

  #valid(from, to) {
    const { languages } = this;
    return languages.has(to) && from !== to && (from === AUTO || languages.has(from));
  }

  #used(code) {
    if (code !== AUTO) this.recent = [code, ...this.recent.filter((c) => c !== code)].slice(0, MOST_RECENT);
    this.#write();
  }

  #write() {
    history.replaceState(null, '', `#${this.from}/${this.to}`);
    const { from, to, recent } = this;
    lasting.set('languages', JSON.stringify({ from, to, recent }));
  }
}
