import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { audioForm, begin, pictureChat, sha256Of, wordyChat } from '../helper/fixtures/large-body.ts';
import { megabytes, startUploadGateway, uploadsOf } from '../helper/start/upload-gateway.ts';

const MIB = 2 ** 20;
const CHAT = '/v1/chat/completions';
const AUDIO = '/v1/audio/transcriptions';
const isLinux = process.platform === 'linux';

test('a form of 200 MB takes less memory than itself', { skip: !isLinux }, async (t) => {
  const { gateway, key } = await startUploadGateway(t, 'server: { bodyLimitMb: 500 }');
  const send = async (bytes: number) =>
    (await begin(gateway.url, key, AUDIO, audioForm('ears', bytes))).finish();
  t.equal(await send(2 * MIB), 200);
  const before = megabytes(gateway, 'VmRSS');
  megabytes(gateway, 'VmHWM');
  t.equal(await send(200 * MIB), 200);
  const grown = megabytes(gateway, 'VmHWM') - before;
  // Measured: 50 to 125, with 400 MB as well: buffers that Node has not given back yet.
  t.ok(grown < 180, `grew by ${grown.toFixed(0)} MB`);
});

test('memory is bounded under 200 concurrent uploads of 5 MB', { skip: !isLinux }, async (t) => {
  const { upstream, gateway, place, key } = await startUploadGateway(t);
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
  await until('all to be under way', () => uploadsOf(gateway, place).open === 200);
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
