import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'tap';
import { Spool, SpoolFolder, Upload } from '../../src/gateway/request/spool/spool.ts';
import { apiOf } from '../helper/clients/api.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import {
  lastCharge,
  startGatewayInProcess,
  startOwnGateway,
  TEST_SERVER,
  testCatalog,
} from '../helper/start/gateway-in-process.ts';
import { startMediaGateway, withMedia } from '../helper/start/media-gateway.ts';

const LARGE = 'x'.repeat(1_500_000);
const chatBody = (more: object) => JSON.stringify({ model: 'flat', messages: [], ...more });

test('a body that cannot be kept is refused with 503, in both shapes, and costs nothing', async (t) => {
  const world = withMedia(await startOwnGateway(t, { behave: () => undefined }));
  const account = await world.account();
  // A file in place of the folder, because missing permissions would not stop root.
  const folder = join(world.config.dataDir, 'uploads');
  rmSync(folder, { recursive: true, force: true });
  writeFileSync(folder, '');
  const response = await world.post(account.key, '/v1/chat/completions', chatBody({ user: LARGE }));
  t.equal(response.status, 503);
  t.match(response.headers.get('retry-after'), /^[2-5]$/);
  t.match(await response.json(), {
    error: { code: 'service_unavailable', message: /^The gateway has no space/ },
  });
  const message = await world.post(
    account.key,
    '/v1/messages',
    JSON.stringify({ model: 'claude', messages: [], max_tokens: 1, x: LARGE }),
  );
  t.match(await message.json(), { type: 'error', error: { message: /^The gateway has no space/ } });
  t.equal(world.provider.requests.length, 0);
  t.match(await world.held(account), { held: 0 });
  t.equal(
    (await world.post(account.key, '/v1/chat/completions', chatBody({}))).status,
    200,
    'small ones pass',
  );
});

test('a full disk is named in the refusal', { skip: !existsSync('/dev/full') }, async (t) => {
  const spool = new Spool(await open('/dev/full', 'r+'));
  t.teardown(() => spool.close());
  await t.rejects(spool.append(Buffer.alloc(100)), {
    code: 'service_unavailable',
    cause: { code: 'ENOSPC' },
  });
});

test('a closed file can no longer be read, and an open one has no name', async (t) => {
  const folder = join(t.testdir({}), 'a', 'uploads');
  const spool = await new SpoolFolder(folder).create();
  await spool.append(Buffer.from('0123456789'));
  t.same(readdirSync(folder), []);
  t.equal((await spool.read(3, 100)).toString(), '3456789');
  await spool.close();
  await spool.close();
  await t.rejects(spool.read(0, 1), { code: 'invalid_request' });
});

