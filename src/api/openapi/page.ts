import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui';

/**
 * Content security policy of the page at /docs: all of it comes from this gateway, so that it works without the
 * internet.
 */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ');

/** Script that adds a viewport, which Swagger UI's page lacks; phones would show the page at the width of a desktop. */
const PHONE_SCRIPT = `const viewport = document.createElement('meta');
viewport.name = 'viewport';
viewport.content = 'width=device-width, initial-scale=1';
document.head.append(viewport);
`;

/**
 * Changes of Swagger UI's style. The top bar has no field for the address of another document and keeps the switch
 * between light and dark. On a phone, tables scroll instead of the page, and long words break.
 */
const STYLE = `.swagger-ui .topbar .link, .swagger-ui .topbar .download-url-wrapper { display: none }
html.dark-mode body { background: #1c2022 }
.swagger-ui .topbar-wrapper { justify-content: flex-end }
.swagger-ui .info { margin: 24px 0 }
.swagger-ui .response-col_links { display: none }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 8px }
  .swagger-ui .opblock-body, .swagger-ui .responses-inner { overflow-x: auto }
  .swagger-ui .opblock .opblock-summary-method { min-width: 64px }
  .swagger-ui .opblock-summary-path { max-width: 100%; overflow-wrap: anywhere }
  .swagger-ui .opblock-summary-path-description-wrapper { flex-direction: column; align-items: flex-start; gap: 2px }
  .swagger-ui .opblock-tag { flex-wrap: wrap; font-size: 20px }
  .swagger-ui .opblock-tag small { padding: 0; flex-basis: 100% }
  .swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { overflow-wrap: anywhere }
  .swagger-ui .scheme-container .schemes .servers > label { margin-right: 0 }
}
`;

/** Options of the page at /docs: its first view, its style, and what it may load. */
export const DOCS_PAGE: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  staticCSP: POLICY,
  theme: {
    title: 'Tollgate API',
    js: [{ filename: 'phone.js', content: PHONE_SCRIPT }],
    css: [{ filename: 'tollgate.css', content: STYLE }],
  },
  uiConfig: {
    docExpansion: 'list',
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // A key that was typed in is forgotten with the page, because the next person at this browser may be someone else.
    persistAuthorization: false,
  },
};
