import type { Book } from '../book/book.ts';
import type { LimitStates } from '../domain/call-limits.ts';
import { type Micro, micro } from '../domain/credits.ts';
import { type AccountRecord, type KeyRecord, keyRecordIn } from '../domain/key.ts';
import type { EntryDraft } from '../domain/ledger-entry.ts';
import { endOfValue } from '../domain/rotation.ts';
import type { SpendingLimit, Windows } from '../domain/spending-limits.ts';
import type { Admissions, WaitingCalls } from './calls/admissions.ts';
import type { Settler } from './calls/settler.ts';
import type { JournalDrain } from './journal/drain.ts';
import {
  type Admission,
  type Admitted,
  type HoldId,
  type Ledger,
  LedgerUnavailable,
  type LiveAccount,
  type Stale,
  type Subject,
  type TokenCorrection,
  type WindowOwner,
} from './ledger.ts';
import { limitStatesIn, limitsIn } from './limits-text.ts';
import type { Publisher } from './publisher.ts';
import { type ConnectionGate, type LiveAccess, orUnavailable } from './recovery/connection-gate.ts';
import type { Grants } from './recovery/grants.ts';
import { REBUILDS } from './recovery/rebuild.ts';
import type { UnansweredAdmissions } from './recovery/unanswered-admissions.ts';
import type { RedisClock } from './redis/clock.ts';
import type { RedisClient } from './redis/connect.ts';
import { accountRedisKey, bucketOf, hashRedisKey, keyRedisKey, memberRedisKey } from './redis/redis-keys.ts';
import type { TickWriter } from './redis/tick-writer.ts';

/** Upper bound of the journal's lag in normal operation (specification section 5). */
const FLUSH_MS = 250;

interface RedisLedgerParts {
  readonly client: RedisClient;
  readonly writer: TickWriter;
  readonly admissions: Admissions;
  readonly gate: ConnectionGate;
  readonly settler: Settler;
  readonly drain: JournalDrain;
  readonly live: LiveAccess;
  readonly grants: Grants;
  readonly book: Book;
  readonly publisher: Publisher;
  readonly unanswered: UnansweredAdmissions;
  readonly waiting: WaitingCalls;
  readonly clock: RedisClock;
}

/** Live state that must be rebuilt: it is absent, or, of this epoch, lacks a field that an earlier version didn't know. */
class Unusable {
  readonly epoch: number | undefined;

  constructor(epoch?: number) {
    this.epoch = epoch;
  }
}

const ABSENT = new Unusable();

/** The ledger over Redis scripts (lua/) and the book. */
export class RedisLedger implements Ledger {
  readonly #parts: RedisLedgerParts;

  constructor(parts: RedisLedgerParts) {
    this.#parts = parts;
  }

  admit(admission: Admission): Promise<Admitted> {
    const { drain, admissions } = this.#parts;
    if (drain.isFull) return Promise.reject(new LedgerUnavailable('the journal is full: the book is away'));
    return admissions.admit(admission);
  }

  settle(draft: EntryDraft, onWire: () => void, correction?: TokenCorrection): void {
    this.#parts.settler.settle(draft, onWire, correction);
  }

  cancel(call: HoldId): void {
    this.#parts.unanswered.cancelNow(call);
  }

  find(hash: string): Promise<Subject | undefined> {
    return this.#parts.waiting.during(() => this.#find(hash));
  }

