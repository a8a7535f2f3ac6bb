// Runs before the first paint, so that a page that was set to dark does not flash.
// main.js changes the theme; without a choice the system decides.
(() => {
  try {
    const theme = localStorage.getItem('dragoman.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is switched off.
  }
})();
