// Languages: their names, directions, and which two are chosen.

import { readAddress, writeAddress } from './address.js';
import { otherNames } from './names.js';
import { lasting } from './storage.js';
import { locale } from './words.js';

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

/** What a language is called in the page's, without the server's help: its code where the browser knows no name. */
export const nameOf = (code) => nameIn(locale, code) || code;

/** The languages that the server offers, from the answer of GET /languages. */
export class Languages {
  #byCode = new Map();

  constructor(entries) {
    const all = entries.map(({ code }) => code);
    for (const { code, name, nativeName, targets = all, pivots = {} } of entries) {
      const english = name || nameIn('en', code) || code;
      const own = nativeName || nameIn(code, code) || english;
      const known = locale === 'en' ? english : nameIn(locale, code) || english; // to who reads the page
      const words = [own, english, known, ...navigator.languages.map((tag) => nameIn(tag, code)), code, ...otherNames(code)].filter(Boolean).map(fold);
      this.#byCode.set(code, { code, name: own, known, words, targets: new Set(targets), pivots });
    }
    this.list = [...this.#byCode.values()].sort((a, b) => a.known.localeCompare(b.known, locale));
  }

  has(code) {
    return this.#byCode.has(code);
  }

  /** Tells whether texts in a language, or in any with AUTO, are translated into another. */
  reaches(from, to) {
    if (from === AUTO) return this.list.some(({ code }) => this.reaches(code, to));
    return from !== to && this.has(to) && Boolean(this.get(from)?.targets.has(to));
  }

  /** Tells whether texts in a language are translated into any other. */
  isSource(code) {
    return this.list.some((other) => this.reaches(code, other.code));
  }

  /** What a language is called in the page's. */
  known(code) {
    return this.#byCode.get(code)?.known ?? nameOf(code);
  }

  get(code) {
    return this.#byCode.get(code);
  }

  /** The code of a language by a code, a tag such as pt-BR, or any of its names; undefined where the server does not have it. */
  find(asked) {
    if (!asked.trim()) return undefined;
    const tags = [asked.trim()];
    try {
      const { baseName, language, script } = new Intl.Locale(tags[0]).maximize(); // iw is he, and zh-TW written in Hant
      tags.push(baseName, `${language}-${script}`, language, tags[0].split('-')[0]);
    } catch {
      // It is no tag.
    }
    const by = (is) => tags.map((tag) => this.list.find((language) => is(language, fold(tag)))).find(Boolean);
    return (by(({ code }, tag) => fold(code) === tag) ?? by(({ words }, tag) => words.includes(tag)))?.code;
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
    this.take(readAddress());
  }

  /** Takes other languages, of another model. What they do not allow is chosen anew. */
  offer(languages) {
    this.languages = languages;
    this.#settle();
  }

  /** Chooses a source language. If it is the target, the two change places. */
  setFrom(code) {
    const target = code === this.to && this.from !== AUTO ? this.from : this.to;
    this.to = this.languages.reaches(code, target) ? target : this.#target(code);
    this.from = code;
    this.#used(code);
  }

  /** Chooses a target language. If it is the source, the two change places. */
  setTo(code) {
    if (code === this.from) this.from = this.to;
    this.to = code;
    this.#used(code);
  }

  /** Tells whether a source language can be chosen. */
  takesFrom(code) {
    return this.languages.isSource(code);
  }

  /** Tells whether a target language can be chosen. */
  takesTo(code) {
    const { from, to, languages } = this;
    return languages.reaches(code === from ? to : from, code);
  }

  /** Tells whether texts in the target language are translated. */
  get swaps() {
    return this.languages.isSource(this.to);
  }

  /** Turns the direction around. detected is the source language while it is AUTO. */
  swap(detected) {
    if (!this.swaps) return;
    const source = this.from === AUTO ? detected : this.from;
    const target = this.languages.reaches(this.to, source) ? source : this.#target(this.to);
    this.from = this.to;
    this.to = target;
    this.#used(this.from);
    this.#used(this.to);
  }

  /** Takes languages over, as a link or the history has them: {from, to}, each '' or unknown where it stays as it is. Tells whether that changed anything. */
  take(asked) {
    const before = [this.from, this.to];
    const [from, to] = [asked.from === AUTO ? AUTO : this.languages.find(asked.from), this.languages.find(asked.to)];
    if (to && this.#valid(from ?? this.from, to)) {
      this.from = from ?? this.from;
      this.to = to;
    } else if (from && !to && (from === AUTO || this.takesFrom(from))) {
      this.setFrom(from);
    }
    this.#settle();
    return this.from !== before[0] || this.to !== before[1];
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
  #settle() {
    if (this.from !== AUTO && !this.languages.isSource(this.from)) this.from = AUTO;
    if (!this.#valid(this.from, this.to)) this.to = this.#target(this.from);
    this.#write();
  }

  /** A language to translate another into: a recent one, the browser's, or any. */
  #target(from) {
    const { languages } = this;
    const browser = navigator.languages.map((tag) => languages.find(tag));
    const candidates = [...this.recent, ...browser, 'en', 'fr', ...languages.list.map((l) => l.code)];
    return candidates.find((code) => languages.reaches(from, code)) ?? languages.list[0].code;
  }

  #valid(from, to) {
    return this.languages.has(to) && this.languages.reaches(from, to);
  }

  #used(code) {
    if (code !== AUTO) this.recent = [code, ...this.recent.filter((c) => c !== code)].slice(0, MOST_RECENT);
    this.#write();
  }

  #write() {
    writeAddress(this.from, this.to);
    const { from, to, recent } = this;
    lasting.set('languages', JSON.stringify({ from, to, recent }));
  }
}
