import type { Book } from '../book/book.ts';
import { BookUnavailable } from '../book/store.ts';
import { type RedisAddress, redisAddressText } from '../config/redis-url.ts';
import type { Log } from '../log/log.ts';
import { Admissions, WaitingCalls } from './calls/admissions.ts';
import { Settler } from './calls/settler.ts';
import { JournalDrain } from './journal/drain.ts';
import { OpenLedger } from './lifecycle.ts';
import { Publisher } from './publisher.ts';
import { ConnectionGate, LiveAccess } from './recovery/connection-gate.ts';
import { ExpiredHolds } from './recovery/expired-holds.ts';
import { Grants, PendingGrants, Refunds } from './recovery/grants.ts';
import { LiveStateCheck, refuseRestoredBook } from './recovery/live-state-check.ts';
import { Presence } from './recovery/presence.ts';
import { Rebuilder } from './recovery/rebuild.ts';
import { Sweep } from './recovery/sweep.ts';
import { UnansweredAdmissions } from './recovery/unanswered-admissions.ts';
import { BucketOwners } from './redis/bucket-owners.ts';
import { RedisClock } from './redis/clock.ts';
import { COMMAND_TIMEOUT_MS, connectRedis, createRedis } from './redis/connect.ts';
import { RedisHealth } from './redis/redis-health.ts';
import { redisKeyPrefix } from './redis/redis-keys.ts';
import { ReplicaWait } from './redis/replica-wait.ts';
import { ScriptSender } from './redis/script-sender.ts';
import { TickWriter } from './redis/tick-writer.ts';
import { RedisLedger } from './redis-ledger.ts';

export type { OpenLedger } from './lifecycle.ts';

/** Margin by which a hold outlives the longest request, because settling takes time. */
const HOLD_MARGIN_MS = 60_000;
const CONNECT_WITHIN_MS = 10_000;
/** Time limit for the first comparison with the book: the accounts of a busy hour take longer than a call may wait. */
const OPEN_WITHIN_MS = 30_000;

export interface LedgerBounds {
  /** Maximum calls waiting for Redis. */
  readonly waitingCalls: number;
  /** Maximum journal entries of all gateways waiting for the book. */
  readonly journalEntries: number;
}

const UNBOUNDED: LedgerBounds = { waitingCalls: Infinity, journalEntries: Infinity };

interface LedgerOptions {
  readonly address: RedisAddress;
  readonly book: Book;
  readonly log: Log;
  readonly requestTimeoutMs: number;
  /** Called when alerts may have been queued in the book. */
  readonly onAlerts: () => void;
  /** Replicas that must confirm a hold before its call continues; default 0. */
  readonly waitReplicas?: number;
  readonly bounds?: LedgerBounds;
  /** Time limit for a Redis command; default COMMAND_TIMEOUT_MS. */
  readonly redisTimeoutMs?: number | undefined;
}

/** Connects, checks and starts the background work. Rejects if Redis cannot be reached, with UnusableRedis, or with BookOlderThanRedis. */
export async function openLedger(options: LedgerOptions): Promise<OpenLedger> {
  const { client, background, confirming, gate, health, presence, open } = construct(options);
  try {
    await connectRedis(background, CONNECT_WITHIN_MS);
    await health.requireUsable();
    // Runs before the gate opens, because the gate rebuilds accounts, which destroys the evidence.
    await refuseRestoredBook(background, options.book, options.log);
    await presence.enter().catch(exceptBookUnavailable);
    await connectRedis(client, CONNECT_WITHIN_MS);
    if (confirming) await connectRedis(confirming, CONNECT_WITHIN_MS);
    await gate.allOpened(OPEN_WITHIN_MS);
  } catch (error) {
    presence.stop();
    client.disconnect();
    background.disconnect();
    confirming?.disconnect();
    throw error;
  }
  open.start();
  return open;
}

/** The book answered a moment ago: a start goes on without it, as calls do. */
function exceptBookUnavailable(error: unknown): void {
  if (!(error instanceof BookUnavailable)) throw error;
}

/**
 * Builds every part from the parts above it. One dependency runs backwards: the drain triggers rebuilds, and a rebuild
 * drains. It is an event, so the drain does not depend on the rebuilder.
 */
function construct({ address, book, log, bounds = UNBOUNDED, ...options }: LedgerOptions) {
  const keyPrefix = redisKeyPrefix(book.id);
  const { redisTimeoutMs: timeoutMs = COMMAND_TIMEOUT_MS } = options;
  const shared = { keyPrefix, log, timeoutMs };
  const client = createRedis(address, { name: 'calls', ...shared });
  // The journal has its own connection: a large reply must not delay an admission.
  const background = createRedis(address, { name: 'background', ...shared });
  const writer = new TickWriter(client);
  const owners = new BucketOwners(client);
  const clock = new RedisClock(background, owners);
  const presence = new Presence({ client: background, book, address: redisAddressText(address) });
  const health = new RedisHealth(background, new BucketOwners(background), log);
  const scripts = new ScriptSender(client, writer, clock, timeoutMs);

  const drain = new JournalDrain({ client: background, book, log, maxEntries: bounds.journalEntries });
  drain.events.on('alertsQueued', options.onAlerts);
  const rebuilder = new Rebuilder({ client: background, book, log, drain, clock });
  drain.events.on('accountDiverged', (accountId, epoch) => rebuilder.rebuildLater(accountId, epoch));

  const unanswered = new UnansweredAdmissions({ client: background, rebuilder });
  const settler = new Settler({ background, writer, scripts, log, drain, rebuilder, unanswered, clock });

  // Not on the calls' connection, whose commands may wait for the check that publishes.
  const publisher = new Publisher(background, book, log);
  const check = new LiveStateCheck({ book, log, rebuilder, replays: settler, publisher, clock });
  const gate = new ConnectionGate({ client, owners, check, log, drain, replays: settler });
  const live = new LiveAccess(gate, rebuilder);

  const grants = new Grants({ client, live, book, drain, clock });
  const refunds = new Refunds({ client, live, book, drain });
  const expiredHolds = new ExpiredHolds({ client: background, log, drain, rebuilder, unanswered });
  const pendingGrants = new PendingGrants({ book, log, drain, grants });
  const sweep = new Sweep({
    log,
    clock,
    publisher,
    rebuilder,
    unanswered,
    expiredHolds,
    pendingGrants,
    gate,
  });

  const { waitReplicas = 0 } = options;
  const confirming = waitReplicas > 0 ? createRedis(address, { name: 'replicas', ...shared }) : undefined;
  const replicas = new ReplicaWait(owners, confirming && new BucketOwners(confirming), waitReplicas);
  const waiting = new WaitingCalls(bounds.waitingCalls, scripts);
  const holdTtlMs = options.requestTimeoutMs + HOLD_MARGIN_MS;
  const admissions = new Admissions({ scripts, gate, live, unanswered, clock, replicas, waiting, holdTtlMs });
  const callPublisher = new Publisher(client, book, log);
  const ledger = new RedisLedger({
    client,
    writer,
    admissions,
    gate,
    live,
    unanswered,
    settler,
    grants,
    drain,
    book,
    publisher: callPublisher,
    waiting,
    clock,
  });
  const parts = {
    clients: confirming ? [client, background, confirming] : [client, background],
    background,
    ledger,
    settler,
    gate,
    rebuilder,
    unanswered,
    sweep,
    drain,
    refunds,
    health,
    presence,
    clock,
    log,
  };
  return { client, background, confirming, gate, health, presence, open: new OpenLedger(parts) };
}
