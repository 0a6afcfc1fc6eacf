import type { Test } from 'tap';
import { until, untilServed } from '../check/until.ts';
import { type ReceivedRequest, startScriptedProvider } from '../stand-ins/scripted-provider.ts';
import { type GatewayProcess, makePlace, type Place } from '../start/gateway-process.ts';
import { createDatabase } from '../start/postgres-database.ts';
import { startRedis } from '../start/redis-process.ts';
import { balanceOf, ledgerOf, type Owner, sumOf } from './owner.ts';
/** Line of a config file with the model `film`, at 0.5 credits a second. */
export const FILM = '  film: { upstream: test, category: video, price: { videoSecond: 0.5 } }';
const PATH = '/v1/videos';

/** Starts an upstream whose jobs have all failed. Resolves with its URL. */
export async function startFailing(t: Test): Promise<string> {
  const provider = await startScriptedProvider({
    behave: ({ method, url }: ReceivedRequest) =>
      method === 'GET'
        ? { body: { id: url.split('/').at(-1), object: 'video', status: 'failed' } }
        : undefined,
  });
  t.teardown(() => provider.close());
  return provider.url;
}

/** Returns a maker of places, all on one Redis and one PostgreSQL. */
export async function placesOf(t: Test, upstreamUrl: string): Promise<() => Place> {
  const [redis, DATABASE_URL] = await Promise.all([startRedis(t), createDatabase()]);
  return () => makePlace(t, upstreamUrl, { REDIS_URL: redis.url, DATABASE_URL }, FILM);
}

/** Creates a job for 2 credits and resolves with its path. */
export async function createVideo(gateway: GatewayProcess, { key }: Owner): Promise<string> {
  const job = { model: 'film', prompt: 'A cat', seconds: '4' };
  const response = await untilServed('a video', () => gateway.api('POST', PATH, key, job));
  const { id } = (await response.json()) as { id: string };
  return `${PATH}/${id}`;
}

export async function statusOf(
  gateway: GatewayProcess,
  { key }: Owner,
  path: string,
  method = 'GET',
): Promise<number> {
  const response = await gateway.api(method, path, key);
  await response.text();
  return response.status;
}

/** Repeats `statusOf` until it is not 503. */
export async function servedStatusOf(
  gateway: GatewayProcess,
  { key }: Owner,
  path: string,
  method = 'GET',
): Promise<number> {
  const response = await untilServed('the video', () => gateway.api(method, path, key));
  await response.text();
  return response.status;
}

/** Checks that each job has one charge of 2 credits and one refund, and that the balance is otherwise unchanged. */
export async function refundedOnce(
  t: Test,
  gateway: GatewayProcess,
  owner: Owner,
  jobs: number,
  credits: number,
) {
  const entries = await until('the ledger to be whole', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length >= 1 + 2 * jobs && found;
  });
  const charges = entries.filter(({ type }) => type === 'charge');
  const refunds = entries.filter(({ type }) => type === 'refund');
  t.same(refunds.map(({ id }) => id).sort(), charges.map(({ id }) => `${id}:refund`).sort());
  t.same(new Set(refunds.map((entry) => entry.credits)), new Set(['2.000000']));
  t.equal(sumOf(entries), credits * 1_000_000);
  t.same(await balanceOf(gateway, owner), { balance: credits, held: 0 });
}