  async #find(hash: string): Promise<Subject | undefined> {
    const { client, book, writer, gate } = this.#parts;
    // This Redis key belongs to no account, so any node of a cluster may own it. If that node is down, the book
    // answers.
    if (!gate.isAnyOpen) await gate.opened(0);
    writer.open();
    const known = await client.get(hashRedisKey(hash)).catch((error: unknown) => {
      if (!gate.isAnyOpen)
        throw new LedgerUnavailable('redis did not answer', { cause: error, reason: 'no_answer' });
    });
    if (known) {
      const [accountId, keyId] = known.split(':').map(Number) as [number, number];
      const wasCompared = gate.isCompared(bucketOf(accountId));
      const subject = await this.#current(accountId, keyId);
      if (!subject || endOfValue(subject.key, hash) > 0) return subject;
      // Either a rotation replaced the value, or this Redis lost the record that has it; only the book knows which.
      if (wasCompared && gate.isCompared(bucketOf(accountId))) return subject;
    }
    const key = await book.keyByHash(hash);
    if (!key) return undefined;
    if (known === null)
      await orUnavailable(() => client.set(hashRedisKey(hash), `${key.accountId}:${key.id}`));
    const subject = await this.#current(key.accountId, key.id);
    if (!subject || subject.key.version >= key.version) return subject;
    // The record with this value was never published, or a Redis lost it.
    await this.publishKey(key);
    return await this.#current(key.accountId, key.id);
  }

  current(accountId: number, keyId: number): Promise<Subject | undefined> {
    return this.#parts.waiting.during(() => this.#current(accountId, keyId));
  }

  #current(accountId: number, keyId: number): Promise<Subject | undefined> {
    const { client, writer } = this.#parts;
    const read = () => {
      writer.open();
      return Promise.all([
        client.hmget(accountRedisKey(accountId), 'v', 'on', 'ep', 'lim', 'sl'),
        client.hmget(keyRedisKey(accountId, keyId), 'rec', 'ep', 'lim'),
      ]);
    };
    return this.#live(accountId, keyId, read, ([account, key]) => {
      const [, , epoch] = account;
      if (!epoch || !key[0] || key[1] !== epoch) return ABSENT;
      const record = keyRecordIn(key[0]);
      if (!record) return new Unusable(Number(epoch));
      return {
        key: { ...record, ...limitsIn(key[2]) },
        accountVersion: Number(account[0]),
        accountActive: account[1] === '1',
        accountLimits: limitsIn(account[3]),
        accountSpendingLimits: account[4] ? (JSON.parse(account[4]) as SpendingLimit[]) : [],
      };
    });
  }

  /** Reads live state and rebuilds it if it is unusable. Rejects with LedgerUnavailable after REBUILDS rebuilds. */
  async #live<Reply, State>(
    accountId: number,
    keyId: number | undefined,
    read: () => Promise<Reply>,
    stateIn: (reply: Reply) => State | Unusable,
  ): Promise<State> {
    for (let rebuilds = 0; rebuilds <= REBUILDS; rebuilds++) {
      const state = stateIn(await this.#parts.live.run(accountId, read));
      if (!(state instanceof Unusable)) return state;
      await this.#parts.live.rebuild(accountId, { keyId, epoch: state.epoch });
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }

  /** Bypasses the gate, which opens only after unpublished records have been published. */
  publishKey(key: KeyRecord, hash?: string): Promise<void> {
    return orUnavailable(() => this.#parts.publisher.publishKey(key, hash));
  }

  publishRotatedKey(key: KeyRecord, endedHash: string | null): Promise<void> {
    return orUnavailable(() => this.#parts.publisher.publishRotatedKey(key, endedHash));
  }

  now(accountId: number): number {
    return this.#parts.clock.now(bucketOf(accountId));
  }

  async time(accountId: number): Promise<number> {
    await this.#parts.live.run(accountId, () => this.#parts.clock.adjust(bucketOf(accountId)));
    return this.now(accountId);
  }

  publishAccount(account: AccountRecord): Promise<void> {
    return orUnavailable(() => this.#parts.publisher.publishAccount(account));
  }

  grant(grant: Parameters<Ledger['grant']>[0]): Promise<Micro> {
    return this.#parts.grants.apply(grant);
  }

  async account(accountId: number): Promise<LiveAccount> {
    const { client } = this.#parts;
    const read = () => client.hmget(accountRedisKey(accountId), 'bal', 'held', 'ep', 'slack', 'od');
    return this.#live(accountId, undefined, read, ([balance, held, epoch, slack, overdraft]) =>
      epoch
        ? { balance: micro(Number(balance)), ...reserved(held, slack), overdraft: micro(Number(overdraft)) }
        : ABSENT,
    );
  }

  async flush(accountId: number | 'all', withinMs = FLUSH_MS): Promise<boolean> {
    const { settler, drain } = this.#parts;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), withinMs);
    });
    // Settles use a different connection than the journal reader and may still be in flight.
    const drained = settler
      .journalled(accountId)
      .then(() => (accountId === 'all' ? drain.drainAll() : drain.drain(bucketOf(accountId))))
      .then(
        () => true,
        () => false,
      );
    const isWhole = await Promise.race([drained, timeout]);
    clearTimeout(timer);
    return isWhole;
  }

  async windows(accountId: number, owners: readonly WindowOwner[]): Promise<Windows[]> {
    const { client, live } = this.#parts;
    const account = accountRedisKey(accountId);
    const read = () =>
      live.run(accountId, () =>
        Promise.all(
          owners.map(async (owner) => {
            if (owner !== 'account')
              return windowsIn(await client.hmget(ownerRedisKey(accountId, owner), ...WINDOW_FIELDS));
            return packedIn(await client.hmget(account, 'seq', 'win', 'h'));
          }),
        ),
      );
    for (let rebuilds = 0; rebuilds <= REBUILDS; rebuilds++) {
      const found = await read();
      const absent = found.indexOf(undefined);
      if (absent < 0) return found as Windows[];
      await live.rebuild(accountId, staleOf(owners[absent] as WindowOwner));
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }

  async limitStates(accountId: number, keyId: number): Promise<LimitStates> {
    const { client } = this.#parts;
    const read = () => client.limitStates(accountRedisKey(accountId), keyRedisKey(accountId, keyId));
    return this.#live(accountId, keyId, read, (reply) =>
      reply === 'MISSING' ? ABSENT : limitStatesIn(reply),
    );
  }

  takeRequest(accountId: number, keyId: number): ReturnType<Ledger['takeRequest']> {
    const { client, waiting } = this.#parts;
    const take = () => client.takeRequest(accountRedisKey(accountId), keyRedisKey(accountId, keyId));
    return waiting.during(() =>
      this.#live(accountId, keyId, take, (reply) =>
        reply === 'MISSING' ? ABSENT : { isTaken: reply[0] === 1, limits: limitStatesIn(reply[1]) },
      ),
    );
  }

  async reserved(accountId: number, owner: WindowOwner): Promise<ReturnType<typeof reserved>> {
    const { client } = this.#parts;
    // An owner without live state has no holds.
    const [held, slack] = await this.#parts.live.run(accountId, () =>
      client.hmget(ownerRedisKey(accountId, owner), 'held', 'slack'),
    );
    return reserved(held, slack);
  }
}

