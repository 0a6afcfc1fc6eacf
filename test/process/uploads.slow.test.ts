import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { audioForm, begin, lengthOf, pictureChat, sha256Of } from '../helper/fixtures/large-body.ts';
import { startUploadGateway, uploadsOf } from '../helper/start/upload-gateway.ts';

const MIB = 2 ** 20;
const CHAT = '/v1/chat/completions';
const AUDIO = '/v1/audio/transcriptions';
const isLinux = process.platform === 'linux';

test('50 MB arrive byte for byte', { skip: !isLinux }, async (t) => {
  const { upstream, gateway, place, key } = await startUploadGateway(t);
  const size = 49.9 * MIB;
  const renamed = pictureChat('renamed', size);
  for (const [path, body, expected] of [
    [AUDIO, audioForm('ears-renamed', size), audioForm('other-ears', size)],
    [CHAT, pictureChat('sees', size), pictureChat('sees', size)],
    [CHAT, renamed, { ...renamed, tail: pictureChat('other', size).tail }],
  ] as const) {
    t.equal(await (await begin(gateway.url, key, path, body)).finish(), 200);
    const bytes = lengthOf(expected);
    t.same(upstream.received.at(-1), { contentLength: String(bytes), bytes, sha256: sha256Of(expected) });
  }
  await until('the files to be closed', () => uploadsOf(gateway, place).open === 0);
  t.equal(uploadsOf(gateway, place).seen, 0);
});

test('clients that leave within their uploads leave nothing behind', { skip: !isLinux }, async (t) => {
  const { upstream, gateway, place, key } = await startUploadGateway(t);
  for (const [path, body] of [
    [AUDIO, audioForm('ears', 3 * MIB)],
    [CHAT, pictureChat('sees', 3 * MIB)],
  ] as const) {
    const begun = await Promise.all(Array.from({ length: 20 }, () => begin(gateway.url, key, path, body)));
    await until('all to be under way', () => uploadsOf(gateway, place).open === 20);
    await until('them to lose their names', () => uploadsOf(gateway, place).seen === 0);
    for (const { outgoing } of begun) outgoing.on('error', () => {}).destroy();
    await until('the files to be closed', () => uploadsOf(gateway, place).open === 0);
  }
  t.equal(upstream.received.length, 0);
});
