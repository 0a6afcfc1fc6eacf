import type { Redis } from 'ioredis';
import { type Account, CREDITS, changeCredits, makeAccounts } from './accounts.ts';
import { makeManyAccounts } from './bulk-accounts.ts';
import { type Check, checkBook, checkLive } from './check.ts';
import { Cleanup } from './cleanup.ts';
import { connectRedis, makePlace, type Place, startGateway } from './gateway.ts';
import { startPlainProxies } from './plain-proxies.ts';
import { type Server, startServer } from './program.ts';
import type { Target } from './target.ts';

const file = (name: string) => new URL(name, import.meta.url).pathname;

export interface StageOptions {
  readonly accounts: number;
  readonly keysEach: number;
  readonly restricted: boolean;
  /** Number of restricted accounts with credits, made by a few statements. */
  readonly many?: boolean;
  /** Options of the gateways' Node. */
  readonly nodeArgs?: readonly string[];
  /** Number of processes of each gateway in one place; default: one gateway with one. */
  readonly workers?: readonly number[];
  readonly shared?: Pick<Place, 'databaseUrl' | 'redisUrl'>;
  /** Default: any free one. */
  readonly upstreamPort?: number;
}

/** Everything that one profile runs on, made for it and removed after it. */
export interface Stage {
  readonly upstream: Server;
  readonly gateways: readonly Server[];
  readonly redis: Redis;
  readonly accounts: readonly Account[];
  readonly cleanup: Cleanup;
  /** Directly to the upstream: the cost of the machine and the load generator. */
  readonly direct: Target;
  /** The baseline. */
  readonly baseline: Target;
  /** One gateway. */
  readonly gateway: Target;
  /** nginx and HAProxy, if installed. */
  plainProxies(): Promise<Target[]>;
  /** Stops the gateways, then checks the book directly (specification section 5, invariants 1 to 4). */
  close(): Promise<Check[]>;
}

/** Opens the stage, runs the profile on it and always closes it. Returns the result and the checks. */
export async function onStage<T>(
  options: StageOptions,
  run: (stage: Stage) => Promise<T>,
): Promise<{ result: T; checks: Check[] }> {
  const cleanup = new Cleanup();
  try {
    const stage = await open(options, cleanup);
    const result = await run(stage);
    return { result, checks: await stage.close() };
  } finally {
    await cleanup.run();
  }
}

async function open(options: StageOptions, cleanup: Cleanup): Promise<Stage> {
  const upstream = await startServer(cleanup, 'the upstream', [
    file('upstream.ts'),
    String(options.upstreamPort ?? 0),
  ]);
  const baseline = await startServer(cleanup, 'the baseline', [file('baseline.ts'), upstream.url]);
  const place = makePlace(cleanup, upstream.url, options.shared);
  const make = options.many ? makeManyAccounts : makeAccounts;
  const accounts = await make(place, options);
  const gateways: Server[] = [];
  for (const [index, workers] of (options.workers ?? [1]).entries()) {
    gateways.push(await startGateway(cleanup, place, { index, workers, nodeArgs: options.nodeArgs ?? [] }));
  }
  const [gateway] = gateways;
  if (!gateway) throw new RangeError('a stage has at least one gateway');
  if (!options.many) for (const { id } of accounts) await changeCredits(gateway, id, CREDITS);
  const redis = connectRedis(cleanup, place);
  return {
    upstream,
    gateways,
    redis,
    accounts,
    cleanup,
    direct: { name: 'upstream alone', urls: [upstream.url], pids: [] },
    baseline: {
      name: 'fastify + http-proxy',
      urls: [baseline.url],
      pids: [baseline.pid],
      isCompiledInUse: true,
    },
    gateway: {
      name: 'tollgate',
      urls: [gateway.url],
      pids: [gateway.pid],
      isCompiledInUse: true,
      redis,
    },
    plainProxies: () => startPlainProxies(cleanup, upstream.url),
    async close() {
      const live = await checkLive(gateway, accounts);
      const response = await fetch(`${upstream.url}/gateway-calls`);
      const { calls } = (await response.json()) as { calls: number };
      redis.disconnect();
      for (const each of gateways) await each.stop();
      return [live, ...(await checkBook(place, calls))];
    },
  };
}
