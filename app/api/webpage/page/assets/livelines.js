// The translation of a live text, as the server's updates tell it, line by line.

import { isBlank } from './text.js';

export class LiveLines {
  #segments = []; // { segment (its id), skip, length, before, text, flags, stable, final }
  #tail = '';
  #language = '';
  #source = ''; // that the segments show

  /** The number of the edits that the segments show. */
  shown = 0;

  /** Takes an update. texts are the source texts by the number of the edits that made them, which it forgets once they are shown. */
  take({ taken, shown = taken, all, removed = [], segments = [], tail, fromLang }, texts) {
    if (all) this.#segments = [];
    if (tail !== undefined) this.#tail = tail;
    if (fromLang) this.#language = fromLang;
    this.#segments = this.#segments.filter(({ segment }) => !removed.includes(segment));
    for (const segment of segments) this.#change(segment);
    this.#source = texts.get(shown) ?? this.#source;
    this.shown = shown;
    for (const n of texts.keys()) if (n < shown) texts.delete(n);
  }

  #change({ segment, after = 0, skip = 0, length, before = '', text, flags = [], stable = 0, final = false }) {
    const at = (id) => this.#segments.findIndex((one) => one.segment === id);
    let one = this.#segments[at(segment)];
    if (!one) this.#segments.splice(at(after) + 1, 0, (one = { segment, text: '', flags: [], stable: 0 }));
    Object.assign(one, { skip, length, before, final });
    if (text !== undefined) Object.assign(one, { text, flags, stable });
  }

  /** Tells whether all sentences have their translations. */
  get final() {
    return this.#segments.every(({ final }) => final);
  }

  /** Tells whether the translation has the lines of the text: a sentence may be several lines. */
  get fits() {
    return this.#lines() !== null;
  }

  /**
   * What there is: done, a Map with the answers for lines as the API has them, and drafts, by number, what
   * can be shown of the others; null for those that are done.
   */
  answers(detected) {
    const done = new Map();
    const drafts = [];
    for (const { source, text, shown, segments, final } of this.#lines() ?? []) {
      drafts.push(final ? null : shown);
      const flags = [...new Set(segments.flatMap((segment) => segment.flags))];
      if (final && !isBlank(source)) done.set(source, { text, detail: { fromLang: this.#language, detected, segments, flags } });
    }
    return { done, drafts };
  }

  /** The lines: {source, text, shown, segments, final}; null where a sentence goes beyond one. */
  #lines() {
    const characters = [...this.#source];
    const sources = this.#source.split('\n');
    const lines = [];
    const begin = () => lines.push({ text: '', shown: '', segments: [], final: true });
    const add = (between) => {
      between.split('\n').forEach((part, i) => {
        if (i > 0) begin();
        lines.at(-1).text += part;
        lines.at(-1).shown += part;
      });
    };
    begin();
    let at = 0;
    for (const { skip, length, before, text, flags, stable, final } of this.#segments) {
      add(before);
      const source = characters.slice(at + skip, at + skip + length).join('');
      at += skip + length;
      if (source.includes('\n')) return null;
      const line = lines.at(-1);
      line.text += text;
      line.shown += final ? text : [...text].slice(0, stable).join('');
      line.segments.push({ source, text, flags });
      line.final &&= final;
    }
    add(this.#tail);
    return lines.length === sources.length ? lines.map((line, i) => ({ source: sources[i], ...line })) : null;
  }
}
