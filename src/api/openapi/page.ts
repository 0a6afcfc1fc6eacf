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

/** Options of /docs: Swagger UI as it is, but for its name, the sources it may load from and its first view. */
export const DOCS_PAGE: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  staticCSP: POLICY,
  uiHooks: {
    onRequest: (request, reply, done) => {
      const [path, query] = request.url.split('?');
      if (path !== '/docs') return done();
      // Its files are relative to the path with the slash, also where a proxy serves it below a path of its own.
      reply.redirect(query === undefined ? 'docs/' : `docs/?${query}`, 308);
    },
  },
  theme: {
    title: 'Tollgate API',
    favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: MARK }],
  },
  uiConfig: {
    layout: 'BaseLayout',
    docExpansion: 'list',
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // A key that was typed in is forgotten with the page, because the next person at this browser may be someone else.
    persistAuthorization: false,
  },
};
