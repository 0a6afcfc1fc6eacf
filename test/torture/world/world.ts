import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Receiver, startReceiver } from '../../helper/stand-ins/receiver.ts';
import { ADMIN_TOKEN, type Place } from '../../helper/start/gateway-process.ts';
import { freePorts } from '../../helper/start/redis-process.ts';
import type { Scope } from '../../helper/start/scope.ts';
import { ArmedFailpoints } from '../nemesis/armed-failpoints.ts';
import { bookFailpoints, type Failpoint, redisFailpoints } from '../nemesis/failpoints.ts';
import type { BookServer } from './book-server.ts';
import { GatewaySlot } from './gateway-slot.ts';
import { type LiveRedis, startSharded, startSingle } from './live-redis.ts';
import { GONE } from './targets.ts';
import { BEHAVIOR_HEADER, CALL_HEADER, startUpstream, type Upstream } from './upstream.ts';
import { type Link, startWire, type Watcher, type Wire } from './wire.ts';

export type WorldKind = 'postgres' | 'sqlite' | 'cluster';

export interface WorldPlan {
  readonly world: WorldKind;
  readonly waitReplicas: boolean;
  /** PostgreSQL of the book; undefined for SQLite. */
  readonly book: BookServer | undefined;
}

/** The processes that one history runs on, and the wires between them. */
export interface World {
  readonly slots: readonly GatewaySlot[];
  readonly redis: LiveRedis;
  readonly bookWires: readonly Wire[];
  readonly upstream: Upstream;
  readonly receiver: Receiver;
  /** PostgreSQL of the book; undefined for SQLite in the data folder. */
  readonly book: BookServer | undefined;
  /** Place of the first gateway for reconcile and the checker, with addresses that bypass the wires. */
  readonly place: Place;
  /** True if no call is sent before a replica has its hold. */
  readonly waitReplicas: boolean;
  readonly failpoints: ArmedFailpoints;
}

/** Starts two gateways on one Redis or Redis Cluster and one PostgreSQL; without `book`, one on a Redis and SQLite. */
export async function startWorld(scope: Scope, plan: WorldPlan): Promise<World> {
  const { book } = plan;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-torture-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const failpoints = new ArmedFailpoints();
  const slots: GatewaySlot[] = [];
  const reach = (index: number) => (point: Failpoint, link: Link | undefined) =>
    failpoints.reach(point, slots[index], link);
  const upstream = await startUpstream(scope, (point, credential) =>
    reach(Number(credential.replace('gateway-', '')))(point, undefined),
  );
  const receiver = await startReceiver();
  scope.teardown(() => receiver.close());
  // Counted for all gateways, because the receiver can't tell them apart.
  receiver.onConnection(() => failpoints.reachAll('posting', slots));
  const count = book ? 2 : 1;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const watcher = byGateway(indexes.map((index) => redisFailpoints(reach(index))));
  const start = plan.world === 'cluster' ? startSharded : startSingle;
  const redis = await start(scope, { folder, gateways: count, watcher });
  const bookWires: Wire[] = [];
  for (const index of indexes) {
    if (book) bookWires.push(await startWire(scope, book.port, bookFailpoints(reach(index))));
  }
  const places = indexes.map((index) => {
    const bookWire = bookWires[index];
    return makePlace(
      { folder, index, urls: upstream.urls },
      {
        REDIS_URL: redis.urlFor(index),
        REDIS_TIMEOUT_MS: '',
        ...(plan.waitReplicas ? { REDIS_WAIT_REPLICAS: '1' } : {}),
        ...(book && bookWire ? { DATABASE_URL: book.url(bookWire.port) } : {}),
      },
    );
  });
  // Chosen here, because a gateway that was killed must come back at its own port.
  const ports = await freePorts(count);
  for (const [index, place] of places.entries()) {
    const port = ports[index] as number;
    slots.push(new GatewaySlot(scope, { ...place, env: { ...place.env, PORT: String(port) } }, index, port));
  }
  const [first] = places as [Place];
  const direct = { REDIS_URL: redis.url, ...(book ? { DATABASE_URL: book.url(book.port) } : {}) };
  const world: World = {
    slots,
    redis,
    bookWires,
    upstream,
    receiver,
    book,
    waitReplicas: plan.waitReplicas,
    place: { ...first, env: { ...first.env, ...direct } },
    failpoints,
  };
  scope.teardown(() => {
    for (const slot of slots) slot.abandon();
  });
  await Promise.all(slots.map((slot) => slot.start()));
  return world;
}

/** Watcher that passes the bytes of each gateway's connections to that gateway's own watcher. */
function byGateway(watchers: readonly Watcher[]): Watcher {
  const of = ({ whose }: Link) => (typeof whose === 'number' ? watchers[whose] : undefined);
  return {
    sent: (bytes, link) => of(link)?.sent(bytes, link),
    replied: (bytes, link) => of(link)?.replied(bytes, link),
  };
}

/** An address that refuses connections. */
const NOBODY = 'http://127.0.0.1:1';

/** Makes a gateway's place with short limits, so that a stalled upstream delays a history by at most 6 s per call. */
function makePlace(
  of: { folder: string; index: number; urls: Upstream['urls'] },
  env: NodeJS.ProcessEnv,
): Place {
  const { folder, index, urls } = of;
  const config = join(folder, `gateway-${index}.yaml`);
  const targets = [GONE, 'first', 'test'].map((name, at) => `{ upstream: ${name}, priority: ${at + 1} }`);
  const model = `targets: [${targets}], category: text, maxOutputTokens: 100`;
  const rest = `apiKey: gateway-${index}, format: openai, passHeaders: [${CALL_HEADER}, ${BEHAVIOR_HEADER}]`;
  writeFileSync(
    config,
    `alerts: { allowPrivateNetworks: true, timeoutMs: 2000 }
limits: { requestTimeoutMs: 6000, headersTimeoutMs: 1500, idleTimeoutMs: 1000, readOnMs: 2000 }
upstreams:
  ${GONE}: { url: "${NOBODY}", ${rest} }
  first: { url: "${urls.first}", ${rest} }
  test: { url: "${urls.test}", ${rest} }
models:
  flat: { ${model}, price: { request: 1 } }
  tokens: { ${model}, price: { input: 1000, output: 2000 } }
`,
  );
  const dataDir = join(folder, `data-${index}`);
  const { LOG_LEVEL = 'info' } = process.env;
  return {
    dataDir,
    env: { TOLLGATE_CONFIG: config, TOLLGATE_DATA: dataDir, ADMIN_TOKEN, LOG_LEVEL, ...env },
  };
}

/** Address of the world's book, which bypasses the wires. */
export function bookOf({ place }: World): { databaseUrl: string | undefined; dataDir: string } {
  return { databaseUrl: place.env.DATABASE_URL, dataDir: place.dataDir };
}
