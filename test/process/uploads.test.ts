import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { type GatewayProcess, makePlace, type Place, startGateway } from '../helper/gateway-process.ts';
import { startHashingUpstream } from '../helper/hashing-upstream.ts';
import {
  audioForm,
  begin,
  type LargeBody,
  lengthOf,
  pictureChat,
  sha256Of,
  wordyChat,
} from '../helper/large-body.ts';
import { makeOwner } from '../helper/owner.ts';
import { until } from '../helper/until.ts';

const MIB = 2 ** 20;
const CHAT = '/v1/chat/completions';
const AUDIO = '/v1/audio/transcriptions';
const MODELS = `  ears: { upstream: test, category: stt, price: { request: 0.001 } }
  ears-renamed: { upstream: test, upstreamModel: other-ears, category: stt, price: { request: 0.001 } }
  sees: { upstream: test, category: text, maxOutputTokens: 10, price: { request: 0.001 } }
  renamed: { upstream: test, upstreamModel: other, category: text, maxOutputTokens: 10, price: { request: 0.001 } }
`;

async function start(t: Test, more = '') {
  const upstream = await startHashingUpstream(t);
  const place = makePlace(t, upstream.url, {}, MODELS + more);
  const gateway = await startGateway(t, place);
  const { key } = await makeOwner(gateway, 1_000);
  return { upstream, place, gateway, key };
}

/** Megabytes of memory: the most there were since they were last asked for, or those there are. */
function megabytes({ pid }: GatewayProcess, which: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(new RegExp(`^${which}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  // 5: the peak is now.
  if (which === 'VmHWM') writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return kilobytes / 1024;
}

/** Files of uploads that the gateway has open, and those that can be seen in its folder. */
function uploadsOf({ pid }: GatewayProcess, { dataDir }: Place): { open: number; seen: number } {
  const folder = join(dataDir, 'uploads');
  const fds = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return { open: fds.filter((path) => path.startsWith(folder)).length, seen: readdirSync(folder).length };
}

const isLinux = process.platform === 'linux';

test('50 MB arrive byte for byte', { skip: !isLinux }, async (t) => {
  const { upstream, gateway, place, key } = await start(t);
  const size = 49.9 * MIB;
  const renamed = pictureChat('renamed', size);
  for (const [path, body, expected] of [
    [AUDIO, audioForm('ears', size), audioForm('ears', size)],
    [AUDIO, audioForm('ears-renamed', size), audioForm('other-ears', size)],
    [CHAT, pictureChat('sees', size), pictureChat('sees', size)],
    [CHAT, renamed, { ...renamed, tail: pictureChat('other', size).tail }],
    [CHAT, wordyChat('sees', size), wordyChat('sees', size)],
  ] as const) {
    t.equal(await (await begin(gateway.url, key, path, body)).finish(), 200);
    const bytes = lengthOf(expected);
    t.same(upstream.received.at(-1), { contentLength: String(bytes), bytes, sha256: sha256Of(expected) });
  }
  await until('the files to be closed', () => uploadsOf(gateway, place).open === 0);
  t.equal(uploadsOf(gateway, place).seen, 0);
});

test('a body is not in memory: 400 MB take no more than 50 MB do', { skip: !isLinux }, async (t) => {
  const { gateway, key } = await start(t, 'server: { bodyLimitMb: 500 }');
  const send = async (path: string, body: LargeBody) => (await begin(gateway.url, key, path, body)).finish();
  t.equal(await send(AUDIO, audioForm('ears', 2 * MIB)), 200);
  t.equal(await send(CHAT, pictureChat('sees', 2 * MIB)), 200);
  const before = megabytes(gateway, 'VmRSS');
  megabytes(gateway, 'VmHWM');
  for (const [path, body] of [
    [AUDIO, audioForm('ears', 400 * MIB)],
    [CHAT, pictureChat('sees', 400 * MIB)],
  ] as const) {
    t.equal(await send(path, body), 200);
    const grown = megabytes(gateway, 'VmHWM') - before;
    t.comment(`${path}: grew by ${grown.toFixed(0)} MB`);
    // Measured: 70 to 125, buffers that Node has not given back yet.
    t.ok(grown < 250, `grew by ${grown.toFixed(0)} MB`);
  }
});

test('memory is bounded under 200 uploads of 5 MB at once', { skip: !isLinux }, async (t) => {
  const { upstream, gateway, place, key } = await start(t);
  const kinds = [
    { path: AUDIO, body: audioForm('ears', 5 * MIB), count: 120 },
    { path: CHAT, body: pictureChat('sees', 5 * MIB), count: 60 },
    { path: CHAT, body: wordyChat('sees', 5 * MIB), count: 20 },
  ];
  await (await begin(gateway.url, key, AUDIO, audioForm('ears', 2 * MIB))).finish();
  upstream.received.length = 0;
  const before = megabytes(gateway, 'VmRSS');
  megabytes(gateway, 'VmHWM');
  const begun = await Promise.all(
    kinds.flatMap(({ path, body, count }) =>
      Array.from({ length: count }, () => begin(gateway.url, key, path, body)),
    ),
  );
  await until('all to be under way', () => uploadsOf(gateway, place).open === 200, 60_000);
  const statuses = await Promise.all(begun.map((call) => call.finish()));
  t.ok(statuses.every((status) => status === 200));
  for (const { body, count } of kinds) {
    const sha256 = sha256Of(body);
    t.equal(upstream.received.filter((one) => one.sha256 === sha256).length, count);
  }
  const grown = megabytes(gateway, 'VmHWM') - before;
  t.comment(`grew by ${grown.toFixed(0)} MB`);
  // Measured: 150 to 330. In memory, the bodies alone would be 1,000 MB.
  t.ok(grown < 500, `grew by ${grown.toFixed(0)} MB`);
  await until('the files to be closed', () => uploadsOf(gateway, place).open === 0);
  t.equal(uploadsOf(gateway, place).seen, 0);
});

test('clients that leave within their uploads leave nothing behind', { skip: !isLinux }, async (t) => {
  const { upstream, gateway, place, key } = await start(t);
  for (const [path, body] of [
    [AUDIO, audioForm('ears', 3 * MIB)],
    [CHAT, pictureChat('sees', 3 * MIB)],
  ] as const) {
    const begun = await Promise.all(Array.from({ length: 20 }, () => begin(gateway.url, key, path, body)));
    await until('all to be under way', () => uploadsOf(gateway, place).open === 20);
    t.equal(uploadsOf(gateway, place).seen, 0, 'a kill would leave nothing either');
    for (const { outgoing } of begun) outgoing.on('error', () => {}).destroy();
    await until('the files to be closed', () => uploadsOf(gateway, place).open === 0);
  }
  t.equal(upstream.received.length, 0);
});
