import { test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { until } from '../helper/check/until.ts';
import { balanceOf, makeOwner } from '../helper/clients/owner.ts';
import {
  createVideo,
  FILM,
  placesOf,
  refundedOnce,
  servedStatusOf,
  startFailing,
  statusOf,
} from '../helper/clients/video-jobs.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startOwnServers } from '../helper/start/own-servers.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { startTcpProxy } from '../helper/start/tcp-proxy.ts';

test('a video can be asked for at another gateway as soon as it is answered, each of 60 times', async (t) => {
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  const place = await placesOf(t, provider.url);
  const [a, b] = await Promise.all([startGatewayProcess(t, place()), startGatewayProcess(t, place())]);
  const [owner, stranger] = [await makeOwner(a, 200), await makeOwner(a, 200)];
  const seen = new Set<string>();
  for (let round = 0; round < 60; round++) {
    const path = await createVideo(a, owner);
    const first = await servedStatusOf(b, owner, path);
    const other = await servedStatusOf(b, stranger, path);
    const deleted = await servedStatusOf(b, owner, path, 'DELETE');
    seen.add(`${first} ${other} ${deleted} ${await servedStatusOf(a, owner, path)}`);
  }
  t.same(seen, new Set(['200 404 200 404']));
});

test('50 polls of a failed video at two gateways refund it once', async (t) => {
  const place = await placesOf(t, await startFailing(t));
  const [a, b] = await Promise.all([startGatewayProcess(t, place()), startGatewayProcess(t, place())]);
  const owner = await makeOwner(a, 100);
  const jobs = 3;
  for (let job = 0; job < jobs; job++) {
    const path = await createVideo(a, owner);
    const polls = Array.from({ length: 50 }, (_, index) => servedStatusOf(index % 2 ? a : b, owner, path));
    t.same(new Set(await Promise.all(polls)), new Set([200]));
  }
  await refundedOnce(t, b, owner, jobs, 100);
});

test('a refund whose reply is lost gets 503 and is made once by retries', async (t) => {
  const redis = await startRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, REDIS_TIMEOUT_MS: '' };
  const gateway = await startGatewayProcess(t, makePlace(t, await startFailing(t), env, FILM));
  const owner = await makeOwner(gateway, 100);
  const paths = await Promise.all(Array.from({ length: 10 }, () => createVideo(gateway, owner)));
  const polls = paths.flatMap((path) => [statusOf(gateway, owner, path), statusOf(gateway, owner, path)]);
  await Promise.race(polls);
  proxy.loseReplies();
  const statuses = new Set(await Promise.all(polls));
  t.ok(
    [...statuses].every((status) => status === 200 || status === 503),
    [...statuses].join(),
  );
  proxy.cut();
  for (const path of paths) {
    await until('a poll to be answered', async () => (await statusOf(gateway, owner, path)) === 200);
  }
  await refundedOnce(t, gateway, owner, paths.length, 100);
});

test('a video made while the book was away is its account’s when the book is back', async (t) => {
  const { postgres, provider, env } = await startOwnServers(t);
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, env, FILM));
  const owner = await makeOwner(gateway, 100);
  await (await gateway.chat(owner.key)).text();
  await postgres.halt();
  const path = await createVideo(gateway, owner);
  t.equal(await statusOf(gateway, owner, path), 503);
  await postgres.resume();
  await until('the video to be found', async () => (await statusOf(gateway, owner, path)) === 200);
  t.same(await balanceOf(gateway, owner), { balance: 97, held: 0 });
});
