'use strict';

SwaggerUIBundle({
  url: 'openapi.json',
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
