import { test } from 'tap';
import type { ReceivedRequest } from '../helper/receiver.ts';
import { CallChecker } from './check-calls.ts';
import { checkAlerts, checkBalances, checkOverspending, checkTopUps } from './check-money.ts';
import type { GatewaySlot } from './gateway-slot.ts';
import { type CallModel, Model } from './model.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

/** The judge of the histories is itself held to what it must find. */

const CREDIT = 1_000_000;
const PREFIX = 'req_aaaaaaaaaaaaaaaa';

function row(
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
    outcome: isGrant ? null : 'complete',
    credits: credits * CREDIT,
    balance_after: after * CREDIT,
    note: null,
    ...more,
  };
}

/** An account of 10 credits with the threshold 8, whose key made two calls of 1 and 2 credits and was topped up by 5. */
function fixture() {
  const snapshot: Snapshot = {
    accounts: [
      { id: 1, email: 'a@example.com', balance: 12 * CREDIT, alert_threshold: 8 * CREDIT, seq: 4, epoch: 1 },
    ],
    keys: [{ id: 1, account_id: 1 }],
    ledger: [
      row(1, 'grant', 10, 10, { note: 'Initial credits' }),
      row(2, `${PREFIX}1`, -1, 9),
      row(3, `${PREFIX}2`, -2, 7),
      row(4, 'top', 5, 12, { note: 'top-up 1' }),
    ],
    alerts: [{ id: 1, account_id: 1, entry_id: `${PREFIX}2`, credits_balance: 7 * CREDIT, state: 'claimed' }],
    deliveries: [{ alert_id: 1, key_id: 1, status: 'delivered' }],
    pendingGrants: 0,
    liveAccounts: new Map([[1, { ep: '1', bal: '12000000', held: '0', seq: '4' }]]),
    liveKeys: new Map([
      [
        1,
        {
          ep: '1',
          held: '0',
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
  const account = { id: 1, email: 'a@example.com', granted: 10 * CREDIT, threshold: 8 * CREDIT };
  const key = {
    id: 1,
    value: 'sk',
    account,
    highestLimit: 3 * CREDIT,
    isActive: true,
    isRestricted: false,
    mayOpen: false,
  };
  model.accounts.push(account);
  model.keys.push(key);
  model.topUps.push({ account, amount: 5 * CREDIT, idempotencyKey: 'top-up 1', isAcknowledged: true });
  const call = (id: number, charge: string): CallModel => ({
    id,
    key,
    slot: 0,
    mustBeRefused: undefined,
    startedAt: 0,
    answer: { status: 200, requestId: `${PREFIX}${id}`, charge, isWhole: true, text: '', endedAt: 1_000 },
  });
  model.calls.push(call(1, '1.000000'), call(2, '2.000000'));
  const reached = new Map([
    [1, 1],
    [2, 1],
  ]);
  const life: { slot: number; prefix: string; killedAt: number | undefined } = {
    slot: 0,
    prefix: PREFIX,
    killedAt: undefined,
  };
  const posts = [post('msg_1_1')];
  return { snapshot, model, reached, life, posts };
}

function post(id: string): ReceivedRequest {
  return { method: 'POST', path: '/', headers: { 'webhook-id': id }, body: '{"credits_balance":7}', at: 0 };
}

type Fixture = ReturnType<typeof fixture>;

function faultsOf({ snapshot, model, reached, life, posts }: Fixture): string[] {
  const slot = { lives: [life] } as unknown as GatewaySlot;
  return [
    ...checkBalances(snapshot),
    ...checkOverspending(snapshot, model),
    ...checkTopUps(snapshot, model),
    ...new CallChecker(snapshot, model, reached, [slot]).check(),
    ...checkAlerts(snapshot, posts),
  ];
}

/** The fixture with its ledger changed, and balances that fit. */
function withLedger(base: Fixture, ledger: LedgerRow[]): Fixture {
  return { ...base, snapshot: { ...base.snapshot, ledger } };
}

test('a history in which everything is right passes', async (t) => {
  t.same(faultsOf(fixture()), []);
});

const WRONGS: readonly [string, (right: Fixture) => Fixture, RegExp][] = [
  [
    'a balance that is not its ledger',
    (right) => ({
      ...right,
      snapshot: {
        ...right.snapshot,
        accounts: right.snapshot.accounts.map((account) => ({ ...account, balance: account.balance - 1 })),
      },
    }),
    /the balance is 11999999, its ledger 12000000/,
  ],
  [
    'a live balance that is not the book’s',
    (right) => ({
      ...right,
      snapshot: {
        ...right.snapshot,
        liveAccounts: new Map([[1, { ep: '1', bal: '13', held: '0', seq: '4' }]]),
      },
    }),
    /bal is 13 in Redis, 12000000 in the book/,
  ],
  [
    'a hold that was left behind',
    (right) => ({ ...right, snapshot: { ...right.snapshot, leftovers: ['hold x'] } }),
    /left behind: hold x/,
  ],
  [
    'a balance below 0 for a moment',
    (right) =>
      withLedger(
        right,
        right.snapshot.ledger.map((r) => (r.seq === 3 ? { ...r, balance_after: -1 } : r)),
      ),
    /its balance was -1/,
  ],
  [
    'a key above its limit',
    (right) => {
      for (const key of right.model.keys) key.highestLimit = 2 * CREDIT;
      return right;
    },
    /spent 3000000 in 2024-10, above its limit of 2000000/,
  ],
  [
    'a top-up applied twice',
    (right) => withLedger(right, [...right.snapshot.ledger, row(5, 'again', 5, 17, { note: 'top-up 1' })]),
    /^top-up 1 of 5000000/,
  ],
  [
    'a call without a row',
    (right) =>
      withLedger(
        right,
        right.snapshot.ledger.filter(({ seq }) => seq !== 2),
      ),
    /call 1 .* has no row/,
  ],
  [
    'a call that was charged otherwise than its client was told',
    (right) => {
      const [first] = right.model.calls;
      if (first?.answer) first.answer = { ...first.answer, charge: '1.000001' };
      return right;
    },
    /was told that it cost 1\.000001; its row says -1000000/,
  ],
  [
    'a call that was sent twice',
    (right) => ({ ...right, reached: new Map([...right.reached, [2, 2]]) }),
    /call 2 was sent upstream 2 times/,
  ],
  [
    'a charge for a call that was refused',
    (right) => ({ ...right, reached: new Map([[1, 1]]) }),
    /call 2 .* did not reach the upstream and cost -2000000/,
  ],
  [
    'a charge without a call',
    (right) => {
      const [, second] = right.model.calls;
      if (second?.answer) second.answer = { ...second.answer, requestId: undefined, status: undefined };
      return { ...right, reached: new Map([[1, 1]]) };
    },
    /of 1 calls .* 0 reached the upstream; 1 were charged/,
  ],
  [
    'a call with a deleted key',
    (right) => {
      const [first] = right.model.calls;
      if (first) first.mustBeRefused = 'deleted';
      return right;
    },
    /call 1 reached the upstream with key 1, answered as deleted before/,
  ],
  [
    'a hold that expired under a gateway that lives',
    (right) =>
      withLedger(
        right,
        right.snapshot.ledger.map((r) =>
          r.seq === 2 ? { ...r, type: 'expired_hold', credits: 0, balance_after: 10 * CREDIT } : r,
        ),
      ),
    /expired, but its gateway never died/,
  ],
  [
    'a crossing without an alert',
    (right) => ({ ...right, snapshot: { ...right.snapshot, alerts: [], deliveries: [] }, posts: [] }),
    /^crossings req_a+2, but alerts for $/,
  ],
  [
    'an alert that was sent twice',
    (right) => ({ ...right, posts: [post('msg_1_1'), post('msg_1_1')] }),
    /msg_1_1 was sent twice/,
  ],
  [
    'an alert that did not arrive',
    (right) => ({ ...right, posts: [] }),
    /msg_1_1 is delivered, but did not arrive/,
  ],
  [
    'an alert that nobody planned',
    (right) => ({ ...right, posts: [post('msg_1_1'), post('msg_1_2')] }),
    /msg_1_2 was sent, but is not in the book/,
  ],
];

for (const [what, spoil, fault] of WRONGS) {
  test(`${what} is found`, async (t) => {
    const faults = faultsOf(spoil(fixture()));
    t.ok(
      faults.some((line) => fault.test(line)),
      faults.join('\n'),
    );
  });
}

test('an answered call whose hold expired is right only where its gateway died while Redis was in trouble', async (t) => {
  const base = fixture();
  base.life.killedAt = 1_100;
  const ledger = [
    row(1, 'grant', 10, 10, { note: 'Initial credits' }),
    row(2, `${PREFIX}1`, 0, 10, { type: 'expired_hold', outcome: null }),
    ...base.snapshot.ledger.slice(2),
  ];
  const about = (fault: string) => fault.includes('its hold expired');
  t.equal(faultsOf(withLedger(base, ledger)).filter(about).length, 1);
  base.model.troubles.push({ slot: 0, from: 900, to: 2_000 });
  t.equal(faultsOf(withLedger(base, ledger)).filter(about).length, 0);
});

test('a call that was lost with an emptied Redis may have no row, and no other', async (t) => {
  const base = fixture();
  const lost = { keyId: 1, createdAt: 0 };
  base.model.losses.push({
    at: 0,
    entries: new Map([[`${PREFIX}1`, lost]]),
    holds: new Map(),
    revived: new Set(),
  });
  const without = (seq: number) =>
    faultsOf(
      withLedger(
        base,
        base.snapshot.ledger.filter((r) => r.seq !== seq),
      ),
    ).filter((fault) => /has no row/.test(fault));
  t.same(without(2), []);
  t.equal(without(3).length, 1);
});
