import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import t from 'tap';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const { key } = await world.account();
for (const name of ['one', 'two', 'three', 'four']) {
  await (await world.api('POST', '/api/keys/', key, { name })).text();
}
await (await world.chat(key)).text();
await world.settled();

/** Without the decoding of `fetch`. */
async function ask(path: string, accepted: string | undefined, method = 'GET', token = key) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(accepted === undefined ? {} : { 'accept-encoding': accepted }),
  };
  const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>();
  request(`${world.url}${path}`, { method, headers }, resolve).on('error', reject).end();
  const answer = await promise;
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync } as const;

t.test('a list is compressed as the client accepts it, and is the same', async (t) => {
  const plain = await ask('/api/keys/', undefined);
  t.equal(plain.headers['content-encoding'], undefined);
  for (const [coding, decode] of Object.entries(DECODERS)) {
    const { headers, body } = await ask('/api/keys/', coding);
    t.match(headers, { 'content-encoding': coding, vary: /accept-encoding/i, 'cache-control': 'no-store' });
    t.ok(body.length < plain.body.length / 2, coding);
    t.same(JSON.parse(decode(body).toString()), JSON.parse(plain.body.toString()));
  }
  t.equal((await ask('/api/keys/', 'gzip, br, zstd')).headers['content-encoding'], 'br');
  for (const accepted of ['identity', 'br;q=0, gzip;q=0', 'compress']) {
    const { status, headers, body } = await ask('/api/keys/', accepted);
    t.same([status, headers['content-encoding'], body], [200, undefined, plain.body], accepted);
  }
});

t.test('a whole answer and an operator’s are compressed; a small one and an error are not', async (t) => {
  const operator = await ask('/api/admin/models/', 'gzip', 'GET', ADMIN_TOKEN);
  t.equal(operator.headers['content-encoding'], 'gzip');
  t.equal(Number(operator.headers['content-length']), operator.body.length);
  t.ok(JSON.parse(gunzipSync(operator.body).toString()).models.length > 0);
  for (const path of ['/api/account/', '/api/keys/999/']) {
    const { headers, body } = await ask(path, 'br, gzip');
    t.equal(headers['content-encoding'], undefined, path);
    t.equal(Number(headers['content-length']), body.length, path);
  }
});

t.test('exports come as they are', async (t) => {
  for (const format of ['csv', 'jsonl']) {
    const path = `/api/account/ledger/?format=${format}`;
    const plain = await ask(path, undefined);
    const { headers, body } = await ask(path, 'br, gzip');
    t.equal(headers['content-encoding'], undefined, format);
    t.same(body, plain.body, format);
    t.ok(body.length > 0);
  }
});

t.test('HEAD, and what is no answer of the API, is never compressed', async (t) => {
  const head = await ask('/api/keys/', 'br, gzip', 'HEAD');
  t.same([head.status, head.headers['content-encoding'], head.body.length], [200, undefined, 0]);
  for (const path of ['/v1/models', '/openapi.json', '/metrics']) {
    const token = path === '/metrics' ? ADMIN_TOKEN : key;
    const { status, headers } = await ask(path, 'br, gzip', 'GET', token);
    t.same([status, headers['content-encoding']], [200, undefined], path);
  }
});
