// Saving a file.

import { element } from './dom.js';

/** How long the browser may take to save a file. */
const SAVE_MS = 60_000;

/** Has the browser save a blob under a name. */
export function download(blob, name) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVE_MS);
}
