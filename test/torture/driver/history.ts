import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { bucketOf } from '../../../src/ledger/redis/redis-keys.ts';
import { ADMIN_TOKEN } from '../../helper/start/gateway-process.ts';
import type { Scope } from '../../helper/start/scope.ts';
import { limitsFrom, NO_LIMITS } from '../model/limits-model.ts';
import { type KeyModel, keyModel, type Model, type ThresholdModel, type Trouble } from '../model/model.ts';
import { spendingFrom } from '../model/spending-model.ts';
import { ON_THE_WAY_TO_THE_BOOK } from '../nemesis/failpoints.ts';
import type { Shard } from '../world/shard.ts';
import { startWorld, type World, type WorldPlan } from '../world/world.ts';
import { type Answered, type Asked, ask } from './client.ts';
import type { RunSummary } from './run-summary.ts';

/**
 * Time after a fault on a connection in which a gateway's commands may still get no reply: 7.5 s until it gives up a
 * silent connection, plus the time for a new one.
 */
export const AFTERMATH_MS = 9_000;

/** Aftermath of a fault of PostgreSQL: a gateway gives up a silent connection after 6 s (docs/guarantees.md). */
export const BOOK_AFTERMATH_MS = 6_000 + AFTERMATH_MS;

const EFFECTS = { kill: 'gateway killed', lose: 'replies lost', late: 'late' } as const;

/** A running history, with its world, its model and its background work. */
export class History {
  readonly world: World;
  readonly summary: RunSummary;
  readonly model: Model;
  /** Connection to Redis that bypasses the wires and prefixes Redis keys as src/ledger/redis/redis-keys.ts does. */
  readonly raw: Redis | Cluster;
  /**
   * A key with plenty of credits for each shard. A call with it succeeds when calls with all accounts of the shard can.
   */
  readonly probes: readonly KeyModel[];
  readonly stallMeter: StallMeter;
  /** Background work of the driver and of faults. */
  readonly #background = new Set<Promise<unknown>>();
  readonly #onHealed: (() => Promise<void>)[] = [];
  #isBookUp = true;
  #redis: 'up' | 'away' = 'up';

  private constructor(
    world: World,
    summary: RunSummary,
    model: Model,
    live: { readonly raw: Redis | Cluster; readonly probes: readonly KeyModel[] },
  ) {
    this.world = world;
    this.summary = summary;
    this.model = model;
    this.raw = live.raw;
    this.probes = live.probes;
    // A stall of the machine has the same effects as a stall of Redis.
    this.stallMeter = new StallMeter(world.waitReplicas ? UNHEARD_MS : LONG_MS, (lateMs) => {
      this.trouble(undefined, AFTERMATH_MS).from -= lateMs + AROUND_MS;
    });
  }

  static async begin(scope: Scope, summary: RunSummary, model: Model, plan: WorldPlan): Promise<History> {
    const world = await startWorld(scope, plan);
    const probes = await makeProbes(world);
    const [first] = probes as [KeyModel];
    model.accounts.push(first.account);
    model.keys.push(first);
    const history = new History(world, summary, model, {
      raw: await world.redis.connect(),
      probes,
    });
    scope.teardown(() => history.stallMeter.stop());
    scope.teardown(() => history.healed());
    world.failpoints.onTriggered = ({ point, effect, forMs }, slot) => {
      summary.fault(`${EFFECTS[effect]}: ${point}`);
      if (effect === 'kill') return;
      if (effect === 'late') {
        history.trouble(slot, forMs + AFTERMATH_MS);
        // Awaited, so that nothing arrives after the history is checked.
        history.inBackground(sleep(forMs));
        return;
      }
      history.trouble(slot, AFTERMATH_MS);
      if (ON_THE_WAY_TO_THE_BOOK.has(point)) history.trouble(slot, BOOK_AFTERMATH_MS, 'book');
    };
    return history;
  }

  get isRedisUp(): boolean {
    return this.#redis === 'up';
  }

  get isBookUp(): boolean {
    return this.#isBookUp;
  }

  redisIs(state: 'up' | 'away'): void {
    this.#redis = state;
  }

  bookIs(isUp: boolean): void {
    this.#isBookUp = isUp;
  }

