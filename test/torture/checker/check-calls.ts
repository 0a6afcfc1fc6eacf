import { creditsString, micro } from '../../../src/domain/credits.ts';
import { bucketOf } from '../../../src/ledger/redis/redis-keys.ts';
import type { CallModel, Loss, Model, Trouble } from '../model/model.ts';
import type { GatewaySlot, Life } from '../world/gateway-slot.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

/** Maximum time between a settle and the end of its answer. A fault in that time may have affected the settle. */
const SETTLE_MS = 1_500;

/** Time that other gateways wait for a rebuild if its gateway died: a lease of 5 s and a margin. */
const DEAD_REBUILD_MS = 5_000 + 1_000;

/**
 * Time after the return of the book by which a gateway has compared Redis with it: 6 s for a query on an unused
 * connection that went silent, and a pause of 2 s (docs/guarantees.md).
 */
const COMPARED_WITHIN_MS = 6_000 + 2_000;

/** Statuses of refusals before the gateway sends or holds anything. */
const REFUSED: ReadonlySet<number | undefined> = new Set([401, 402, 403, 429, 503]);

/** Checks invariants 3 and 5: the ledger rows that the calls of a history may and must have. */
export class CallChecker {
  readonly #model: Model;
  readonly #reached: ReadonlyMap<number, number>;
  readonly #lives: readonly Life[];
  readonly #rows: ReadonlyMap<string, LedgerRow>;
  readonly #faults: string[] = [];

  constructor(
    snapshot: Snapshot,
    model: Model,
    reached: ReadonlyMap<number, number>,
    slots: readonly GatewaySlot[],
  ) {
    this.#model = model;
    this.#reached = reached;
    this.#lives = slots.flatMap(({ lives }) => lives);
    const rows = snapshot.ledger.filter(
      (row) => (row.type === 'charge' || row.type === 'expired_hold') && !isEstimated(row),
    );
    this.#rows = new Map(rows.map((row) => [row.id, row]));
    if (this.#rows.size !== rows.length) this.#faults.push('two rows have the same id');
  }

  check(): string[] {
    for (const [id, times] of this.#reached)
      if (times > 1) this.#faults.push(`call ${id} was sent upstream ${times} times`);
    for (const row of this.#rows.values()) this.#checkRow(row);
    const named = new Set<string>();
    const unnamed: CallModel[] = [];
    for (const call of this.#model.calls) {
      if (call.mustBeRefused && this.#reached.has(call.id)) {
        this.#faults.push(
          `call ${call.id} reached the upstream with key ${call.key.id}, answered as ${call.mustBeRefused} before`,
        );
      }
      if (call.answer?.status === 503 && !call.answer.isProviders && !this.#isInTrouble(call)) {
        this.#faults.push(
          `call ${call.id} of account ${call.key.account.id} was answered 503 by gateway ${call.slot}, where nothing was in its way: ${call.answer.text}`,
        );
      }
      const id = call.answer?.requestId;
      if (id === undefined) unnamed.push(call);
      else {
        named.add(id);
        this.#checkNamed(call, id);
      }
    }
    for (const calls of Map.groupBy(unnamed, ({ slot, key }) => `${slot} ${key.id}`).values()) {
      this.#checkUnnamed(calls, named);
    }
    return this.#faults;
  }

  #lifeOf(requestId: string): Life | undefined {
    return this.#lives.find(({ prefix }) => requestId.startsWith(prefix));
  }

  #checkRow({ id, type, credits, account_id }: LedgerRow): void {
    const life = this.#lifeOf(id);
    if (!life) this.#faults.push(`${id} is of no gateway that ever ran`);
    if (type !== 'expired_hold') return;
    if (life?.killedAt === undefined && !this.#isRevived(id) && !this.#mayBeUnheard(life, account_id))
      this.#faults.push(`the hold of ${id} expired, but its gateway never died`);
    if (credits !== 0) this.#faults.push(`the expired hold ${id} cost ${credits}`);
  }