test('an upload is the bytes that came, save for its edits', async (t) => {
  const folder = join(t.testdir({}), 'uploads');
  const spool = await new SpoolFolder(folder).create();
  t.teardown(() => spool.close());
  const bytes = Buffer.from('0123456789'.repeat(20_000));
  await spool.append(bytes);
  const gather = async (upload: Upload) => {
    const pieces: Buffer[] = [];
    for await (const piece of upload) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  t.ok((await gather(new Upload(spool))).equals(bytes));
  const edited = new Upload(spool).edited([
    { start: 70_000, end: 70_003, text: '€' },
    { start: 2, end: 2, text: 'new' },
  ]);
  const text = bytes.toString();
  const expected = `${text.slice(0, 2)}new${text.slice(2, 70_000)}€${text.slice(70_003)}`;
  t.equal((await gather(edited)).toString(), expected);
  t.equal(edited.size, Buffer.byteLength(expected));
});

test('a body over the limit gets 413 in both shapes, announced or not', async (t) => {
  const world = await startGatewayInProcess(t, {
    behave: () => undefined,
    config: { server: { ...TEST_SERVER, bodyLimitBytes: 2_000_000 } },
  });
  const { key } = await world.account();
  const over = chatBody({ user: 'x'.repeat(2_000_000) });
  for (const announced of [true, false]) {
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const { port } = new URL(world.url);
      const socket = connect(Number(port), '127.0.0.1');
      const head = announced
        ? `Content-Length: ${over.length}\r\n\r\n`
        : `Transfer-Encoding: chunked\r\n\r\n${over.length.toString(16)}\r\n`;
      socket.on('error', () => {});
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${head}`);
      // A body with a declared length is refused before any of it arrives, a chunked one as soon as too much has
      // arrived.
      if (!announced) socket.write(over);
      let answer = '';
      for await (const chunk of socket) answer += chunk;
      t.match(answer, /^HTTP\/1\.1 413 /);
      t.match(answer, /connection: close/i);
      t.match(answer, path === '/v1/messages' ? '"type":"request_too_large"' : '"code":"body_too_large"');
    }
  }
  t.equal(world.provider.requests.length, 0);
});

test('a key that was just deleted is refused as that, also where its body is over the limit', async (t) => {
  const world = await startGatewayInProcess(t, {
    behave: () => undefined,
    config: { server: { ...TEST_SERVER, bodyLimitBytes: 1_000_000 } },
  });
  const { key, keyId } = await world.account();
  t.equal((await world.chat(key)).status, 200, 'its record is cached');
  const other = await apiOf(world, key).delete(`/api/keys/${keyId}/`);
  t.equal(other.status, 200);
  const response = await world.chat(key, { user: 'x'.repeat(1_100_000) });
  t.equal(response.status, 401);
  t.match(await response.json(), { error: { code: 'inactive_api_key' } });
});

test('usage of a large call without a report is estimated from its file', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => ({ usage: false, text: 'one two' }) });
  const small = await world.account({ credits: 1_000_000 });
  const large = await world.account({ credits: 1_000_000 });
  const body = (copies: number) => ({
    model: 'tokens',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'every word of it counts, and none twice. '.repeat(copies) }],
  });
  t.equal((await world.chat(small.key, body(10_000))).status, 200);
  t.equal((await world.chat(large.key, body(100_000))).status, 200);
  const [few, many] = [await lastCharge(world, small.accountId), await lastCharge(world, large.accountId)];
  t.ok(few.estimated && many.estimated);
  const ratio = (many.usage.input ?? 0) / (few.usage.input ?? 1);
  t.ok(ratio > 9.5 && ratio < 10.5, `${ratio} times the tokens`);
});

test('so is one whose report no account could pay', async (t) => {
  const provider = await startScriptedProvider({
    behave: () => ({ usage: { prompt_tokens: 1, completion_tokens: 999_999_999 }, text: 'one two' }),
  });
  t.teardown(() => provider.close());
  const catalog = new Map(testCatalog(provider.url));
  const tokens = catalog.get('tokens');
  if (!tokens) return t.fail('no model');
  catalog.set('tokens', {
    ...tokens,
    price: creditPrice({ input: 1_000, cachedInput: 500, output: 1e9 }),
  });
  const world = await startGatewayInProcess(t, { provider, config: { catalog } });
  const { key, accountId } = await world.account({ credits: 1_000_000 });
  const messages = [{ role: 'user', content: 'word '.repeat(400_000) }];
  t.equal((await world.chat(key, { model: 'tokens', max_tokens: 10, messages })).status, 200);
  const { usage, estimated } = await lastCharge(world, accountId);
  t.ok(estimated && (usage.input ?? 0) > 300_000, `${usage.input} tokens`);
});

test('a large body is held as a small one is: text by its bytes, base64 by the image', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ credits: 5 });
  const image = (url: string) => ({
    model: 'tokens',
    max_tokens: 10,
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  t.equal((await world.chat(key, image(`data:image/png;base64,${'A'.repeat(3_000_000)}`))).status, 200);
  t.equal((await world.chat(key, image(`data:image/png;base64,${'A '.repeat(1_500_000)}`))).status, 402);
  t.equal((await world.chat(key, image(`https://example.com/${'a'.repeat(3_000_000)}`))).status, 402);
});

test('speech of a large text is charged by its characters', async (t) => {
  const world = await startMediaGateway(t, () => ({
    headers: { 'content-type': 'audio/mpeg' },
    body: 'sound',
  }));
  const account = await world.account({ credits: 10_000 });
  const input = '😀\\ud83d\\ude00é"'.replaceAll('"', '\\"').repeat(200_000);
  const response = await world.post(account.key, '/v1/audio/speech', `{"model":"voice","input":"${input}"}`);
  t.equal(response.status, 200);
  await response.arrayBuffer();
  t.equal((await world.charged(account)).usage.characters, 800_000);
});

test('an upstream that breaks off within an upload gives 502, and the file is freed', async (t) => {
  const upstream = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.destroy());
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  t.teardown(() => upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const world = await startGatewayInProcess(t, {
    config: { catalog: testCatalog(`http://127.0.0.1:${port}`) },
  });
  const account = await world.account();
  const response = await world.chat(account.key, { user: 'x'.repeat(20_000_000) });
  t.equal(response.status, 502);
  await world.settled();
  t.match(await world.ledger.ledger.account(account.accountId), { held: 0 });
});
