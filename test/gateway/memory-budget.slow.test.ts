import { Agent, request } from 'node:http';
import t from 'tap';
import { until } from '../helper/check/until.ts';
import { openRaw, type RawAnswer, type RawConnection } from '../helper/clients/raw-http.ts';
import type { Behave } from '../helper/stand-ins/scripted-provider.ts';
import {
  ADMIN_TOKEN,
  startGatewayInProcess,
  TEST_SERVER,
  testConfig,
} from '../helper/start/gateway-in-process.ts';

const MIB = 1024 * 1024;
const KIB = 1024;
const { limits } = testConfig('', '');

/** Lets the provider answer what it keeps waiting; each test sets its own. */
let gate = Promise.withResolvers<void>();
const behave: Behave = async ({ body }) => {
  const text = body.toString();
  if (text.includes('wait')) await gate.promise;
  if (text.includes('long stream')) return { headers: { 'content-type': 'text/event-stream' }, body: LONG };
  if (!text.includes('long answer')) return undefined;
  const waits = text.includes('held') ? { waitAfter: { pieces: 2, until: gate.promise } } : {};
  return { headers: { 'content-type': 'application/json' }, body: LONG_ANSWER, ...waits };
};

/** A little shorter than the longest answer that is held. */
const LONG_ANSWER = [
  '{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",',
  `"content":"${'x'.repeat(MIB - 200)}`,
  '"}}]}',
];

/** A stream that is longer than what the kernel buffers for a client that does not read. */
const EVENT = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(60_000)}"}}]}\n\n`;
const LONG = [
  ...Array.from({ length: 170 }, () => EVENT),
  'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":11}}\n\n',
  'data: [DONE]\n\n',
];

/**
 * Of 64 MiB, calls may take 22 MiB together, 11 MiB of one account, and held answers 7.6 MiB and 3.8 MiB. Of an account
 * 28 clients may leave answers unread. 2,048 connections, 1,792 of one address.
 */
const small = await startGatewayInProcess(t, {
  behave,
  config: {
    // However slow the machine is, no connection is closed for sending too slowly, and no answer is given up.
    limits: {
      ...limits,
      memoryMb: 256,
      readOnMs: 600_000,
      idleTimeoutMs: 600_000,
      requestTimeoutMs: 600_000,
    },
    server: { ...TEST_SERVER, headTimeoutMs: 3_600_000, bodyTimeoutMs: 7_200_000 },
  },
});
/** Bodies under way may take 64 MiB, 32 MiB of one account. */
const full = await startGatewayInProcess(t, { behave, config: { limits: { ...limits, memoryMb: 1_024 } } });
type World = typeof small;

async function metric(world: World, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const text = await (await fetch(`${world.url}/metrics`, { headers })).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}
const bytesOf = (world: World, pool: string) => metric(world, `tollgate_pool_bytes{pool="${pool}"}`);

