import { deepStrictEqual, equal } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../../src/domain/key.ts';
import { LIMIT_PERIODS } from '../../src/domain/limit-periods.ts';
import { periodStarts } from '../../src/domain/period.ts';
import {
  ownedLimits,
  SPENDING_OWNERS,
  type SpendingLimit,
  type SpendingOwner,
  spentIn,
} from '../../src/domain/spending-limits.ts';
import { RedisClock } from '../../src/ledger/redis/clock.ts';
import { accountRedisKey, keyRedisKey, memberRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { ScriptSender } from '../../src/ledger/redis/script-sender.ts';
import { scriptText } from '../../src/ledger/redis/scripts.ts';
import { newKey } from '../helper/fixtures/book-records.ts';
import { admissionOf, chargeOf, type TestLedger } from '../helper/start/ledger.ts';
import { OPEN_KEY } from '../helper/start/ledger-account.ts';
import { limitMember, memberOn } from '../helper/start/members.ts';
import fc from '../helper/suite/fast-check.ts';
import {
  type CallModel,
  FIVE_HOURS_MS,
  MEMBER_KEYS,
  type OwnerModel,
  SpendingModel,
} from './spending-model.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Redis' time at the beginning of each case: years ahead, so no sweep by the real clock ends a hold. */
const START = Date.UTC(2040, 0, 30, 21);
/** The member of the account. */
/** The requests' time limit in test/helper/start/ledger.ts, and the margin of a hold. */
const HOLD_TTL_MS = 120_000;

/**
 * A clock of Redis that the test moves. Admissions, the only script of these tests that decides by Redis' clock,
 * run one by one with it in place of TIME.
 */
class Clock {
  now = START;
  /** How far the gateway is behind. */
  lagMs = 0;

  constructor(t: Test, { raw }: TestLedger) {
    const { now } = RedisClock.prototype;
    const { send } = ScriptSender.prototype;
    t.teardown(() => {
      RedisClock.prototype.now = now;
      ScriptSender.prototype.send = send;
    });
    RedisClock.prototype.now = () => this.gatewayNow;
    const clock = this;
    ScriptSender.prototype.send = function (script, command, onReply) {
      if (script !== 'admit') {
        send.call(this, script, command, onReply);
        return;
      }
      const { keys, id, numbers, record } = command;
      raw
        .eval(
          clock.stub + scriptText(script),
          keys.length,
          ...keys,
          id,
          numbers,
          record,
          Number.MAX_SAFE_INTEGER,
        )
        .then(
          (replies) => onReply(null, (replies as unknown[])[0]),
          (error: Error) => onReply(error, undefined),
        );
    };
  }

  get gatewayNow(): number {
    return this.now - this.lagMs;
  }

  get stub(): string {
    const seconds = Math.floor(this.now / 1_000);
    return `local redis = { call = function(name, ...)
      if name == 'TIME' then return { '${seconds}', '${(this.now % 1_000) * 1_000}' } end
      return redis.call(name, ...)
    end }
    `;
  }
}

type Losing = 'everything' | 'account' | 'keys' | 'member' | 'account and keys';

type Drawn =
  | {
      readonly step: 'admit';
      readonly key: number;
      readonly hold: number;
      readonly estimate: number;
      readonly lagMs: number;
    }
  | { readonly step: 'settle'; readonly call: number; readonly parts: number; readonly lagMs: number }
  | { readonly step: 'cancel' | 'refund'; readonly call: number }
  | { readonly step: 'limits'; readonly of: SpendingOwner; readonly key: number; readonly limits: Limits }
  | { readonly step: 'overdraft'; readonly credits: number }
  | { readonly step: 'wait'; readonly ms: number }
  | {
      readonly step: 'wait until';
      readonly end: Ending;
      readonly ms: number;
    }
  | { readonly step: 'lose'; readonly what: Losing; readonly isDrained: boolean }
  | { readonly step: 'expire' };

type Ending = 'hours of key' | 'hours of member' | 'hours of account' | 'day';

type Limits = readonly { readonly period: SpendingLimit['period']; readonly credits: number }[];

const index = fc.nat(7);
const step = <Kind extends Drawn['step']>(kind: Kind) => fc.constant(kind);

/** How late a gateway knows Redis' clock, or sends a settle after an outage. */
const lagMs = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.nat(8 * HOUR_MS) },
);

