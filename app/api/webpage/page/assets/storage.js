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
    /** Remembers a value, or with null none; tells whether that was possible. What does not fit is forgotten, and what was there before. */
    set(name, value) {
      try {
        storage().removeItem(`dragoman.${name}`);
        if (value !== null) storage().setItem(`dragoman.${name}`, value);
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** Outlives the tab: languages, theme and history. */
export const lasting = remember(() => localStorage);

/** Ends with the tab: the API key and the text. */
export const session = remember(() => sessionStorage);
