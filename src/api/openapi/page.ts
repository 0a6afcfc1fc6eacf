import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui';

/** Tollgate's mark, as the dashboard has it (ui/mark.tsx). */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#1d5fa8"/><path d="M8 25V9m16 16V9M5.5 25h21" stroke="#fff" stroke-width="3" stroke-linecap="round"/><path d="M8 12.5h16" stroke="#ffd166" stroke-width="4"/></svg>';

/** Content security policy of /docs: everything comes from this gateway, so that the page works offline. */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ');

/**
 * Script of the page's frame: a bar that links back to the dashboard, the dashboard's light or dark theme (stored under
 * its component library's name), and the viewport that Swagger UI lacks. Without it phones show desktop width.
 */
const FRAME_SCRIPT = `const viewport = document.createElement('meta');
viewport.name = 'viewport';
viewport.content = 'width=device-width, initial-scale=1';
document.head.append(viewport);

const bar = document.createElement('header');
bar.className = 'tollgate-bar';
// Below the path at which a proxy serves the gateway.
const base = location.pathname.split('/docs')[0];
bar.innerHTML = '<a class="tollgate-brand" href="' + base + '/dashboard/">${MARK}Tollgate</a>'
  + '<a href="' + base + '/dashboard/">← Dashboard</a><a href="' + base + '/openapi.json">OpenAPI document</a>';
document.body.prepend(bar);

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
function showTheme() {
  const chosen = localStorage.getItem('mantine-color-scheme-value');
  const isDark = chosen === 'dark' || (chosen !== 'light' && systemIsDark.matches);
  document.documentElement.classList.toggle('dark-mode', isDark);
}
showTheme();
systemIsDark.addEventListener('change', showTheme);
addEventListener('storage', showTheme);

// Swagger UI puts a link into the button that opens an operation, skips levels of headings, and leaves fields and regions without names.
const ui = document.getElementById('swagger-ui');
function mend() {
  for (const part of ui.querySelectorAll('.information-container:not([role]), .scheme-container:not([role])')) {
    part.role = 'region';
    part.ariaLabel = part.matches('.scheme-container') ? 'Server and key' : 'About this API';
  }
  for (const link of ui.querySelectorAll('.opblock-summary-control a[href]')) link.removeAttribute('href');
  for (const title of ui.querySelectorAll('.opblock-tag:not([aria-level])')) title.ariaLevel = 2;
  for (const title of ui.querySelectorAll('h4:not([aria-level])')) title.ariaLevel = 3;
  for (const list of ui.querySelectorAll('select:not([aria-label])')) list.ariaLabel = list.id === 'servers' ? 'Server' : 'Example';
  for (const field of ui.querySelectorAll('textarea:not([aria-label])')) field.ariaLabel = 'Request body';
}
new MutationObserver(mend).observe(ui, { childList: true, subtree: true });
`;

/** Swagger UI in the colors of the dashboard. On a phone, tables scroll instead of the page, and long words break. */
const STYLE = `:root { --ground: #f4f6f8; --surface: #ffffff; --line: #d9dfe6; --text: #17202b; --muted: #536172; --accent: #1d5fa8; --fill: #1d5fa8 }
html.dark-mode { color-scheme: dark; --ground: #11161c; --surface: #1a212a; --line: #313c49; --text: #e7ecf2; --muted: #a3b0bf; --accent: #7db4f5; --fill: #2767ae }
body, html.dark-mode body, html.dark-mode .swagger-ui { background: var(--ground) }
.tollgate-bar { position: sticky; top: 0; z-index: 10; display: flex; align-items: center; gap: 20px; padding: 10px 24px; background: var(--surface); border-bottom: 1px solid var(--line); font: 15px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
.tollgate-bar a { color: var(--accent) }
.tollgate-bar .tollgate-brand { display: flex; align-items: center; gap: 10px; margin-right: auto; color: var(--text); font-size: 17px; font-weight: 650; text-decoration: none }
.tollgate-brand svg { width: 24px; height: 24px }
.swagger-ui, .swagger-ui .opblock-tag, .swagger-ui .info .title, .swagger-ui .btn, .swagger-ui .opblock .opblock-summary-description, .swagger-ui table thead tr th, .swagger-ui .info li, .swagger-ui .info p, .swagger-ui .info table { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
.swagger-ui .info .title, .swagger-ui .info h2, .swagger-ui .opblock-tag, .swagger-ui .info p, .swagger-ui .info li, .swagger-ui .renderedMarkdown p { color: var(--text) }
.swagger-ui .opblock-tag { border-bottom-color: var(--line) }
.swagger-ui .info a, .swagger-ui .renderedMarkdown a { color: var(--accent) }
.swagger-ui .scheme-container, html.dark-mode .swagger-ui .scheme-container { background: var(--surface); border-block: 1px solid var(--line); box-shadow: none; padding: 16px 0; margin-bottom: 16px }
.swagger-ui .btn.authorize, .swagger-ui .btn.execute { border-color: var(--fill) !important; background: var(--fill) !important; color: #fff !important; border-radius: 8px }
.swagger-ui .btn.authorize svg { fill: #fff !important }
.swagger-ui .info .title small, .swagger-ui .info .title small.version-stamp { background: var(--fill) }
.swagger-ui .opblock .opblock-summary-method { background: var(--method) !important; color: #fff !important }
.swagger-ui .opblock { --method: #1d5fa8 }
.swagger-ui .opblock-post { --method: #14704a }
.swagger-ui .opblock-patch { --method: #8a5300 }
.swagger-ui .opblock-delete { --method: #b3261e }
html.dark-mode .swagger-ui .header-col, html.dark-mode .swagger-ui .examples-select__section-label { color: var(--text) }
html.dark-mode .swagger-ui .try-out__btn.cancel { border-color: #ff9b9b !important; color: #ff9b9b !important }
.swagger-ui .wrapper { max-width: 80rem; padding: 0 24px }
.swagger-ui .info .title { font-size: 26px }
.swagger-ui .info code, .swagger-ui .renderedMarkdown code { color: var(--text); font-weight: 500 }
.swagger-ui .opblock { border-radius: 8px; box-shadow: none }
.swagger-ui .info { margin: 24px 0 }
.swagger-ui .response-col_links { display: none }
@media (max-width: 640px) {
  .tollgate-bar { gap: 12px; padding: 10px 12px }
  .tollgate-bar a:last-child { display: none }
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

/** Options of /docs: first view, style, allowed sources. */
export const DOCS_PAGE: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  staticCSP: POLICY,
  theme: {
    title: 'Tollgate API',
    js: [{ filename: 'frame.js', content: FRAME_SCRIPT }],
    favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: MARK }],
    css: [{ filename: 'tollgate.css', content: STYLE }],
  },
  uiConfig: {
    // Without the top bar of the standalone layout: the frame has one.
    layout: 'BaseLayout',
    docExpansion: 'list',
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // A key that was typed in is forgotten with the page, because the next person at this browser may be someone else.
    persistAuthorization: false,
  },
};
