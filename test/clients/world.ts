import { loadConfig } from '../../src/config/load.ts';
import type { Model, Target } from '../../src/domain/catalog.ts';
import { micro } from '../../src/domain/credits.ts';
import type { KeySettings } from '../../src/domain/key.ts';
import { shippedCatalog } from '../helper/fixtures/client-bodies.ts';
import { type AgentProvider, startAgentProvider } from '../helper/stand-ins/agents/agent-provider.ts';
import type { Fault } from '../helper/stand-ins/agents/mortality.ts';
import { type InProcessGateway, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { type RedisProcess, startRedis } from '../helper/start/redis-process.ts';
import type { Scope } from '../helper/start/scope.ts';
import type { Refusal } from './clients.ts';
import { startTap, type Tap } from './tap.ts';

/**
 * The gateway with the shipped models, a provider behind it, and a tap before it. Each of several `places` is a target.
 */
export interface World {
  readonly gateway: InProcessGateway;
  readonly provider: AgentProvider;
  readonly tap: Tap;
  readonly redis: RedisProcess;
}

export async function startWorld(t: Scope, places = 1): Promise<World> {
  const [redis, provider] = await Promise.all([startRedis(t), startAgentProvider({ places })]);
  t.teardown(() => provider.close());
  const moved = [...shippedCatalog()].map(([slug, model]): [string, Model] => {
    const targets = provider.urls.map((url, place): Target => {
      const { name } = model.upstream;
      const upstream = { ...model.upstream, name: places > 1 ? targetAt(place, name) : name, url };
      return { model: { ...model, upstream }, weight: 1, priority: 1 };
    });
    const [first] = targets as [Target];
    return [slug, places > 1 ? { ...first.model, targets } : first.model];
  });
  const catalog = new Map(moved);
  const upstreams = [...catalog.values()].flatMap((model) =>
    (model.targets ?? [{ model }]).map((target) => target.model.upstream),
  );
  const { limits } = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  const gateway = await startOwnGateway(t, {
    provider,
    config: {
      catalog,
      upstreams: new Map(upstreams.map((upstream) => [upstream.name, upstream])),
      limits,
      redisUrl: redis.url,
      redisTimeoutMs: 6_000,
    },
  });
  const tap = await startTap(gateway.url);
  t.teardown(() => tap.close());
  return { gateway, provider, tap, redis };
}

/** Name of the target at a place of the provider. */
const targetAt = (place: number, upstream: string) => `${upstream}-${place}`;

/** Why the gateway refuses a call. */
export interface Cause {
  readonly credits?: number;
  readonly key?: Partial<KeySettings>;
  /** A model that it does not have. */
  readonly model?: string;
  /** A key that it does not know. */
  readonly isKeyUnknown?: true;
  /** The limit of the key is used up. */
  readonly isUsedUp?: true;
  readonly fault?: Fault;
  /** How long Redis is away; the gateway answers 503 meanwhile. */
  readonly redisAwayMs?: number;
}

/** One call each 6 s. */
const RPM = 10;

export const CAUSES: Readonly<Record<Refusal, Cause>> = {
  401: { isKeyUnknown: true },
  limit: { key: { spendingLimit: micro(0), spendingPeriod: 'daily' } },
  credits: { credits: 0 },
  hold: { credits: 0.01 },
  403: { key: { allowedModels: ['gpt-4.1-mini'] } },
  404: { model: 'no-such-model' },
  429: { key: { rpmLimit: RPM }, isUsedUp: true },
  502: {
    fault: {
      status: 401,
      body: {
        error: { message: 'Incorrect API key', type: 'invalid_request_error', code: 'invalid_api_key' },
      },
    },
  },
  503: { redisAwayMs: 10_000 },
};
