// Changes of the document, which cost the browser work.

import { unchanged } from './text.js';

/** Gives an element the values of properties that differ from what it has: the same value again would cost as much as another. */
export function set(element, values) {
  for (const [name, value] of Object.entries(values)) if (element[name] !== value) element[name] = value;
}

/** Makes the text of an element that has only text another one, and changes only what differs, which the browser lays out anew. */
export function setText(element, text) {
  const node = element.firstChild;
  if (element.childNodes.length !== 1 || node.nodeType !== Node.TEXT_NODE) {
    element.replaceChildren(text);
    return;
  }
  const { head, tail } = unchanged(node.data, text);
  node.replaceData(head, node.length - head - tail, text.slice(head, text.length - tail));
}
