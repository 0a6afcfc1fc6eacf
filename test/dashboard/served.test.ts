import type { Page, Request } from 'playwright-core';
import { test } from 'tap';
import { openDashboard } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

/** Most bytes that a browser loads for the sign-in page, and for the first page of whoever is signed in. */
const MOST_BYTES = { 'sign-in': 130_000, first: 250_000 } as const;

/** `fetch` decompresses; the header tells what came over the wire. */
async function load(address: string, encoding = 'br') {
  const response = await fetch(address, { headers: { 'accept-encoding': encoding } });
  return { response, text: await response.text(), bytes: Number(response.headers.get('content-length')) };
}

const assetsIn = (html: string) => [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);

test('the page', async (t) => {
  const { url } = await startOwnGateway(t);
  const home = `${url}/dashboard/`;
  const page = await load(home);
  const addresses = assetsIn(page.text).map((path) => new URL(path, home).href);

  t.test('is served with a policy that lets in nothing from elsewhere', async (t) => {
    t.equal(page.response.status, 200);
    t.match(page.response.headers.get('content-type'), /^text\/html/);
    t.equal(
      page.response.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    t.equal(page.response.headers.get('x-content-type-options'), 'nosniff');
    t.equal(page.response.headers.get('referrer-policy'), 'same-origin');
    t.equal(page.response.headers.get('cache-control'), 'no-cache');
  });

  t.test('has no script and no style within it', async (t) => {
    t.notMatch(page.text, /<script(?![^>]*\ssrc=)[^>]*>/, 'scripts are files');
    t.notMatch(page.text, /<style|\sstyle=|\son\w+=/, 'styles and handlers are files');
    t.equal(addresses.length, 4, 'icon, two styles and script');
    t.ok(addresses.every((address) => address.startsWith(`${url}/dashboard/assets/`)));
  });

  t.test('has assets that are kept for good, and are typed', async (t) => {
    for (const address of addresses) {
      const { response } = await load(address);
      t.match(response.headers.get('cache-control'), /immutable/);
      t.match(response.headers.get('content-type'), /javascript|css|svg/);
      t.equal(response.headers.get('x-content-type-options'), 'nosniff');
      t.match(response.headers.get('vary'), /accept-encoding/i);
    }
  });

  t.test('is sent uncompressed to a client that does not accept compression', async (t) => {
    for (const address of [home, ...addresses]) {
      const { response } = await load(address, 'identity');
      t.equal(response.status, 200);
      t.equal(response.headers.get('content-encoding'), null);
    }
  });

  t.test('is found without the slash at its end', async (t) => {
    const response = await fetch(`${url}/dashboard`, { redirect: 'manual' });
    t.equal(response.status, 308);
    t.equal(response.headers.get('location'), 'dashboard/', 'relative: a proxy may serve it below a path');
    const asked = await fetch(`${url}/dashboard?x=1&y=2`, { redirect: 'manual' });
    t.equal(asked.headers.get('location'), 'dashboard/?x=1&y=2', 'with its query');
  });

  t.test(
    'is at every path below, and loads the same assets from there, also below the path of a proxy',
    async (t) => {
      for (const path of [
        'sign-in',
        'setup',
        'invite',
        'reset',
        'me',
        'sign-in?error=email_taken',
        'a/12/home',
        'a/12/keys/7',
        'operator/accounts/3',
        'operator/models/gpt-4.1',
        'elsewhere',
        'a/%2F/x',
      ]) {
        const { response, text } = await load(`${url}/dashboard/${path}`);
        t.equal(response.status, 200, path);
        t.match(response.headers.get('content-type'), /^text\/html/);
        for (const prefix of ['', '/ai']) {
          const address = `${url}${prefix}/dashboard/${path}`;
          t.same(
            assetsIn(text).map((asset) => new URL(asset, address).href),
            addresses.map((asset) => asset.replace(url, `${url}${prefix}`)),
            address,
          );
        }
        for (const name of ['cache-control', 'content-security-policy', 'x-content-type-options'])
          t.equal(response.headers.get(name), page.response.headers.get(name), name);
        const head = await fetch(`${url}/dashboard/${path}`, { method: 'HEAD' });
        t.equal(head.status, 200, `HEAD ${path}`);
        t.equal(head.headers.get('content-length'), response.headers.get('content-length'));
      }
    },
  );

  t.test('has one address for each path: without a slash at its end', async (t) => {
    for (const [path, location] of [
      ['sign-in/?error=x', '../sign-in?error=x'],
      ['a/12/home/', '../home'],
    ] as const) {
      const response = await fetch(`${url}/dashboard/${path}`, { redirect: 'manual' });
      t.equal(response.status, 308, path);
      t.equal(response.headers.get('location'), location, 'relative: a proxy may serve it below a path');
    }
  });

  t.test('is not at paths of files, nor at endless ones', async (t) => {
    for (const path of ['main.js', 'index.html', 'a/1/x.js.br', 'assets/', 'a/'.repeat(8)])
      t.equal((await fetch(`${url}/dashboard/${path}x.css`)).status, 404, path);
    t.equal((await fetch(`${url}/dashboard/${'a/'.repeat(8)}a`)).status, 404);
    t.equal((await fetch(`${url}/dashboard/main.js`)).status, 404);
  });

  t.test('is where a browser is sent that asks for the bare address', async (t) => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const response = await fetch(`${url}/`, { headers: { accept }, redirect: 'manual' });
    t.equal(response.status, 302);
    t.equal(response.headers.get('location'), 'dashboard/', 'relative: a proxy may serve it below a path');
    t.equal(response.headers.get('vary'), 'accept');
  });

  t.test('is not in the way of other clients at the bare address', async (t) => {
    for (const accept of ['*/*', 'application/json']) {
      const response = await fetch(`${url}/`, { headers: { accept }, redirect: 'manual' });
      t.equal(response.status, 404, accept);
      t.match(await response.json(), { error: { code: 'unknown_endpoint' } });
    }
    const posted = await fetch(`${url}/`, {
      method: 'POST',
      headers: { accept: 'text/html' },
      redirect: 'manual',
    });
    t.equal(posted.status, 404, 'only to look');
  });

  t.test('lets nothing else of the disk be read', async (t) => {
    for (const path of [
      'main.js',
      'index.html',
      '..%2findex.html',
      '..%2f..%2fmain.js',
      '%2e%2e/main.js',
      'x.js.br',
    ]) {
      const { response, text } = await load(`${url}/dashboard/assets/${path}`);
      t.equal(response.status, 404, path);
      t.match(text, /unknown_endpoint/);
    }
  });
});

