import t from 'tap';
import { startWorld } from '../helper/world.ts';

const world = await startWorld(t);

interface Operation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Record<string, { readonly description: string }>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly securitySchemes: Record<string, unknown> };
}

const response = await fetch(`${world.url}/openapi.json`);
const document = (await response.json()) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    operation,
  })),
);

t.test('the document is OpenAPI 3.1 in JSON', async (t) => {
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  t.match(document.openapi, /^3\.1\./);
  t.match(document.info, { title: 'Tollgate', version: /^\d+\.\d+\.\d+/ });
});

t.test('it lists every route', async (t) => {
  const routes = [
    'GET /api/keys/',
    'POST /api/keys/',
    'PATCH /api/keys/{key_id}/',
    'DELETE /api/keys/{key_id}/',
    'POST /api/keys/{key_id}/explain/',
    'GET /api/account/',
    'PATCH /api/account/',
    'GET /api/account/ledger/',
    'GET /api/account/usage/',
    'GET /api/account/alerts/',
    'POST /api/account/alerts/test/',
    'GET /api/admin/accounts/',
    'POST /api/admin/accounts/',
    'GET /api/admin/accounts/{account_id}/',
    'PATCH /api/admin/accounts/{account_id}/',
    'POST /api/admin/accounts/{account_id}/credits/',
    'GET /api/admin/accounts/{account_id}/keys/',
    'POST /api/admin/accounts/{account_id}/keys/',
    'DELETE /api/admin/accounts/{account_id}/keys/{key_id}/',
    'GET /healthz',
    'GET /readyz',
    'GET /metrics',
    'POST /v1/chat/completions',
    'GET /v1/models',
    'GET /v1/models/{id}',
  ];
  const listed = operations.map(({ name }) => name);
  for (const route of routes) t.ok(listed.includes(route), route);
});

t.test('every operation says what it is for, where it belongs and what it answers', async (t) => {
  for (const { name, operation } of operations) {
    t.ok(operation.summary, `${name}: summary`);
    t.equal(operation.tags?.length, 1, `${name}: tag`);
    t.ok(
      Object.values(operation.responses).every(({ description }) => description),
      `${name}: responses`,
    );
  }
});

t.test('every path parameter is declared, and every security scheme exists', async (t) => {
  for (const { name, path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    t.same(
      declared.map((parameter) => parameter.name),
      inPath,
      name,
    );
    for (const scheme of (operation.security ?? []).flatMap((needed) => Object.keys(needed))) {
      t.ok(scheme in document.components.securitySchemes, `${name}: ${scheme}`);
    }
  }
});

t.test('every $ref leads somewhere', async (t) => {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '');
  for (const ref of refs) {
    const target = ref
      .split('/')
      .reduce<unknown>((node, step) => (node as Record<string, unknown>)?.[step], document);
    t.ok(target, ref);
  }
  t.pass(`${refs.length} references`);
});

t.test('the page at /docs loads nothing from elsewhere', async (t) => {
  for (const path of ['/docs', '/docs/']) {
    const page = await fetch(`${world.url}${path}`);
    t.equal(page.status, 200, path);
    t.match(page.headers.get('content-type'), 'text/html');
    t.match(page.headers.get('content-security-policy'), "default-src 'self'");
    const html = await page.text();
    t.notMatch(html, /(?:src|href)="https?:/);
    t.notMatch(html, /<script(?![^>]*\ssrc=)/, 'no inline script, which the policy would stop');
    for (const [, link = ''] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const asset = await fetch(new URL(link, page.url));
      t.equal(asset.status, 200, link);
      await asset.arrayBuffer();
    }
  }
});
