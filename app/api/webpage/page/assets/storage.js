// What the page remembers. Storage may be switched off or full; then it forgets.

/** Wraps a Storage, given by a function because access alone may throw. */
function remember(storage) {
  return {
    get(name) {
      try {
        return storage().getItem(`dragoman.${name}`);
      } catch {
        return null;
      }
    },
    set(name, value) {
      try {
        if (value === null) storage().removeItem(`dragoman.${name}`);
        else storage().setItem(`dragoman.${name}`, value);
      } catch {
        // Forgotten with the page.
      }
    },
  };
}

/** Outlives the tab: languages and theme. */
export const lasting = remember(() => localStorage);

/** Ends with the tab: the API key. */
export const session = remember(() => sessionStorage);