/** Resolves with the bytes of all bodies, as they are sent, that a browser loads with this address. */
async function weightOf(page: Page, address: string, isShown: () => Promise<unknown>): Promise<number> {
  const requests = new Map<string, Request>();
  const note = (request: Request) => requests.set(request.url(), request);
  page.on('requestfinished', note);
  await page.goto(address);
  await isShown();
  await page.waitForLoadState('networkidle');
  page.off('requestfinished', note);
  const sizes = await Promise.all([...requests.values()].map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Bytes of an answer. Those of one from the cache are what it had when it came. */
async function sizeOf(request: Request): Promise<number> {
  const length = (await request.response())?.headers()['content-length'];
  return length === undefined ? (await request.sizes()).responseBodySize : Number(length);
}

test('pages are light', async (t) => {
  const world = await startOwnGateway(t);
  const { key } = await world.account();
  await (await world.chat(key)).text();
  await world.settled();
  const { page, signIn } = await openDashboard(t, world);
  const signInBytes = await weightOf(page, `${world.url}/dashboard/sign-in`, () =>
    page.getByLabel('E-mail address').waitFor(),
  );
  t.ok(signInBytes > 50_000 && signInBytes < MOST_BYTES['sign-in'], `sign-in: ${signInBytes} bytes`);
  await signIn(key);
  const first = await weightOf(page, `${world.url}/dashboard/`, () =>
    page.getByRole('heading', { level: 1, name: 'Home' }).waitFor(),
  );
  t.ok(first > signInBytes && first < MOST_BYTES.first, `first page: ${first} bytes`);
});
