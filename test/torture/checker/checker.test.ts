import { test } from 'tap';
import { CREDIT, type Fixture, faultsOf, fixture, loss, post, row, withLedger } from './check-fixture.ts';

/** The fixture with one more call that only the ledger knows. In credits. */
function withEstimated(
  right: Fixture,
  { overdraft, estimate, cost }: { overdraft: number; estimate: number; cost: number },
): Fixture {
  for (const account of right.model.accounts) account.highestOverdraft = overdraft * CREDIT;
  right.model.estimatedCalls.push({
    requestId: 'estimated-1',
    keyId: 1,
    accountId: 1,
    estimate: estimate * CREDIT,
    cost: cost * CREDIT,
    tokens: 0,
    usedTokens: 0,
    askedAt: 0,
    heldAt: 0,
    settledAt: 0,
    state: 'settled',
  });
  return withLedger(right, [...right.snapshot.ledger, row(5, 'estimated-1', -cost, 12 - cost)]);
}

// Tests of the checker: faults that it must find.

test('a correct history passes', async (t) => {
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
        liveAccounts: new Map([[1, { ep: '1', bal: '13', held: '0', slack: '0', seq: '4' }]]),
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
    'a sum of estimates that was left behind',
    (right) => ({
      ...right,
      snapshot: {
        ...right.snapshot,
        liveAccounts: new Map([[1, { ep: '1', bal: '12000000', held: '0', slack: '-7', seq: '4' }]]),
      },
    }),
    /slack is -7 in Redis/,
  ],
  [
    'a balance below the overdraft',
    (right) => withEstimated(right, { overdraft: 2, estimate: 0, cost: 15 }),
    /its balance was -3000000 after .* an overdraft of 2000000/,
  ],
  [
    'a balance below 0 though no call cost more than its estimate',
    (right) => withEstimated(right, { overdraft: 20, estimate: 13, cost: 13 }),
    /its balance was -1000000 .* charges above estimates of 0/,
  ],
  [
    'a key above its limit by more than the overdraft',
    (right) => withEstimated(right, { overdraft: 2, estimate: 0, cost: 3 }),
    /spent 6000000 in 2024-10, above its limit of 3000000/,
  ],
  [
    'an estimated call whose charge differs from the ledger',
    (right) => {
      const estimated = withEstimated(right, { overdraft: 5, estimate: 0, cost: 1 });
      for (const call of estimated.model.estimatedCalls) Object.assign(call, { cost: 2 * CREDIT });
      return estimated;
    },
    /estimated-1 cost 2000000; its row/,
  ],
  [
    'an estimated call that was settled and is not charged',
    (right) => {
      const estimated = withEstimated(right, { overdraft: 5, estimate: 0, cost: 1 });
      return withLedger(estimated, [...right.snapshot.ledger]);
    },
    /estimated-1 was settled and has no row/,
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
    'an adjustment that nobody ordered',
    (right) =>
      withLedger(right, [
        ...right.snapshot.ledger,
        row(5, 'gone', -1, 11, { type: 'adjustment', key_id: null, note: 'why' }),
      ]),
    /gone \(why\) was never ordered/,
  ],
  [
    'a threshold that was answered and is not in force',
    (right) => {
      for (const account of right.model.accounts) {
        account.thresholds.push({ threshold: 3 * CREDIT, afterSeq: 2, surelyAfterSeq: 2, askedAt: 1 });
      }
      return right;
    },
    /req_a+2 crosses nothing and has an alert/,
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
    'a call whose charge differs from its client’s answer',
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
    /req_a+2 is a crossing without an alert/,
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

test('a changed threshold may be in force or not while it is changed, and around a loss', async (t) => {
  const base = fixture();
  const [account] = base.model.accounts;
  const [first] = base.snapshot.accounts;
  if (!account || !first) return t.fail('no account');
  account.thresholds.push({ threshold: 3 * CREDIT, afterSeq: 1, surelyAfterSeq: 4, askedAt: 1 });
  const after = {
    ...base,
    snapshot: { ...base.snapshot, accounts: [{ ...first, alert_threshold: 3 * CREDIT }] },
  };
  t.same(faultsOf(after), []);
  t.same(faultsOf({ ...after, snapshot: { ...after.snapshot, alerts: [], deliveries: [] }, posts: [] }), []);
  account.thresholds.splice(1, 1, { threshold: 3 * CREDIT, afterSeq: 1, surelyAfterSeq: 1, askedAt: 1 });
  t.not(faultsOf(after).length, 0);
  base.model.losses.push(loss({ at: 1 }));
  t.same(faultsOf(after), []);
});
