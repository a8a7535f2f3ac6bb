'use strict';

SwaggerUIBundle({
  // /docs?all has the routes of drop-ins too.
  url: location.search === '?all' ? 'openapi-all.json' : 'openapi.json',
  dom_id: '#api',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // Schemas are where they are used; the list below is for looking them up.
  defaultModelsExpandDepth: 0,
  // The document goes to nobody, and keys stay in the memory of this page.
  validatorUrl: null,
  persistAuthorization: false,
});

// What Swagger UI makes, mended for those who cannot see it: names of its controls, one heading of the page, no link
// within a button, and what scrolls can be reached by keys.
const nameOf = (control) => {
  const row = control.closest('[data-param-name], [data-property-name]');
  if (control.id === 'servers') return 'Server';
  if (row) return row.dataset.paramName ?? row.dataset.propertyName;
  if (control.classList.contains('examples-select-element')) return 'Example';
  return control.closest('.opblock-section-request-body') ? 'Request body' : control.placeholder || 'Value';
};

const set = (element, name, value) => {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
};

function mend() {
  const all = (selector) => document.querySelectorAll(`#api ${selector}`);
  for (const control of all(':is(input, select, textarea)')) {
    const labelled = control.labels?.length > 0 && control.id !== 'servers'; // whose label is empty
    if (labelled || control.hasAttribute('aria-labelledby')) continue;
    if (!control.getAttribute('aria-label')) set(control, 'aria-label', nameOf(control));
  }
  for (const [selector, level] of [['.info .title', '1'], ['.opblock-tag', '2'], ['h4', '3'], ['h5', '4']]) {
    for (const heading of all(selector)) {
      set(heading, 'role', 'heading');
      set(heading, 'aria-level', level);
    }
  }
  for (const link of all('button a[href]')) link.removeAttribute('href'); // the button opens what the link would
  for (const table of all('[role=region][id]')) set(table, 'aria-label', table.id);
  for (const region of all(':is(pre, .highlight-code, .model-box, .table-container)')) set(region, 'tabindex', '0');
}

let frame = 0;
new MutationObserver(() => {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    mend();
  });
}).observe(document.getElementById('api'), { childList: true, subtree: true });
