import t from 'tap';
import type { OperatorAccountView } from '../../src/api/account/account-view.ts';
import {
  changesOf,
  differencesOf,
  draftOf,
  isContested,
  touchedIn,
} from '../../src/dashboard/page/operator/account-draft.ts';

const ACCOUNT: OperatorAccountView = {
  id: 1,
  email: 'owner@example.com',
  name: 'owner@example.com',
  credits_balance: 10,
  credits_held: 0,
  alert_threshold: 100,
  overdraft: 0,
  rpm_limit: null,
  tpm_limit: 5_000,
  max_parallel_requests: null,
  spending_limits: [],
  limits: [],
  is_active: true,
  created_at: '2026-11-01T00:00:00.000Z',
};

t.test('only touched fields are sent', async (t) => {
  const draft = {
    ...draftOf(ACCOUNT),
    email: ' owner@example.com ',
    overdraft: '2.5',
    rpm_limit: '7',
    tpm_limit: '',
    spending_limits: 'daily=2, total=50',
  };
  const touched = touchedIn(draft, ACCOUNT);
  t.same(changesOf(draft, touched), {
    overdraft: 2.5,
    spending_limits: [
      { period: 'daily', credits: 2 },
      { period: 'total', credits: 50 },
    ],
    rpm_limit: 7,
    tpm_limit: null,
  });
  t.same(touchedIn(draftOf(ACCOUNT), ACCOUNT), []);
  t.throws(() => changesOf({ ...draft, overdraft: '-1' }, touched), {
    message: /^The overdraft must be 0 or more/,
  });
  t.throws(() => changesOf({ ...draft, rpm_limit: '0' }, touched), {
    message: /^The limit must be 1 or more/,
  });
  t.throws(() => changesOf({ ...draft, spending_limits: 'daily' }, touched), {
    message: /^“daily” is no limit such as monthly=100/,
    param: 'spending_limits',
  });
});

t.test('a field is contested if another operator gave it another value', async (t) => {
  const daily = (credits: number) => [{ period: 'daily' as const, credits }];
  const changes = { overdraft: 2, spending_limits: daily(1) };
  for (const [now, contested] of [
    [{}, false],
    [{ alert_threshold: 4 }, false],
    [{ overdraft: 2 }, false],
    [{ overdraft: 3 }, true],
    [{ spending_limits: daily(1) }, false],
    [{ spending_limits: daily(2) }, true],
  ] as const) {
    t.equal(isContested(changes, ACCOUNT, { ...ACCOUNT, ...now }), contested, JSON.stringify(now));
  }
});

t.test('a conflict shows what you changed, and what only the other changed', async (t) => {
  const now = { ...ACCOUNT, overdraft: 5, rpm_limit: 5_000 };
  t.same(differencesOf({ rpm_limit: 7 }, ACCOUNT, now), [
    { label: 'Overdraft', mine: undefined, theirs: '5.00' },
    { label: 'Requests per minute', mine: '7', theirs: '5,000' },
  ]);
  const limited = { ...ACCOUNT, spending_limits: [{ period: '5h' as const, credits: 1.5 }] };
  t.same(differencesOf({ spending_limits: [] }, ACCOUNT, limited), [
    { label: 'Spending limits', mine: 'none', theirs: '5h=1.5' },
  ]);
  const [difference] = differencesOf({ rpm_limit: 7 }, ACCOUNT, ACCOUNT);
  t.equal(difference?.theirs, 'none');
});
