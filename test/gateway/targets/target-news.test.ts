import { pino } from 'pino';
import { type Test, test } from 'tap';
import type { Model, Target } from '../../../src/domain/catalog.ts';
import { TargetHealth } from '../../../src/gateway/targets/target-health.ts';
import { TargetNews } from '../../../src/gateway/targets/target-news.ts';
import { connectRedis, createRedis } from '../../../src/ledger/redis/connect.ts';
import { SharedHints } from '../../../src/ledger/redis/shared-hints.ts';
import { until } from '../../helper/check/until.ts';
import { type RedisProcess, startRedis } from '../../helper/start/redis-process.ts';

const log = pino({ level: 'silent' });
const FAILURE = { status: 503, error: 'HTTP 503: busy' };

/** A model that every gateway of a test has. */
function catalogOf(): { readonly place: Model; readonly catalog: ReadonlyMap<string, Model> } {
  const place = { slug: 'm', upstream: { name: 'up' }, upstreamModel: 'm' } as unknown as Model;
  const targets: Target[] = [{ model: place, weight: 1, priority: 1 }];
  return { place, catalog: new Map([['m', { ...place, targets }]]) };
}

/** One gateway's view of targets, with its own connection. */
async function startNews(t: Test, redis: RedisProcess) {
  const client = createRedis({ kind: 'single', url: redis.url }, { name: 'news', keyPrefix: 'book:', log });
  await connectRedis(client, 10_000);
  const { place, catalog } = catalogOf();
  const hints = new SharedHints(client);
  const news = new TargetNews({ hints, catalog: () => catalog });
  const health = new TargetHealth({ log, hints: news });
  news.start(health);
  t.teardown(async () => {
    await news.stop();
    client.disconnect();
  });
  return { news, health, place, hints };
}

test('gateways share outages, trials and observed failures', async (t) => {
  const redis = await startRedis(t);
  const one = await startNews(t, redis);
  const other = await startNews(t, redis);
  other.health.begin(other.place).answered(30);
  one.health.begin(one.place).failed({ ...FAILURE, outMs: 6_000 });
  await until('the news', () => other.health.report(other.place).state === 'out');
  const isFree = ({ health, place }: typeof one) => health.availability(place).isAvailable;
  const tries = await until('a trial', () => [one, other].filter(isFree).length > 0 && [one, other]);
  t.equal(tries.filter(isFree).length, 1, 'of one gateway');
  const [trying, waiting] = isFree(one) ? [one, other] : [other, one];
  trying.health.begin(trying.place).answered(10);
  await until('the news', () => waiting.health.report(waiting.place).state === 'up');
  const joined = await until('the report of the other', async () => {
    const [report] = await one.news.reports();
    return report?.calls === 3 && report;
  });
  t.match(joined, { target: 'up', model: 'm', calls: 3, failed: 1, lastError: 'HTTP 503: busy' });
});

test('a trial that failed is over, so that the next one comes as soon as the time out is over', async (t) => {
  const redis = await startRedis(t);
  const { health, place, hints } = await startNews(t, redis);
  health.begin(place).failed({ ...FAILURE, outMs: 1 });
  await until('the trial', () => health.availability(place).isAvailable);
  health.begin(place).failed({ ...FAILURE, outMs: 3_600_000 });
  t.ok(await hints.claim('up m', 1), 'once it has failed, it is for anybody');
});

test('a gateway reads the news before it begins a trial', async (t) => {
  const redis = await startRedis(t);
  const one = await startNews(t, redis);
  const other = await startNews(t, redis);
  for (const { health, place } of [one, other]) health.begin(place).answered(1);
  other.health.begin(other.place).failed({ ...FAILURE, outMs: 3_600_000 });
  await until('the news in Redis', () => one.hints.one('targets', 'up m'));
  await one.news.claimTrial('up m');
  t.equal(one.health.report(one.place).state, 'out');
});

test('without Redis, a gateway uses its own view of the targets', async (t) => {
  const redis = await startRedis(t);
  const { health, place, news } = await startNews(t, redis);
  await redis.kill();
  health.begin(place).failed({ ...FAILURE, outMs: 1 });
  await until('the trial', () => health.availability(place).isAvailable);
  health.begin(place).answered(1);
  t.match(await news.reports(), [{ state: 'up', calls: 2 }]);
});
