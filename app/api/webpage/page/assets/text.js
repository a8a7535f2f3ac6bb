// Functions of text alone.

import { say } from './words.js';

/** Tells whether a line has nothing to translate. */
export const isBlank = (text) => !/\S/u.test(text);

/** Counts characters as Unicode does: an emoji counts once where a string has it twice. */
export const countCharacters = (text) => text.length - (text.match(/[\u{10000}-\u{10FFFF}]/gu)?.length ?? 0);

/**
 * Compares two lists of lines, or two texts: how many lines or units of UTF-16 are the same at the start (head) and at the
 * end (tail). The two parts do not overlap.
 */
export function unchanged(before, after) {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { head, tail };
}

/**
 * What makes one text of another: {from, to, text}, to put text in the place of its
 * characters from to before to, counted as Unicode does. Null where they are equal.
 */
export function difference(before, after) {
  if (before === after) return null;
  let { head, tail } = unchanged(before, after);
  if (isHighSurrogate(before[head - 1])) head--; // half a character
  if (tail > 0 && isLowSurrogate(before.at(-tail))) tail--;
  const from = countCharacters(before.slice(0, head));
  return { from, to: from + countCharacters(before.slice(head, before.length - tail)), text: after.slice(head, after.length - tail) };
}

const isHighSurrogate = (unit = '') => unit >= '\uD800' && unit < '\uDC00';
const isLowSurrogate = (unit = '') => unit >= '\uDC00' && unit < '\uE000';

/**
 * Cuts a text at the pieces that appear in it in this order. Returns all of the text
 * as parts {text, index}: index is the piece's, or -1 for what lies between pieces.
 * A piece that is not there is skipped.
 */
export function cut(text, pieces) {
  const parts = [];
  let at = 0;
  pieces.forEach((piece, index) => {
    const start = isBlank(piece) ? -1 : text.indexOf(piece, at);
    if (start < 0) return;
    if (start > at) parts.push({ text: text.slice(at, start), index: -1 });
    parts.push({ text: piece, index });
    at = start + piece.length;
  });
  if (at < text.length) parts.push({ text: text.slice(at), index: -1 });
  return parts;
}

/** Takes the first lines that fit into one request: at least one. */
export function takeBatch(blocks, { lines, characters }) {
  let total = 0;
  let count = 0;
  for (const block of blocks) {
    total += block.text.length;
    if (count > 0 && (count >= lines || total > characters)) break;
    count++;
  }
  return blocks.slice(0, count);
}

/** Reads a Retry-After header, seconds or a date, as seconds from now; null without. */
export function retryAfter(value, now = Date.now()) {
  if (!value) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 3600) : null;
}

const FLAGS = new Map([
  ['truncated', 'may be incomplete'],
  ['too_short', 'may lack a part'],
  ['loop', 'may repeat itself'],
  ['source_echo', 'may not be translated'],
  ['empty', 'is empty'],
  ['refused', 'may not be translated'],
  ['chatter', 'may have more than the translation'],
  ['wrong_language', 'may be in another language'],
  ['wrong_script', 'may be in another language'],
  ['markup_lost', 'may lack a tag, link or placeholder'],
  ['unsupported_source', 'is the text itself, whose language the model does not translate'],
  ['glossary_missed', 'may lack a term of the glossary'],
]);

/** Says in words what a translation's quality flags mean: "may be incomplete". */
export function describeFlags(flags) {
  const words = flags.map((flag) => say(FLAGS.get(flag) ?? 'may be wrong ({flag})', { flag }));
  return words.length < 2 ? words.join('') : say('{first} and {last}', { first: words.slice(0, -1).join(', '), last: words.at(-1) });
}
