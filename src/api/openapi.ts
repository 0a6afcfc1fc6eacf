import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { DOCUMENT } from './docs/document.ts';
import { type Document, finish } from './docs/finish.ts';

/**
 * `/openapi.json` (OpenAPI 3.1), made from the schemas of the routes that are registered after it.
 *
 * It describes the app that it is registered on, not a scope of its own: the symbol is what Fastify asks of a plugin
 * that is not to be encapsulated.
 */
export function openapi(): FastifyPluginAsync {
  return Object.assign(describe, { [Symbol.for('skip-override')]: true });
}

async function describe(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: DOCUMENT as never,
    transform: ({ schema, url }: { schema: FastifySchema; url: string }) => ({ schema, url: named(url) }),
    transformObject: (made) =>
      finish(('openapiObject' in made ? made.openapiObject : {}) as unknown as Document) as never,
  });
  let text: string | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    // Made when it is first asked for: by then every route is there.
    text ??= JSON.stringify(app.swagger());
    return reply.type('application/json; charset=utf-8').send(text);
  });
}

/** Ids of models and of what providers make are called `id`, whatever the router calls them. */
function named(url: string): string {
  return url.startsWith('/v1/') ? url.replace(/\*$|:\w+/, ':id') : url;
}
