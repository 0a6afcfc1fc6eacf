import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { GatewayError } from '../domain/errors.ts';

/** Folder into which build-page.ts writes the page. The path is right from src/dashboard/ and from dist/dashboard/. */
const PAGE_FOLDER = fileURLToPath(new URL('../../dist/dashboard/page', import.meta.url));

/** Content security policy: scripts, styles and requests of this gateway only, and no frames around the page. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  // Not no-referrer: browsers send no Origin with a GET to the page's own origin, and a key with allowed_origins is
  // checked against the Referer then.
  'referrer-policy': 'same-origin',
} as const;

/** Paths below /dashboard/ that links to the page use: their secrets are in the fragment, which the hash routes need. */
const ENTRIES = ['sign-in', 'setup', 'invite', 'reset'];

/**
 * Routes of the dashboard's page (specification section 8) and its assets, which were compressed when they were built.
 * Browsers revalidate the page each time; assets have the hash of their content in their names and are cached for good.
 */
export function dashboardRoutes(folder = PAGE_FOLDER): FastifyPluginAsync {
  return async (app) => {
    await app.register(fastifyStatic, {
      root: folder,
      serve: false,
      preCompressed: true,
      cacheControl: false,
    });
    const page = (reply: FastifyReply) => {
      requireFile(
        `${folder}/index.html`,
        'The dashboard is not built. Run npm run build and restart the gateway.',
      );
      return head(reply, 'no-cache').sendFile('index.html');
    };
    // The router matches paths with and without a slash at the end; relative links within the page need one of them.
    app.get('/dashboard/', { schema: { hide: true } }, async (request, reply) => {
      if (request.url.split('?', 1)[0] === '/dashboard') return reply.redirect('dashboard/', 308);
      return page(reply);
    });
    for (const entry of ENTRIES) {
      app.get(`/dashboard/${entry}`, { schema: { hide: true } }, async (request, reply) => {
        const [path = '', query] = request.url.split('?', 2);
        if (!path.endsWith('/')) return page(reply);
        return reply.redirect(`../${entry}${query === undefined ? '' : `?${query}`}`, 308);
      });
    }
    app.get<{ Params: { file: string } }>(
      '/dashboard/assets/:file',
      { schema: { hide: true } },
      async (request, reply) => {
        const { file } = request.params;
        if (!/^[\w-]+\.(js|css|svg)$/.test(file)) throw noSuchFile();
        requireFile(`${folder}/assets/${file}`, NO_SUCH_FILE);
        return head(reply, 'public, max-age=31536000, immutable').sendFile(`assets/${file}`);
      },
    );
  };
}

const NO_SUCH_FILE = 'This dashboard file does not exist. Reload /dashboard/.';

function noSuchFile(message = NO_SUCH_FILE): GatewayError {
  return new GatewayError('unknown_endpoint', message);
}

function requireFile(path: string, message: string): void {
  if (!existsSync(path)) throw noSuchFile(message);
}

function head(reply: FastifyReply, cacheControl: string): FastifyReply {
  return reply.headers(HEADERS).header('cache-control', cacheControl);
}
