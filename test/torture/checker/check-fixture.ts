import type { ReceivedRequest } from '../../helper/stand-ins/receiver.ts';
import type { Answered } from '../driver/client.ts';
import { firstThreshold } from '../driver/history.ts';
import { limitsFrom, NO_LIMITS } from '../model/limits-model.ts';
import { type CallModel, keyModel, type Loss, Model } from '../model/model.ts';
import { spendingFrom } from '../model/spending-model.ts';
import { newestOf } from '../model/values-model.ts';
import type { GatewaySlot } from '../world/gateway-slot.ts';
import { checkCrossings, checkDeliveries } from './check-alerts.ts';
import { CallChecker, checkEstimatedCalls } from './check-calls.ts';
import { checkBalances, checkOverspending, checkTopUps } from './check-money.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

export const CREDIT = 1_000_000;
export const PREFIX = 'req_aaaaaaaaaaaaaaaa';

export function row(
  seq: number,
  id: string,
  credits: number,
  after: number,
  more: Partial<LedgerRow> = {},
): LedgerRow {
  const isGrant = credits > 0;
  return {
    account_id: 1,
    seq,
    id,
    type: isGrant ? 'top_up' : 'charge',
    day: 20_000,
    key_id: isGrant ? null : 1,
    model: isGrant ? null : 'flat',
    outcome: isGrant ? null : 'complete',
    credits: credits * CREDIT,
    balance_after: after * CREDIT,
    note: null,
    estimated: 0,
    usage: '{}',
    upstream: null,
    call: null,
    ...more,
  };
}

/** An account with 10 credits and a threshold of 8. Its key made two calls of 1 and 2 credits, and a top-up added 5. */
export function fixture() {
  const snapshot: Snapshot = {
    accounts: [
      {
        id: 1,
        email: 'a@example.com',
        balance: 12 * CREDIT,
        alert_threshold: 8 * CREDIT,
        seq: 4,
        epoch: 1,
        version: 1,
        spending_limits: '[]',
        ...NO_LIMITS,
      },
    ],
    keys: [{ id: 1, account_id: 1, version: 1, ...NO_LIMITS }],
    ledger: [
      row(1, 'grant', 10, 10, { note: 'Initial credits' }),
      row(2, `${PREFIX}1`, -1, 9),
      row(3, `${PREFIX}2`, -2, 7),
      row(4, 'top', 5, 12, { note: 'top-up 1' }),
    ],
    alerts: [{ id: 1, account_id: 1, entry_id: `${PREFIX}2`, credits_balance: 7 * CREDIT, state: 'claimed' }],
    deliveries: [{ alert_id: 1, key_id: 1, status: 'delivered' }],
    pendingGrants: 0,
    liveAccounts: new Map([[1, { ep: '1', bal: '12000000', held: '0', slack: '0', seq: '4' }]]),
    liveKeys: new Map([
      [
        1,
        {
          ep: '1',
          held: '0',
          slack: '0',
          d: '20000',
          ds: '3000000',
          w: '19998',
          ws: '3000000',
          m: '19990',
          ms: '3000000',
        },
      ],
    ]),
    leftovers: [],
  };
  const model = new Model();
  const account = {
    id: 1,
    email: 'a@example.com',
    granted: 10 * CREDIT,
    highestOverdraft: 0,
    thresholds: [firstThreshold(8 * CREDIT)],
    limits: limitsFrom(NO_LIMITS),
    spending: spendingFrom([]),
  };
  const key = keyModel(1, 'sk', account, { highestLimit: 3 * CREDIT });
  model.accounts.push(account);
  model.keys.push(key);
  model.topUps.push({ account, amount: 5 * CREDIT, idempotencyKey: 'top-up 1', isAcknowledged: true });
  const call = (id: number, charge: string): CallModel => ({
    id,
    key,
    value: newestOf(key),
    slot: 0,
    mustBeRefused: undefined,
    startedAt: 0,
    answer: answer({ requestId: `${PREFIX}${id}`, charge, endedAt: 1_000 }),
  });
  model.calls.push(call(1, '1.000000'), call(2, '2.000000'));
  const reached = new Map([
    [1, 1],
    [2, 1],
  ]);
  const life: { slot: number; prefix: string; killedAt: number | undefined; stoppedAt?: number } = {
    slot: 0,
    prefix: PREFIX,
    killedAt: undefined,
  };
  const posts = [post('msg_1_1')];
  return { snapshot, model, reached, life, posts };
}

/** A whole answer of status 200 without a text. */
export function answer(more: Partial<Answered>): Answered {
  const empty = { requestId: undefined, charge: undefined, isProviders: false, text: '', leftAt: undefined };
  return { status: 200, isWhole: true, endedAt: 0, ...empty, ...more };
}

/** A loss at time 0 of everything that is not named. */
export function loss(more: Partial<Loss> = {}): Loss {
  const nothing = { entries: new Map(), holds: new Map(), revived: new Set<string>() };
  return { from: 0, at: 0, buckets: new Set([1]), ...nothing, ...more };
}

export function post(id: string): ReceivedRequest {
  return { method: 'POST', path: '/', headers: { 'webhook-id': id }, body: '{"credits_balance":7}', at: 0 };
}

export type Fixture = ReturnType<typeof fixture>;

export function faultsOf({ snapshot, model, reached, life, posts }: Fixture): string[] {
  const slot = { lives: [life] } as unknown as GatewaySlot;
  return [
    ...checkBalances(snapshot),
    ...checkOverspending(snapshot, model),
    ...checkTopUps(snapshot, model),
    ...checkEstimatedCalls(snapshot, model),
    ...new CallChecker(snapshot, model, reached, [slot]).check(),
    ...checkCrossings(snapshot, model),
    ...checkDeliveries(snapshot, posts),
  ];
}

/** The fixture with another ledger, and matching balances. */
export function withLedger(base: Fixture, ledger: LedgerRow[]): Fixture {
  return { ...base, snapshot: { ...base.snapshot, ledger } };
}