function ownerRedisKey(accountId: number, owner: WindowOwner): string {
  if (owner === 'account') return accountRedisKey(accountId);
  return typeof owner === 'number'
    ? keyRedisKey(accountId, owner)
    : memberRedisKey(accountId, owner.personId);
}

function staleOf(owner: WindowOwner): Stale {
  if (owner === 'account') return {};
  return typeof owner === 'number' ? { keyId: owner } : owner;
}

/** Σ of holds and Σ of estimates, from the fields of an account's or key's hash (lua/post.inc.lua). */
function reserved(held: string | null | undefined, slack: string | null | undefined) {
  return { held: micro(Number(held ?? 0)), estimated: micro(Number(held ?? 0) - Number(slack ?? 0)) };
}

/** Fields of windows in a hash (lua/windows.inc.lua). */
const WINDOW_FIELDS = ['d', 'ds', 'w', 'ws', 'm', 'ms', 'h', 'hs', 'ts'] as const;

/** The windows of an account; undefined if they are not whole up to its seq. */
function packedIn([seq, text, h]: readonly (string | null)[]): Windows | undefined {
  const [whole, ...values] = (text ?? '').split(' ');
  const windows = whole === seq ? windowsIn(values) : undefined;
  return windows && Number(h) > windows.hours
    ? { ...windows, hours: Number(h), hoursSpent: micro(0) }
    : windows;
}

/** Undefined if a field is absent: an earlier version made the hash. */
function windowsIn(fields: readonly (string | null)[]): Windows | undefined {
  if (fields.includes(null)) return undefined;
  const [day, daySpent, week, weekSpent, month, monthSpent, hours, hoursSpent, totalSpent] =
    fields.map(Number);
  return { day, daySpent, week, weekSpent, month, monthSpent, hours, hoursSpent, totalSpent } as Windows;
}
