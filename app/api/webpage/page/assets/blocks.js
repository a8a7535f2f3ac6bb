// The source text line by line with the translation of each line. A line that was
// translated before is not asked for again, so that a change in a long text costs
// one line.

import { Block, withOthers } from './block.js';
import { session } from './storage.js';
import { isBlank, unchanged } from './text.js';

const MOST_KNOWN = 5000;
const MOST_CHOSEN = 1000;

/** Reads an answer of the API, which may come without details. */
function readAnswer(source, { text = '', detail = {} }) {
  const { segments = [{ source: source.trim(), text: text.trim() }], flags = [], fromLang = '', detected = false } = detail;
  return { text, segments, flags, language: fromLang, detected };
}

/** The translations that were chosen before the page was loaded again. */
function readChosen() {
  try {
    return new Map(JSON.parse(session.get('chosen')));
  } catch {
    return new Map(); // of another version
  }
}

/** All lines. The text area is the source of what they say. */
export class Blocks {
  #view;
  #blocks = [];
  #byLine = new WeakMap(); // from elements of both sides
  #known = new Map(); // translations by job and text, the oldest first
  #chosen = readChosen(); // the texts that a person has put in the place of sentences, by job and sentence, the oldest first
  #job = ''; // languages, model and glossary
  #asked = {}; // the same, as requests have it

  /** view has the elements: source, a textarea, mirror, and output. */
  constructor(view) {
    this.#view = view;
    this.update(view.source.value);
  }

  /** Takes the text of the text area over. Lines that are the same keep their translations. */
  update(text) {
    const lines = text.split('\n');
    const { head, tail } = unchanged(this.#blocks.map((block) => block.text), lines);
    const end = this.#blocks.length - tail;
    const old = this.#blocks.slice(head, end);
    const next = this.#blocks[end];
    const fresh = lines.slice(head, lines.length - tail).map((text, i) => {
      const block = old[i] ?? this.#insert(next);
      if (block.text !== text) this.#setText(block, text);
      return block;
    });
    for (const block of old.slice(fresh.length)) block.remove();
    this.#blocks.splice(head, old.length, ...fresh);
    this.#view.output.classList.toggle('empty', this.blank);
  }

  /** Says between which languages to translate, by which model and with which glossary. */
  setJob({ fromLang, toLang, model = '', glossaryId = '' }) {
    const job = `${fromLang} ${toLang} ${model} ${glossaryId}`;
    if (job === this.#job) return;
    this.#job = job;
    this.#asked = { fromLang, toLang, ...(model && { model }), ...(glossaryId && { glossaryId }) };
    for (const block of this.#blocks) {
      block.forget();
      this.#recall(block);
    }
  }

  /** The lines that have no translation yet, equal ones once. */
  missing() {
    const texts = new Set();
    return this.#blocks.filter(({ text, translation }) => {
      if (translation || isBlank(text) || texts.has(text)) return false;
      return texts.add(text);
    });
  }

