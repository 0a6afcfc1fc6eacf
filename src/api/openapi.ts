import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify';
import { DOCUMENT } from './docs/document.ts';
import { type Document, finish } from './docs/finish.ts';

/**
 * Plugin that serves `/openapi.json` (OpenAPI 3.1), made from the schemas of the routes that are registered after it.
 * The symbol tells Fastify not to encapsulate the plugin, because it describes the app that it is registered on.
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
    // Made at the first request, because by then every route is registered.
    text ??= JSON.stringify(app.swagger());
    return reply.type('application/json; charset=utf-8').send(text);
  });
}

/** Path of a route as the document has it, where ids of models and of provider resources are called `id`. */
function named(url: string): string {
  return url.startsWith('/v1/') ? url.replace(/\*$|:\w+/, ':id') : url;
}
