import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui';

/** Everything that the page at /docs loads comes from this gateway: it works without the internet. */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ');

/** The page at /docs: what it shows first, and what it may load. */
export const DOCS_PAGE: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  staticCSP: POLICY,
  uiConfig: {
    docExpansion: 'list',
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // A key that was typed in is not kept: the next person at this browser is not its owner.
    persistAuthorization: false,
  },
};
