import t from 'tap';
import { OPERATOR_KINDS } from '../../src/api/attention/attention-view.ts';
import { attentionOf } from '../../src/api/attention/items.ts';
import { OPERATOR_ATTENTION, type OperatorFacts } from '../../src/api/attention/operator-attention.ts';
import type { AccountSums } from '../../src/book/account-sums.ts';
import type { ProviderCall } from '../../src/book/attention.ts';
import { micro } from '../../src/domain/credits.ts';

const now = Date.parse('2026-11-21T08:00:00.000Z');
const today = Math.floor(now / 86_400_000);
const NOTHING: OperatorFacts = {
  now,
  redisFaults: [],
  journal: { entries: 3, ageMs: 59_000, refused: 0 },
  unknownMembers: new Map(),
  targets: [],
  calls: [],
  accounts: [],
  deliveries: [],
};
const items = (facts: Partial<OperatorFacts>) =>
  attentionOf(OPERATOR_KINDS, OPERATOR_ATTENTION, { ...NOTHING, ...facts }).items;
const account: AccountSums = {
  id: 7,
  email: 'a@example.com',
  name: 'A',
  isActive: true,
  balance: micro(29_000_000),
  spent: 70_000_000n,
  spentOfPace: 70_000_000n,
  firstDay: today - 20,
  lastCallAt: now,
  refusedOfDay: 0,
  refused: 0,
  refusedSince: null,
};
const call = (more: Partial<ProviderCall>): ProviderCall => ({
  upstream: 'one',
  model: 'flat',
  at: now - 1_000,
  status: 200,
  outcome: 'complete',
  ...more,
});
const times = (count: number, one: ProviderCall) => Array.from({ length: count }, () => one);

t.test('nothing to do', async (t) => {
  t.same(items({}), []);
  t.same(items({ accounts: [{ ...account, balance: micro(30_000_000) }] }), [], 'lasts three days');
  t.same(items({ unknownMembers: new Map([['old', now - 86_400_001]]) }), []);
});

t.test('of Redis, the journal and requests', async (t) => {
  t.match(items({ redisFaults: ['One.', 'Two.'] }), [{ kind: 'redis_not_durable', message: 'One. Two.' }]);
  t.match(items({ journal: { entries: 2, ageMs: 61_000, refused: 0 } }), [
    { kind: 'journal_waiting', count: 2, since: '2026-11-21T07:58:59.000Z' },
  ]);
  t.match(items({ journal: { entries: 1, ageMs: 0, refused: 1 } }), [{ kind: 'journal_waiting' }]);
  t.same(items({ journal: undefined }), []);
  t.match(items({ unknownMembers: new Map([['new_field', now]]) }), [
    { kind: 'unknown_members', count: 1, message: /new_field/ },
  ]);
});

t.test('of providers: attempts that were handed over count, what clients did wrong does not', async (t) => {
  const handedOver = call({
    attempts: [
      { target: 'two#2', status: 500, ms: 1 },
      { target: 'one', status: 200, ms: 1 },
    ],
  });
  t.match(items({ calls: [...times(5, handedOver)] }), [
    { kind: 'provider_failing', count: 5, subject: { type: 'upstream', id: 'two' }, message: /5 of 5/ },
  ]);
  t.same(items({ calls: times(4, handedOver) }), [], 'four attempts are too few');
  const failed = call({ status: 502, outcome: 'upstream_unreachable' });
  t.match(items({ calls: [...times(8, call({})), ...times(2, failed)] }), [{ count: 2 }], 'a fifth');
  t.same(items({ calls: [...times(9, call({})), ...times(2, failed)] }), [], 'less than a fifth');
  const wrong = call({ status: 400, outcome: 'upstream_error' });
  t.same(items({ calls: [...times(9, wrong), ...times(9, call({ outcome: 'client_left' }))] }), []);
});

t.test('of accounts: dry, or dry soon; many of one kind hide no other', async (t) => {
  t.match(items({ accounts: [account] }), [
    { kind: 'account_runs_dry', subject: { type: 'account', id: 7 }, until: /^2026-11-24T05:36/ },
  ]);
  const dry = { ...account, refused: 4, refusedSince: now - 5_000 };
  t.match(items({ accounts: [dry] }), [
    { kind: 'account_out_of_credits', count: 4, since: '2026-11-21T07:59:55.000Z' },
  ]);
  const many = items({
    accounts: Array.from({ length: 30 }, (_, id) => (id < 15 ? { ...dry, id } : { ...account, id })),
    redisFaults: ['One.'],
  });
  t.same(
    Object.entries(Object.groupBy(many, ({ kind }) => kind)).map(([kind, of]) => [kind, of?.length]),
    [
      ['redis_not_durable', 1],
      ['account_out_of_credits', 9],
      ['account_runs_dry', 9],
    ],
  );
  t.match(many.at(9), { more: 6, message: /And 6 more of this kind\.$/ });
  t.match(many.at(-1), { more: 6 });
  const full = Array.from({ length: 35 }, (_, id) => ({ ...dry, id }));
  const list = attentionOf(OPERATOR_KINDS, OPERATOR_ATTENTION, { ...NOTHING, accounts: full });
  t.same([list.items.length, list.total, list.items.at(-1)?.more], [20, 35, 15], 'one kind takes all places');
});
