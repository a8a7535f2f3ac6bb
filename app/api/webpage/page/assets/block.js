// A line of the source text with its translation, as the page shows both.

import { set, setText } from './dom.js';
import { cut, isBlank } from './text.js';

function makeLine() {
  const line = document.createElement('div');
  line.className = 'line';
  return line;
}

/**
 * Writes a text into a line, with a span around each piece. Returns the spans by the
 * number of their piece. It writes text, never HTML.
 */
function writeLine(line, text, pieces) {
  const spans = new Map();
  const nodes = cut(text, pieces).map(({ text: part, index }) => {
    if (index < 0) return part;
    const span = document.createElement('span');
    span.className = 'segment';
    span.textContent = part;
    span.dataset.index = index;
    spans.set(index, span);
    return span;
  });
  line.replaceChildren(...nodes);
  return spans;
}

/** A translation with other texts for some of its segments: other returns that of a segment, undefined where it stays. */
export function withOthers(translation, other) {
  const { text, segments } = translation;
  const others = segments.map((segment) => other(segment) ?? segment.text);
  if (others.every((one, i) => one === segments[i].text)) return translation;
  const parts = cut(text, segments.map((segment) => segment.text));
  return {
    ...translation,
    text: parts.map((part) => others[part.index] ?? part.text).join(''),
    segments: segments.map((segment, i) => ({ ...segment, text: others[i] })),
  };
}

/** A line of the source text, where it is shown, and its translation. */
export class Block {
  text = null;
  translation = null; // null while there is none
  mirror = makeLine(); // below the text area
  output = makeLine();
  spans = { mirror: new Map(), output: new Map() }; // by number of segment

  /** Takes another source text. */
  setText(text) {
    this.text = text;
    setText(this.mirror, text);
    this.forget();
  }

  /** Drops the translation. What is shown stays, marked as old, until there is a new one. */
  forget() {
    this.translation = null;
    this.spans = { mirror: new Map(), output: new Map() };
    const { output } = this;
    if (isBlank(this.text)) {
      set(output, { className: 'line' });
      output.replaceChildren(this.text);
    } else if (output.textContent.trim()) {
      set(output, { className: 'line stale' });
    } else {
      set(output, { className: 'line awaited' });
      const placeholder = document.createElement('span');
      placeholder.className = 'placeholder';
      placeholder.style.inlineSize = `min(100%, ${Math.max(3, this.text.length * 0.5)}em)`;
      output.replaceChildren(placeholder);
    }
  }

  /** Shows what is there of a translation that is not finished. */
  setDraft(text) {
    const { output } = this;
    if (output.classList.contains('draft') ? output.textContent === text : !text) return;
    output.className = 'line draft';
    output.replaceChildren(text);
  }

  /** Shows a translation. */
  setTranslation(translation) {
    this.translation = translation;
    const { text, segments, flags } = translation;
    this.spans = {
      mirror: writeLine(this.mirror, this.text, segments.map((segment) => segment.source)),
      output: writeLine(this.output, text, segments.map((segment) => segment.text)),
    };
    for (const span of this.spans.output.values()) {
      span.tabIndex = -1;
      span.role = 'button';
      span.ariaHasPopup = 'listbox';
      span.ariaExpanded = 'false';
    }
    this.output.className = flags.length > 0 ? 'line flagged' : 'line';
  }

  remove() {
    this.mirror.remove();
    this.output.remove();
  }

  /** The number of the segment that a node shows, or -1; nodes of old translations show none. */
  indexOf(node) {
    const index = Number(node.dataset?.index);
    const { mirror, output } = this.spans;
    return mirror.get(index) === node || output.get(index) === node ? index : -1;
  }
}
