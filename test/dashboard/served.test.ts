import { test } from 'tap';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

/** What a browser that accepts brotli has to fetch, in bytes. The bar is 150 KB compressed. */
const MOST_BYTES = 150_000;

/** `fetch` decompresses; the header tells what came over the wire. */
async function load(address: string, encoding = 'br') {
  const response = await fetch(address, { headers: { 'accept-encoding': encoding } });
  return { response, text: await response.text(), bytes: Number(response.headers.get('content-length')) };
}

/** Adds the scripts that these scripts import before they run. */
async function withImports(addresses: readonly string[]): Promise<readonly string[]> {
  const all = new Set(addresses);
  for (const address of all) {
    if (!address.endsWith('.js')) continue;
    const { text } = await load(address);
    for (const [, path = ''] of text.matchAll(/(?:from|import)"(\.\/[\w-]+\.js)"/g))
      all.add(new URL(path, address).href);
  }
  return [...all];
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
    t.equal(addresses.length, 3, 'icon, style and script');
    t.ok(addresses.every((address) => address.startsWith(`${url}/dashboard/assets/`)));
  });

  t.test('and all its assets are smaller than 150 KB as they are sent', async (t) => {
    const files = await Promise.all(
      (await withImports([home, ...addresses])).map((address) => load(address)),
    );
    for (const { response, bytes } of files) {
      t.equal(response.headers.get('content-encoding'), 'br');
      t.ok(bytes > 0, 'its length is told');
    }
    t.ok(files.length > addresses.length + 1, 'its scripts import others');
    const sum = files.reduce((total, { bytes }) => total + bytes, 0);
    t.ok(sum < MOST_BYTES, `${sum} bytes`);
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
  });

  t.test('is at the addresses of its links too, and loads the same assets from there', async (t) => {
    for (const entry of ['sign-in', 'setup', 'invite', 'reset']) {
      const address = `${url}/dashboard/${entry}`;
      const { response, text } = await load(address);
      t.equal(response.status, 200, entry);
      t.equal(text, page.text);
      t.same(
        assetsIn(text).map((path) => new URL(path, address).href),
        addresses,
      );
      t.equal(response.headers.get('cache-control'), 'no-cache');
      t.equal(
        response.headers.get('content-security-policy'),
        page.response.headers.get('content-security-policy'),
      );
    }
    const slash = await fetch(`${url}/dashboard/sign-in/?error=x`, { redirect: 'manual' });
    t.equal(slash.status, 308);
    t.equal(
      slash.headers.get('location'),
      '../sign-in?error=x',
      'relative: a proxy may serve it below a path',
    );
    t.equal((await fetch(`${url}/dashboard/elsewhere`)).status, 404);
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
