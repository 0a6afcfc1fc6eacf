import t from 'tap';
import type { OperatorAccountView } from '../../src/api/account/account-view.ts';
import {
  draftOf,
  NEW_ACCOUNT,
  readDraft,
  readNewAccount,
  settingWords,
} from '../../src/dashboard/page/operator/account-draft.ts';

const ACCOUNT: OperatorAccountView = {
  id: 1,
  email: 'owner@example.com',
  name: 'Example Inc.',
  credits_balance: 10,
  credits_held: 0,
  alert_threshold: 100,
  overdraft: 0,
  rpm_limit: null,
  tpm_limit: 5_000,
  max_parallel_requests: null,
  spending_limits: [{ period: 'daily', credits: 2 }],
  limits: [],
  is_active: true,
  created_at: '2026-11-01T00:00:00.000Z',
};

t.test('the draft of a stored account reads as what is stored', async (t) => {
  const { body, faults } = readDraft(draftOf(ACCOUNT));
  t.same(faults, {});
  const { email, name, alert_threshold, overdraft, rpm_limit, tpm_limit, max_parallel_requests } = ACCOUNT;
  t.same(body, {
    email,
    name,
    alert_threshold,
    overdraft,
    rpm_limit,
    tpm_limit,
    max_parallel_requests,
    spending_limits: ACCOUNT.spending_limits,
  });
});

t.test('each wrong field has its fault, and the others are read', async (t) => {
  const draft = {
    ...draftOf(ACCOUNT),
    email: ' new@example.com ',
    overdraft: '-1',
    rpm_limit: '0',
    tpm_limit: '',
    spending_limits: [{ period: 'total' as const, credits: '1,5' }],
  };
  const { body, faults } = readDraft(draft);
  t.match(body, { email: 'new@example.com', tpm_limit: null });
  t.match(faults, {
    overdraft: /^The overdraft must be 0 or more/,
    rpm_limit: /^The limit must be 1 or more/,
    spending_limits: /decimal point.*: 1\.5/,
  });
});

t.test(
  'empty fields of a new account are left out, so that the defaults of the configuration hold',
  async (t) => {
    const { body, faults } = readNewAccount({ ...NEW_ACCOUNT, email: 'new@example.com', credits: '12.5' });
    t.same(faults, {});
    t.same(JSON.parse(JSON.stringify(body)), {
      email: 'new@example.com',
      credits: 12.5,
      alert_threshold: 100,
      spending_limits: [],
    });
  },
);

t.test('settings in words', async (t) => {
  t.equal(settingWords('overdraft', 5), '5.00');
  t.equal(settingWords('rpm_limit', 5_000), '5,000');
  t.equal(settingWords('rpm_limit', null), 'none');
  t.equal(settingWords('spending_limits', []), 'none');
  t.equal(settingWords('name', 'Example Inc.'), 'Example Inc.');
});