function headOf(key: string, length: string): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${length}\r\n`;
}

function bodyOf(size: number, text = ''): string {
  const body = JSON.stringify({ model: 'flat', messages: [{ role: 'user', content: text }], user: '' });
  return body.replace('"user":""', `"user":"${'x'.repeat(size - body.length)}"`);
}

/** Begins an upload of one chunk or of known length, and sends all but its last byte. */
function begin(world: World, key: string, body: string, isChunked = false): RawConnection {
  const connection = openRaw(world.url);
  const [most, last] = [body.slice(0, -1), body.slice(-1)];
  connection.send(
    isChunked
      ? `${headOf(key, 'Transfer-Encoding: chunked\r\n')}${most.length.toString(16)}\r\n${most}`
      : `${headOf(key, `Content-Length: ${body.length}\r\n`)}${most}`,
  );
  connection.send = () => void connection.socket.write(isChunked ? `\r\n1\r\n${last}\r\n0\r\n\r\n` : last);
  return connection;
}

t.test('uploads below the spool stood in memory without a bound of their number', async (t) => {
  const { key } = await full.account();
  const body = bodyOf(1.2 * MIB);
  const uploads = Array.from({ length: 40 }, (_, index) => begin(full, key, body, index % 4 === 3));
  await until('all are under way', async () => {
    const spooled = await metric(full, 'tollgate_spooled_bodies');
    return spooled >= 10 && (await bytesOf(full, 'calls')) > 40 * 64 * KIB;
  });
  t.ok((await bytesOf(full, 'bodies')) <= 32 * MIB, 'no account has more than 32 MiB of them in memory');
  t.ok((await bytesOf(full, 'calls')) < 32 * MIB + 40 * 160 * KIB + 128 * KIB);
  const other = await full.account();
  const answer = await full.chat(other.key, { user: 'x'.repeat(MIB) });
  t.equal(answer.status, 200, 'another account has room of its own');
  const answers = uploads.map(async (upload) => {
    upload.send('');
    return (await upload.next())?.status;
  });
  t.same(new Set(await Promise.all(answers)), new Set([200]), 'and all that were begun are whole');
  for (const { socket } of uploads) socket.destroy();
  await until('all is given back', async () => (await bytesOf(full, 'calls')) === 0);
  t.equal(await bytesOf(full, 'bodies'), 0);
});

t.test('uploads that their clients break off leave nothing', async (t) => {
  const { key } = await full.account();
  const body = bodyOf(1.2 * MIB);
  const uploads = Array.from({ length: 40 }, (_, index) => begin(full, key, body, index % 2 === 0));
  await until('some are in files', async () => (await metric(full, 'tollgate_spooled_bodies')) >= 10);
  for (const { socket } of uploads) socket.destroy();
  await until('all is given back', async () => (await bytesOf(full, 'calls')) === 0);
  t.equal(await bytesOf(full, 'bodies'), 0);
  await until('and the files', async () => (await metric(full, 'tollgate_spooled_bodies')) === 0);
});

t.test('any number of calls in flight kept their bodies', async (t) => {
  gate = Promise.withResolvers();
  const { key } = await small.account();
  const other = await small.account();
  const calls = Array.from({ length: 120 }, () => small.chat(key, { user: `wait ${'x'.repeat(100 * KIB)}` }));
  const statuses = Promise.all(calls.map(async (call) => (await call).status));
  const first = await Promise.race(calls);
  t.equal(first.status, 503, 'the account has its share');
  t.match(await first.json(), { error: { code: 'service_unavailable', message: /no memory/ } });
  t.ok(Number(first.headers.get('retry-after')) >= 1);
  t.equal((await small.chat(other.key)).status, 200, 'and others have theirs');
  t.ok((await bytesOf(small, 'calls')) <= 11.3 * MIB);
  gate.resolve();
  const ended = await statuses;
  const served = ended.filter((status) => status === 200).length;
  t.ok(served >= 50, `${served} were served`);
  t.equal(served + ended.filter((status) => status === 503).length, 120);
  await until('all is given back', async () => (await bytesOf(small, 'calls')) === 0);
});

t.test('an answer is passed on as it comes where there is no memory to hold it', async (t) => {
  gate = Promise.withResolvers();
  const owner = await small.account();
  const held = Array.from({ length: 3 }, () => small.chat(owner.key, { user: 'long answer, held' }));
  await until('the share is full', async () => (await bytesOf(small, 'held')) > 3 * (MIB - 300));
  const answer = await small.chat(owner.key, { user: 'long answer' });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('x-tollgate-charge'), null, 'its charge is not known at its head');
  t.ok((await answer.text()).length > MIB - 300);
  t.ok((await bytesOf(small, 'held')) <= 4 * MIB);
  gate.resolve();
  for (const each of await Promise.all(held)) {
    t.equal(each.headers.get('x-tollgate-charge'), '1.000000', 'what was held has its charge');
    t.ok((await each.text()).length > MIB - 300);
  }
  await small.settled();
  const entries = await small.book.ledger({ accountId: owner.accountId, limit: 10 });
  const charges = entries.filter(({ type }) => type === 'charge');
  t.same(
    charges.map(({ outcome, credits }) => [outcome, credits]),
    Array.from({ length: 4 }, () => ['complete', -1_000_000]),
    'each is charged once',
  );
  await until('all is given back', async () => (await bytesOf(small, 'held')) === 0);
});

t.test('a stream counted as little as a call that is not streamed', async (t) => {
  const { key } = await small.account();
  gate = Promise.withResolvers<void>();
  const before = await bytesOf(small, 'calls');
  const answers = [false, true].map((stream) => small.chat(key, { user: 'wait', stream }));
  await until(
    'a call of 32 KiB and one of 128 KiB',
    async () => (await bytesOf(small, 'calls')) - before >= 160 * KIB,
  );
  t.ok((await bytesOf(small, 'calls')) - before < 164 * KIB, 'beside bodies of 400 bytes');
  gate.resolve();
  for (const answer of answers) await (await answer).text();
  await until('all is given back', async () => (await bytesOf(small, 'calls')) === before);
});

t.test('any number of clients left streams unread, and each is charged by its report', async (t) => {
  const { accountId, key } = await small.account();
  const body = bodyOf(400, 'long stream').replace('"model"', '"stream":true,"model"');
  const unread = Array.from({ length: 50 }, () => {
    const { socket } = openRaw(small.url);
    socket.pause();
    socket.write(`${headOf(key, `Content-Length: ${body.length}\r\n`)}${body}`);
    return socket;
  });
  await until(
    'those beyond the share are broken off',
    async () => (await metric(small, 'tollgate_pool_refused_total{pool="unread"}')) === 22,
  );
  t.equal(await metric(small, 'tollgate_pool_places{pool="unread"}'), 28);
  for (const socket of unread) socket.destroy();
  await until(
    'all is given back',
    async () => (await metric(small, 'tollgate_pool_places{pool="unread"}')) === 0,
  );
  const charges = async () => {
    await small.settled();
    const entries = await small.book.ledger({ accountId, limit: 100 });
    return entries.filter(({ type }) => type === 'charge');
  };
  await until('those that were broken off are read on, too', async () => (await charges()).length === 50);
  for (const { usage } of await charges()) t.match(usage, { input: 7, output: 11 });
});

t.test('any number of connections were held, and those of one address kept out all others', async (t) => {
  const { key } = await small.account();
  const connections = Array.from({ length: 2_000 }, () => openRaw(small.url));
  const answers: (RawAnswer | undefined)[] = [];
  for (const connection of connections) void connection.next().then((answer) => answers.push(answer));
  await until('all beyond 1,792 are answered', () => answers.length >= 208);
  for (const answer of answers) t.match(answer, { status: 503, body: /too many open connections/ });
  // Only Linux has all of 127.0.0.0/8.
  if (process.platform === 'linux') {
    const agent = new Agent({ localAddress: '127.0.0.2' });
    t.equal(await chatOver(agent, small.url, key), 200, 'another address has room');
    agent.destroy();
  }
  for (const { socket } of connections) socket.destroy();
  await until('there is room again', async () => (await small.chat(key)).status === 200);
});

/** The status of a chat call over an agent's connections. */
function chatOver(agent: Agent, url: string, key: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    })
      .on('error', reject)
      .end(bodyOf(400, 'hello'));
  });
}
