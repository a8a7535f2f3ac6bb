// The page's address, which links fill in: ?source=de&target=en&q=text or #de/en/text.

const NAMES = { from: 'source', to: 'target', text: 'q' };

/** Decodes a part of an address. A percent sign that stands for itself stays, as in a text that was put into the address as it is. */
function decode(part) {
  return part.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}

/** What the address asks for: {from, to, text}, each '' where it says nothing. */
export function readAddress() {
  const query = new URLSearchParams(location.search);
  const [, ...parts] = /^#([^/]+)\/([^/]+)(?:\/([^]*))?$/.exec(location.hash) ?? [];
  const asked = Object.entries(NAMES).map(([name, parameter], i) => [name, query.get(parameter) || decode(parts[i] ?? '')]);
  return Object.fromEntries(asked);
}

/** Leaves two languages in the address, and no text: the page may be reloaded after the text has changed. */
export function writeAddress(from, to) {
  const address = new URL(location.href);
  const names = Object.values(NAMES).filter((name) => address.searchParams.has(name));
  for (const name of names) address.searchParams.delete(name);
  address.hash = `${from}/${to}`;
  if (address.href !== location.href) history.replaceState(null, '', address);
}
