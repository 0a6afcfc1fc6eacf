import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
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

/** The longest path of a page has five parts. */
const MOST_DEPTH = 8;
/** End of a file's name, as opposed to a version (`gpt-4.1`). */
const FILE_ENDING = /\.[a-z][a-z0-9]*$/i;

/**
 * Routes of the dashboard's page (specification section 8) and its assets, which were compressed when they were built.
 * Every path below /dashboard/ is the page, which decides by the path what it shows. Browsers fetch the page each time;
 * assets have the hash of their content in their names and are cached for good.
 */
export function dashboardRoutes(folder = PAGE_FOLDER): FastifyPluginAsync {
  return async (app) => {
    await app.register(fastifyStatic, {
      root: folder,
      serve: false,
      preCompressed: true,
      cacheControl: false,
    });
    app.get('/dashboard/', { schema: { hide: true } }, async (request, reply) => {
      if (request.url.split('?', 1)[0] === '/dashboard')
        return reply.redirect(`dashboard/${queryOf(request)}`, 308);
      return await sendPage(folder, reply, 0);
    });
    app.get('/dashboard/*', { schema: { hide: true } }, async (request, reply) => {
      const parts = partsOf(request);
      const last = parts.at(-1) ?? '';
      // The router takes a path with and without a slash at its end; addresses within the page need one of them.
      if (last === '') return reply.redirect(`../${parts.at(-2)}${queryOf(request)}`, 308);
      if (FILE_ENDING.test(last) || parts.length > MOST_DEPTH) throw noSuchFile();
      return await sendPage(folder, reply, parts.length - 1);
    });
    app.get<{ Params: { file: string } }>(
      '/dashboard/assets/:file',
      { schema: { hide: true } },
      async (request, reply) => {
        const { file } = request.params;
        if (!/^[\w-]+\.(js|css|svg)$/.test(file)) throw noSuchFile();
        requireFile(`${folder}/assets/${file}`);
        return head(reply, 'public, max-age=31536000, immutable').sendFile(`assets/${file}`);
      },
    );
  };
}

/**
 * Sends the page for a path of this depth below /dashboard/. Addresses of assets in it are relative, because a proxy may
 * serve the gateway below a path of its own. It is less than 1 KB, so it isn't compressed.
 */
async function sendPage(folder: string, reply: FastifyReply, depth: number): Promise<FastifyReply> {
  const html = await readFile(`${folder}/index.html`, 'utf8').catch(() => {
    throw noSuchFile('The dashboard is not built. Run npm run build and restart the gateway.');
  });
  const page = html.replaceAll('="assets/', `="${'../'.repeat(depth)}assets/`);
  return head(reply, 'no-cache').type('text/html; charset=utf-8').send(page);
}

/** Parts of a path below /dashboard/, as the browser counts them. */
function partsOf({ url }: FastifyRequest): readonly string[] {
  const [path = ''] = url.split('?', 1);
  return path.slice('/dashboard/'.length).split('/');
}

function queryOf({ url }: FastifyRequest): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at);
}

const NO_SUCH_FILE = 'This dashboard file does not exist. Reload /dashboard/.';

function noSuchFile(message = NO_SUCH_FILE): GatewayError {
  return new GatewayError('unknown_endpoint', message);
}

function requireFile(path: string): void {
  if (!existsSync(path)) throw noSuchFile();
}

function head(reply: FastifyReply, cacheControl: string): FastifyReply {
  return reply.headers(HEADERS).header('cache-control', cacheControl);
}