  /** Adds work that runs beside other steps. The history awaits it before the checks; a rejection is a violation. */
  inBackground(work: Promise<unknown>): void {
    const watched = work
      .catch((error: Error) => this.model.violations.push(error.message))
      .finally(() => this.#background.delete(watched));
    this.#background.add(watched);
  }

  /** Registers a function that is called when everything that was broken works again. */
  onHealed(end: () => Promise<void>): void {
    this.#onHealed.push(end);
  }

  async healed(): Promise<void> {
    for (const end of this.#onHealed.splice(0)) await end();
  }

  async backgroundDone(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  /**
   * Records that Redis, or some shards of it, or the book, is in trouble for a gateway (undefined for all) from now on,
   * for a time. `to` of the result may be changed later.
   */
  trouble(
    slot: number | undefined,
    forMs: number,
    of: 'redis' | 'book' | Shard | readonly Shard[] = 'redis',
  ): Trouble {
    const now = Date.now();
    const shards = typeof of === 'string' ? this.world.redis.shards : [of].flat();
    const buckets = new Set(shards.flatMap((shard) => [...shard.buckets]));
    const trouble = { slot, ofBook: of === 'book', buckets, from: now, to: now + forMs };
    this.model.troubles.push(trouble);
    return trouble;
  }

  /** Sends a request to a gateway. A forbidden status is a violation. */
  async ask(slot: number, asked: Omit<Asked, 'url'> & { path: string }): Promise<Answered> {
    const answer = await ask({ ...asked, url: `${this.world.slots[slot]?.url}${asked.path}` });
    if (answer.status === 500 && !answer.isProviders) {
      this.model.violations.push(`${asked.method} ${asked.path} was answered 500: ${answer.text}`);
    }
    return answer;
  }
}

/**
 * Creates accounts until every shard has one. Resolves with the key of the first account in each. From then on, Redis
 * has keys that show the book's id. Only the first of these accounts takes part in drawn steps.
 */
async function makeProbes(world: World): Promise<KeyModel[]> {
  const probes = new Map<Shard, KeyModel>();
  const { shards } = world.redis;
  for (let count = 1; probes.size < shards.length; count++) {
    const probe = await makeProbe(world, `probe${count}`);
    const shard = shards.find(({ buckets }) => buckets.has(bucketOf(probe.account.id)));
    if (shard && !probes.has(shard)) probes.set(shard, probe);
  }
  return [...probes.values()];
}

const PROBE_TRIES = 20;

async function makeProbe({ slots }: World, name: string): Promise<KeyModel> {
  let email = `${name}@example.com`;
  const make = () =>
    ask({
      method: 'POST',
      url: `${slots[0]?.url}/api/admin/accounts/`,
      token: ADMIN_TOKEN,
      body: { email, credits: 1_000_000, alert_threshold: 0 },
    });
  let made = await make();
  // On a busy machine, Redis or the book may be late without a fault. The account may exist nevertheless.
  for (let again = 1; made.status === 503 && again <= PROBE_TRIES; again++) {
    email = `${name}-${again}@example.com`;
    made = await make();
  }
  const { account, key } = JSON.parse(made.text) as {
    account: { id: number };
    key: { id: number; key: string };
  };
  const owner = {
    id: account.id,
    email,
    granted: 1e12,
    highestOverdraft: 0,
    thresholds: [firstThreshold(0)],
    limits: limitsFrom(NO_LIMITS),
    spending: spendingFrom([]),
  };
  return keyModel(key.id, key.key, owner);
}

/** The threshold that an account has from its first entry on. */
export function firstThreshold(threshold: number): ThresholdModel {
  return { threshold, afterSeq: 0, surelyAfterSeq: 0, askedAt: 0 };
}

const TICK_MS = 10;
/** Number of ticks that are remembered: those of three seconds. */
const TICKS = 300;
/** Minimum reported stall: a command may then get no reply in time, without a fault. */
const LONG_MS = 1_000;
/** Minimum reported stall if calls wait for a replica, which has 200 ms (replica-wait.ts). */
const UNHEARD_MS = 100;
/** Time before a stall in which a busy machine may have delayed other processes. */
const AROUND_MS = 2_000;

/**
 * Measures how late the timers of this process fire. Gateways, Redis and the book share the machine and stall equally
 * long, so bounds in milliseconds can be checked only while this is small.
 */
export class StallMeter {
  readonly #late: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #dueAt = performance.now() + TICK_MS;

  /** `onLong` is called after each stall of `longMs` or more. */
  constructor(longMs = Infinity, onLong: (lateMs: number) => void = () => {}) {
    this.#timer = setInterval(() => {
      const now = performance.now();
      const lateMs = Math.max(0, now - this.#dueAt);
      this.#late.push(lateMs);
      if (lateMs >= longMs) onLong(lateMs);
      this.#dueAt = now + TICK_MS;
      if (this.#late.length > TICKS) this.#late.shift();
    }, TICK_MS);
    this.#timer.unref();
  }

  /** Largest lateness among the ticks of the last three seconds, in milliseconds. */
  get worstMs(): number {
    return Math.max(0, ...this.#late);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