const limits: fc.Arbitrary<Limits> = fc.uniqueArray(
  fc.record({ period: fc.constantFrom(...LIMIT_PERIODS), credits: fc.integer({ min: 0, max: 60 }) }),
  { selector: ({ period }) => period, maxLength: LIMIT_PERIODS.length },
);

const drawnStep: fc.Arbitrary<Drawn> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({ step: step('admit'), key: index, hold: fc.nat(20), estimate: fc.nat(20), lagMs }),
  },
  { weight: 8, arbitrary: fc.record({ step: step('settle'), call: index, parts: fc.nat(4), lagMs }) },
  { weight: 1, arbitrary: fc.record({ step: step('cancel'), call: index }) },
  { weight: 1, arbitrary: fc.record({ step: step('refund'), call: index }) },
  {
    weight: 2,
    arbitrary: fc.record({
      step: step('limits'),
      of: fc.constantFrom<SpendingOwner>(...SPENDING_OWNERS),
      key: index,
      limits,
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: step('overdraft'), credits: fc.nat(10) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      step: step('wait'),
      ms: fc.oneof(
        fc.integer({ min: -HOUR_MS, max: 3 * HOUR_MS }),
        fc.integer({ min: -DAY_MS, max: 9 * DAY_MS }),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: step('wait until'),
      end: fc.constantFrom<Ending>('hours of key', 'hours of member', 'hours of account', 'day'),
      ms: fc.integer({ min: -2, max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: step('lose'),
      what: fc.constantFrom<Losing>('everything', 'account', 'keys', 'member', 'account and keys'),
      isDrained: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: step('expire') }) },
);

/** Numbers of calls. */
type Verdicts = Record<'held' | 'over_limit', number>;

/** Runs one drawn case on an account with a key and a member with two keys, and compares every window with the model after each step. */
class Case {
  readonly #verdicts: Verdicts;
  readonly #world: TestLedger;
  readonly #clock: Clock;
  readonly #model = new SpendingModel();
  readonly #keys: KeyRecord[];
  readonly #personId: number;
  #account: AccountRecord;
  /** Charges, with the index of their key. */
  readonly #charges: { readonly id: string; readonly key: number }[] = [];

  private constructor(
    world: TestLedger,
    clock: Clock,
    verdicts: Verdicts,
    account: AccountRecord,
    personId: number,
    keys: KeyRecord[],
  ) {
    this.#verdicts = verdicts;
    this.#world = world;
    this.#clock = clock;
    this.#account = account;
    this.#personId = personId;
    this.#keys = keys;
  }

  static async begin(world: TestLedger, clock: Clock, verdicts: Verdicts): Promise<Case> {
    await world.raw.flushall();
    clock.now = START;
    clock.lagMs = 0;
    const { account, key } = await world.account({ credits: 1_000_000 });
    const personId = await memberOn(world.book, account.id);
    const keys: KeyRecord[] = [];
    for (let index = 0; index < MEMBER_KEYS; index++) {
      const made = newKey({ ...OPEN_KEY, canManage: false, personId, memberSpendingLimits: [] });
      const record = await world.book.createKey(account.id, made, Date.now());
      await world.open.ledger.publishKey(record, record.hash);
      keys.push(record);
    }
    const begun = new Case(world, clock, verdicts, account, personId, [...keys, key]);
    await begun.#rebuild();
    return begun;
  }

  async run(drawn: Drawn): Promise<void> {
    this.#clock.lagMs = 'lagMs' in drawn ? drawn.lagMs : 0;
    await this.#step(drawn);
    this.#clock.lagMs = 0;
    await this.#compare(JSON.stringify(drawn));
  }

  #step(drawn: Drawn): Promise<void> | void {
    const { held, lost } = this.#model;
    const open = [...held, ...lost];
    switch (drawn.step) {
      case 'admit':
        return this.#admit(drawn.key % this.#keys.length, drawn.hold, Math.min(drawn.estimate, drawn.hold));
      case 'settle': {
        const call = open[drawn.call % open.length];
        return call && this.#settle(call, Math.floor((call.hold * drawn.parts) / 4));
      }
      case 'cancel': {
        const call = held[drawn.call % held.length];
        return call && this.#cancel(call);
      }
      case 'refund': {
        const charge = this.#charges[drawn.call % this.#charges.length];
        return charge && this.#refund(charge);
      }
      case 'limits': {
        const { of, key, limits } = drawn;
        return this.#limit(of, key % this.#keys.length, limits as readonly SpendingLimit[]);
      }
      case 'overdraft':
        return this.#changeAccount({ overdraft: micro(drawn.credits) });
      case 'wait':
        this.#clock.now += drawn.ms;
        return undefined;
      case 'wait until':
        this.#clock.now = Math.max(this.#clock.now, this.#endOf(drawn.end) + drawn.ms);
        return undefined;
      case 'lose':
        return this.#lose(drawn.what, drawn.isDrained);
      case 'expire':
        return this.#expire();
    }
  }

  async #admit(index: number, hold: number, estimate: number): Promise<void> {
    const { now, gatewayNow } = this.#clock;
    const key = this.#keys[index] as KeyRecord;
    const spendingLimits = ownedLimits(key, this.#account.spendingLimits);
    const admission = admissionOf(key, hold / 1e6, {
      estimate: micro(estimate),
      accountVersion: this.#account.version,
      spendingLimits,
    });
    const call = {
      id: admission.requestId,
      key: index,
      hold,
      estimate,
      admittedAt: gatewayNow,
      deadline: gatewayNow + HOLD_TTL_MS,
    };
    const expected = this.#model.fits(call, spendingLimits, now, gatewayNow) ? 'held' : 'over_limit';
    const admitted = await this.#world.open.ledger.admit(admission);
    equal(admitted.verdict, expected);
    this.#verdicts[expected]++;
    if (admitted.verdict === 'held') this.#model.admitted(call, now);
  }

  async #settle(call: CallModel, credits: number): Promise<void> {
    const { open } = this.#world;
    const key = this.#keys[call.key] as KeyRecord;
    const charge = chargeOf(admissionOf(key, 0, { requestId: call.id }), credits / 1e6);
    open.ledger.settle({ ...charge, admittedAt: call.admittedAt }, () => {});
    while (open.openSettlements() > 0) await setImmediate();
    this.#model.settled(call, credits, this.#clock.gatewayNow);
    this.#charges.push({ id: call.id, key: call.key });
  }

  async #cancel(call: CallModel): Promise<void> {
    const { unanswered, sweep } = this.#world.open;
    const { id: keyId, accountId, personId } = this.#keys[call.key] as KeyRecord;
    unanswered.add({ requestId: call.id, accountId, keyId, personId });
    await sweep.cancelUnanswered();
    this.#model.released(call);
  }

  async #refund({ id, key }: { readonly id: string; readonly key: number }): Promise<void> {
    await this.#world.open.refunds.refund(this.#account.id, id);
    this.#model.refunded(key, id);
  }

  async #limit(of: SpendingOwner, index: number, limits: readonly SpendingLimit[]): Promise<void> {
    if (of === 'account') return this.#changeAccount({ spendingLimits: limits });
    const key = this.#keys[index] as KeyRecord;
    const { book, open } = this.#world;
    if (of === 'member') {
      for (const changed of await limitMember(book, key.accountId, this.#personId, limits)) {
        await open.ledger.publishKey(changed);
        this.#keys[this.#keys.findIndex(({ id }) => id === changed.id)] = changed;
      }
      return;
    }
    const changed = await book.updateKey(key.accountId, key.id, { spendingLimits: limits }, Date.now());
    if (!changed) throw new Error('no key');
    await open.ledger.publishKey(changed);
    this.#keys[index] = changed;
  }

  async #changeAccount(change: Partial<Pick<AccountRecord, 'overdraft' | 'spendingLimits'>>): Promise<void> {
    const { book, open } = this.#world;
    const changed = await book.updateAccount(this.#account.id, change, Date.now());
    if (!changed) throw new Error('no account');
    await open.ledger.publishAccount(changed);
    this.#account = changed;
    this.#model.overdraft = changed.overdraft;
  }

  async #lose(what: Losing, isDrained: boolean): Promise<void> {
    const { raw, open, book } = this.#world;
    if (isDrained) await open.drain.drainAll();
    if (what === 'everything') {
      const entries = this.#model.all.flatMap((owner) => owner.entries.map(({ id }) => id));
      this.#model.lose(await book.entriesAmong(entries));
      await raw.flushall();
    }
    const { id } = this.#account;
    if (what === 'member') await raw.del(memberRedisKey(id, this.#personId));
    if (what === 'account' || what === 'account and keys') await raw.del(accountRedisKey(id));
    if (what === 'keys' || what === 'account and keys')
      await raw.del(this.#keys.map((key) => keyRedisKey(id, key.id)));
    await this.#rebuild();
  }

  async #rebuild(): Promise<void> {
    await this.#windows();
    this.#model.rebuilt(this.#clock.gatewayNow);
  }

  async #expire(): Promise<void> {
    const { now } = this.#clock;
    await this.#world.open.sweep.expireHolds(now);
    for (const call of this.#model.held) if (call.deadline <= now) this.#model.settled(call, 0, now);
  }

  #endOf(end: Ending): number {
    const { keys, member, account } = this.#model;
    if (end === 'day') return (Math.floor(this.#clock.now / DAY_MS) + 1) * DAY_MS;
    const owners = {
      'hours of key': keys[0] as OwnerModel,
      'hours of member': member,
      'hours of account': account,
    };
    return owners[end].hours + FIVE_HOURS_MS;
  }

  #windows() {
    return this.#world.open.ledger.windows(this.#account.id, [
      ...this.#keys.map(({ id }) => id),
      { personId: this.#personId },
      'account',
    ]);
  }

  async #compare(after: string): Promise<void> {
    const { gatewayNow: now } = this.#clock;
    const found = (await this.#windows()).map((windows) => ({
      hours: windows.hours,
      spent: LIMIT_PERIODS.map((period) => spentIn(windows, period, periodStarts(now), now) as number),
    }));
    const wanted = this.#model.all.map((owner) => ({
      hours: owner.hours,
      spent: LIMIT_PERIODS.map((period) => owner.spent(period, now)),
    }));
    deepStrictEqual(found, wanted, after);
    const { id } = this.#account;
    const owners = [...this.#keys.map((key) => key.id), { personId: this.#personId }];
    const reserved = await Promise.all(owners.map((owner) => this.#world.open.ledger.reserved(id, owner)));
    deepStrictEqual(
      reserved,
      this.#model.all.slice(0, -1).map((owner) => this.#model.reserved(owner)),
      after,
    );
  }
}

/**
 * Draws calls, limits, losses and clocks, and compares each verdict and every window with a model. The journal is
 * drained only where a step or a rebuild drains it.
 */
export async function checkDrawnSpending(
  t: Test,
  world: TestLedger,
  options: { readonly numRuns: number; readonly seed?: number },
): Promise<void> {
  world.open.drain.abandon();
  const clock = new Clock(t, world);
  const verdicts: Verdicts = { held: 0, over_limit: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(drawnStep, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
      const drawn = await Case.begin(world, clock, verdicts);
      for (const each of steps) await drawn.run(each);
    }),
    options,
  );
  t.comment(`${verdicts.held} calls were held, ${verdicts.over_limit} over a limit`);
  t.ok(verdicts.held > 0 && verdicts.over_limit > 0);
}