  /** Checks a call whose id the client knows. */
  #checkNamed(call: CallModel, id: string): void {
    const row = this.#rows.get(id);
    const about = `call ${call.id} (${id}, answered ${call.answer?.status})`;
    if (!this.#reached.has(call.id)) {
      const isFree = row === undefined || row.type === 'expired_hold' || row.credits === 0;
      if (!isFree) this.#faults.push(`${about} did not reach the upstream and cost ${row.credits}`);
      if (row?.type === 'charge' && REFUSED.has(call.answer?.status)) {
        this.#faults.push(`${about} was refused and has a row`);
      }
      return;
    }
    if (!row) {
      if (!this.#mayBeLost(id) && !this.#mayBeUnheard(this.#lifeOf(id), call.key.account.id)) {
        this.#faults.push(`${about} reached the upstream and has no row; ${this.#whatBefell(call, id)}`);
      }
      return;
    }
    const { charge, isWhole } = call.answer ?? {};
    if (!isWhole) return;
    if (row.type === 'expired_hold') {
      const isExcused =
        this.#mayGoUnsettled(call, id) || this.#mayBeUnheard(this.#lifeOf(id), call.key.account.id);
      if (!isExcused) this.#faults.push(`${about} ended, and its hold expired`);
    } else if (charge !== undefined && creditsString(micro(-row.credits)) !== charge) {
      this.#faults.push(`${about} was told that it cost ${charge}; its row says ${row.credits}`);
    }
  }

  /**
   * True if a call may have no row, because Redis lost its entry before the book had it, or lost its hold and the
   * gateway died too. If Redis lost only the last moments, the gateway repeats the entry, unless it died first.
   */
  #mayBeLost(id: string): boolean {
    const life = this.#lifeOf(id);
    return this.#model.losses.some(({ entries, holds, trouble }) => {
      if (life?.killedAt !== undefined && holds.has(id)) return true;
      if (!entries.has(id)) return false;
      return (
        !trouble || (life?.killedAt !== undefined && life.killedAt <= this.#madeGoodBy(trouble, life.slot))
      );
    });
  }

  /**
   * True if a gateway may have ended before it learned that the master of an account was replaced. A frozen master may
   * then have run commands that its replica never gets (docs/guarantees.md): holds and settles that nobody else knows.
   */
  #mayBeUnheard(life: Life | undefined, accountId: number): boolean {
    const endedAt = life?.killedAt ?? life?.stoppedAt;
    if (!life || endedAt === undefined) return false;
    return this.#model.losses.some(
      ({ wasFrozen, buckets, at, trouble }) =>
        wasFrozen &&
        trouble &&
        buckets.has(bucketOf(accountId)) &&
        endedAt >= at &&
        endedAt <= this.#madeGoodBy(trouble, life.slot),
    );
  }

  /**
   * Time by which the gateway in a slot has restored what Redis lost, for which it must compare Redis with the book.
   */
  #madeGoodBy(trouble: Trouble, slot: number): number {
    return this.#model.troubles
      .filter(({ ofBook, slot: whose = slot }) => ofBook && whose === slot)
      .sort((a, b) => a.from - b.from)
      .reduce((by, { from, to }) => (from <= by ? Math.max(by, to + COMPARED_WITHIN_MS) : by), trouble.to);
  }

  /** Faults of Redis, the book and the gateway of a call, in milliseconds after its answer. */
  #whatBefell({ answer }: CallModel, id: string): string {
    const after = (at: number | undefined) => Math.round((at ?? NaN) - (answer?.endedAt ?? NaN));
    const losses = this.#model.losses.flatMap(({ at, entries, holds, trouble, isFailover }) => {
      const lost = [...(entries.has(id) ? ['its entry'] : []), ...(holds.has(id) ? ['its hold'] : [])];
      if (lost.length === 0) return [];
      const how = trouble ? `${isFailover ? 'failover' : 'set back'}, until ${after(trouble.to)}` : 'emptied';
      return [`Redis lost ${lost.join(' and ')} at ${after(at)} (${how})`];
    });
    const book = this.#model.troubles
      .filter(({ ofBook }) => ofBook)
      .map(
        ({ from, to, slot }) =>
          `${after(from)} to ${after(to)}${slot === undefined ? '' : ` of gateway ${slot}`}`,
      );
    return [
      ...losses,
      `the gateway was killed at ${after(this.#lifeOf(id)?.killedAt)}`,
      `trouble of the book: ${book.join(', ')}`,
    ].join('; ');
  }

  /** True if a settled call has its hold again, because Redis lost the settle. Its gateway can't know. */
  #isRevived(id: string): boolean {
    return this.#model.losses.some(({ revived }) => revived.has(id));
  }

  /**
   * True if the settle of an ended call may be lost in a double fault: the gateway, which alone had the charge, died
   * while it couldn't reach Redis. It also can't settle while an account that Redis lost waits to be rebuilt from a
   * book that is away.
   */
  #mayGoUnsettled({ answer, slot, key }: CallModel, id: string): boolean {
    if (this.#isRevived(id) && this.#mayBeLost(id)) return true;
    const killedAt = this.#lifeOf(id)?.killedAt;
    if (killedAt === undefined || !answer) return false;
    const from = answer.endedAt - SETTLE_MS;
    const isRebuilt = this.#model.losses.some(({ at }) => at <= killedAt);
    return this.#model.troubles.some(
      (trouble) =>
        (trouble.slot ?? slot) === slot &&
        trouble.buckets.has(bucketOf(key.account.id)) &&
        trouble.from <= killedAt &&
        trouble.to >= from &&
        (!trouble.ofBook || isRebuilt),
    );
  }

  /**
   * True if a refusal of the call is excused: Redis or the book was in trouble for its account at its gateway while it
   * was under way, or a gateway had just died that may have been rebuilding the account, for which the others wait.
   *
   * How long it takes until what was in trouble serves again depends on the machine. So a trouble lasts until a call of
   * the account was served there that began after it; that this comes to pass is checked in `heal` and `touchAll`
   * (quiesce.ts).
   */
  #isInTrouble(call: CallModel): boolean {
    const { key, slot, startedAt, answer } = call;
    const isRebuilt = this.#lives.some(
      ({ killedAt = Infinity }) =>
        killedAt <= (answer?.endedAt ?? 0) && killedAt + DEAD_REBUILD_MS >= startedAt,
    );
    if (isRebuilt) return true;
    return this.#model.troubles.some(
      (trouble) =>
        (trouble.slot ?? slot) === slot &&
        trouble.buckets.has(bucketOf(key.account.id)) &&
        trouble.from <= (answer?.endedAt ?? 0) &&
        (trouble.to >= startedAt || !this.#wasServedBetween(trouble.to, call)),
    );
  }

  /** True if the gateway served a whole call of the same account in the time before the call. */
  #wasServedBetween(from: number, { key, slot, startedAt }: CallModel): boolean {
    return this.#model.calls.some(
      (other) =>
        other.slot === slot &&
        other.key.account === key.account &&
        other.startedAt > from &&
        other.answer?.status === 200 &&
        other.answer.endedAt < startedAt,
    );
  }

  /**
   * Checks the calls of one key at one gateway whose clients saw no head, and so no id. It can only count their rows.
   */
  #checkUnnamed(calls: readonly CallModel[], named: ReadonlySet<string>): void {
    const [first] = calls;
    if (!first) return;
    const { slot, key } = first;
    const isTheirs = (id: string) => this.#lifeOf(id)?.slot === slot && !named.has(id);
    const rows = [...this.#rows.values()].filter((row) => row.key_id === key.id && isTheirs(row.id));
    const reached = calls.filter(({ id }) => this.#reached.has(id)).length;
    const lost = this.#lostOf(key.id).filter((id) => isTheirs(id) && !this.#rows.has(id)).length;
    const about = `of ${calls.length} calls of key ${key.id} at gateway ${slot} without a head, ${reached} reached the upstream`;
    const mayBeUnheard = this.#lives.some(
      (life) => life.slot === slot && this.#mayBeUnheard(life, key.account.id),
    );
    if (rows.length + lost < reached && !mayBeUnheard)
      this.#faults.push(`${about}; there are ${rows.length} rows`);
    if (rows.length > calls.length)
      this.#faults.push(`${about}; there are ${rows.length} rows: ${rows.map(({ id }) => id)}`);
    const paid = rows.filter(({ credits }) => credits !== 0).length;
    if (paid > reached) this.#faults.push(`${about}; ${paid} were charged`);
  }

  #lostOf(keyId: number): string[] {
    const ids = this.#model.losses.flatMap(({ entries, holds }) =>
      [...entries, ...holds].filter(([, what]) => what.keyId === keyId).map(([id]) => id),
    );
    return [...new Set(ids)].filter((id) => this.#mayBeLost(id));
  }
}