  /** Takes the answers for some lines over, a Map by text, for all lines with these texts. */
  settle(answers) {
    const translations = new Map();
    for (const [text, answer] of answers) {
      const translation = readAnswer(text, answer);
      translations.set(text, translation);
      this.#known.set(this.#key(text), translation);
      if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value);
    }
    for (const block of this.#blocks) {
      const translation = block.translation ? null : translations.get(block.text);
      if (translation) this.#show(block, translation);
    }
  }

  /** Shows what is there of the translation of a line, by its number, that has none yet. */
  draft(number, text) {
    const block = this.#blocks[number];
    if (!block.translation && !isBlank(block.text)) block.setDraft(text);
  }

  /** Tells whether a translation that is not finished is shown. */
  get drafting() {
    return this.#view.output.querySelector('.draft') !== null;
  }

  /** The lines of the source text. */
  get texts() {
    return this.#blocks.map(({ text }) => text);
  }

  get blank() {
    return this.#blocks.every(({ text }) => isBlank(text));
  }

  /** How many of the lines that have something to translate are translated. */
  get progress() {
    const lines = this.#blocks.filter(({ text }) => !isBlank(text));
    return { done: lines.filter(({ translation }) => translation).length, total: lines.length };
  }

  /** The translation as far as there is one. */
  get translation() {
    return this.#blocks.map(({ text, translation }) => translation?.text ?? (isBlank(text) ? text : '')).join('\n');
  }

  /** The language that the server found for most of the text, '' where it found none. */
  get detected() {
    const votes = new Map();
    for (const { text, translation } of this.#blocks) {
      if (!translation?.detected) continue;
      votes.set(translation.language, (votes.get(translation.language) ?? 0) + text.length);
    }
    return [...votes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
  }

  /** The lines that the server has doubts about: {number (from 1), flags}. */
  get flagged() {
    const all = this.#blocks.map(({ translation }, i) => ({ number: i + 1, flags: translation?.flags ?? [] }));
    return all.filter(({ flags }) => flags.length > 0);
  }

  /** The segment that an element shows: {source, output}, its spans on both sides. Or null. */
  segmentOf(element) {
    const span = element?.closest?.('.segment');
    const block = span && this.#byLine.get(span.parentElement);
    return block ? this.#segment(block, block.indexOf(span)) : null;
  }

  /**
   * The sentence that a span of the translation shows: {source, text, job}, its languages and
   * model as requests have them. Or null.
   */
  sentenceOf(span) {
    const block = this.#byLine.get(span.parentElement);
    const segment = block?.translation?.segments[block.indexOf(span)];
    if (!segment) return null;
    const fromLang = block.translation.language || this.#asked.fromLang; // one sentence tells less than all of the text
    return { ...segment, job: { ...this.#asked, fromLang } };
  }

  /** Puts another translation in the place of a sentence, as sentenceOf, now and wherever it is translated again; returns its span. */
  replace(span, text) {
    const block = this.#byLine.get(span.parentElement);
    const index = block.indexOf(span);
    this.choose([[block.translation.segments[index].source, text]]);
    this.#show(block, block.translation);
    return block.spans.output.get(index);
  }

  /** Says how sentences are to be translated: pairs of sentences and their translations. */
  choose(pairs) {
    for (const [sentence, text] of pairs) {
      const key = this.#key(sentence);
      this.#chosen.delete(key); // it is the latest again
      this.#chosen.set(key, text);
      if (this.#chosen.size > MOST_CHOSEN) this.#chosen.delete(this.#chosen.keys().next().value);
    }
    session.set('chosen', JSON.stringify([...this.#chosen]));
  }

  /** The sentences of the text whose translations a person has chosen, as choose takes them. */
  get chosen() {
    const sentences = new Set(this.#blocks.flatMap(({ translation }) => translation?.segments.map(({ source }) => source) ?? []));
    return [...sentences].filter((sentence) => this.#chosen.has(this.#key(sentence))).map((sentence) => [sentence, this.#chosen.get(this.#key(sentence))]);
  }

  /** The segment at an offset in the source text, as segmentOf. */
  segmentAt(offset) {
    let start = 0;
    for (const block of this.#blocks) {
      const end = start + block.text.length;
      if (offset <= end) return this.#segmentIn(block, offset - start);
      start = end + 1;
    }
    return null;
  }

  #segmentIn(block, offset) {
    let end = 0;
    for (const node of block.mirror.childNodes) {
      end += node.textContent.length;
      if (offset <= end && block.indexOf(node) >= 0) return this.#segment(block, block.indexOf(node));
      if (offset < end) break;
    }
    return null;
  }

  #segment(block, index) {
    const source = block.spans.mirror.get(index);
    const output = block.spans.output.get(index);
    return source || output ? { source, output } : null;
  }

  #insert(next) {
    const block = new Block();
    this.#view.mirror.insertBefore(block.mirror, next?.mirror ?? null);
    this.#view.output.insertBefore(block.output, next?.output ?? null);
    this.#byLine.set(block.mirror, block);
    this.#byLine.set(block.output, block);
    return block;
  }

  #setText(block, text) {
    block.setText(text);
    this.#recall(block);
  }

  /** Shows the translation of before, if there was one. */
  #recall(block) {
    const known = this.#known.get(this.#key(block.text));
    if (known) this.#show(block, known);
  }

  /** Shows a translation, with what a person has chosen for its sentences. */
  #show(block, translation) {
    block.setTranslation(withOthers(translation, ({ source }) => this.#chosen.get(this.#key(source))));
  }

  #key(text) {
    return `${this.#job} ${text}`;
  }
}
