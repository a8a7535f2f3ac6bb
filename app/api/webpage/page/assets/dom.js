// Elements of the document, whose changes cost the browser work.

import { unchanged } from './text.js';

/** Makes an element with properties and children. */
export function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

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