/** If calls wait for a replica, checks that no call was sent whose hold a failover lost (docs/guarantees.md). */
export function checkReplicated({ calls, losses }: Model, reached: ReadonlyMap<number, number>): string[] {
  const lost = new Set(losses.flatMap(({ isFailover, holds }) => (isFailover ? [...holds.keys()] : [])));
  return calls
    .filter(({ id, answer }) => reached.has(id) && lost.has(answer?.requestId ?? ''))
    .map(({ id, answer }) => `call ${id} (${answer?.requestId}) was sent, though no replica had its hold`);
}

/** Prefix of the ids of estimated calls (estimated-calls.ts). */
const PREFIX = 'estimated-';

export function isEstimated({ id }: { readonly id: string }): boolean {
  return id.startsWith(PREFIX);
}

/** Invariant 3 for calls made directly to the ledger: a settled call has one charge of its cost; any other has none. */
export function checkEstimatedCalls({ ledger }: Snapshot, model: Model): string[] {
  const faults: string[] = [];
  const rows = Map.groupBy(ledger.filter(isEstimated), ({ id }) => id);
  for (const { requestId, cost, state } of model.estimatedCalls) {
    const [row, ...more] = rows.get(requestId) ?? [];
    rows.delete(requestId);
    if (more.length > 0) faults.push(`${requestId} has ${more.length + 1} rows`);
    // Redis lost the settle: the hold came back and expired.
    if (model.losses.some(({ revived }) => revived.has(requestId))) continue;
    if (state !== 'settled') {
      const isFree = row === undefined || (row.type === 'expired_hold' && row.credits === 0);
      if (!isFree) faults.push(`${requestId} was ${state} and has a row: ${JSON.stringify(row)}`);
    } else if (row === undefined) {
      if (!isLost(requestId, model.losses)) faults.push(`${requestId} was settled and has no row`);
    } else if (row.type !== 'charge' || row.credits + cost !== 0) {
      faults.push(`${requestId} cost ${cost}; its row is ${JSON.stringify(row)}`);
    }
  }
  for (const id of rows.keys()) faults.push(`${id} was never told to the ledger`);
  return faults;
}

/** The driver is alive: it restores what Redis lost in its last moments, but not what an emptied Redis lost. */
function isLost(id: string, losses: readonly Loss[]): boolean {
  return losses.some(({ entries, trouble }) => entries.has(id) && !trouble);
}
