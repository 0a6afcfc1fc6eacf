import { test } from 'tap';
import { createdKeyView, type KeyUse, keyView } from '../../src/api/keys/key-view.ts';
import { micro } from '../../src/domain/credits.ts';
import { periodStarts } from '../../src/domain/period.ts';
import { NO_WINDOWS } from '../../src/domain/spending-limits.ts';
import { keyRecord } from '../domain/key-record.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const UNUSED: KeyUse = {
  windows: NO_WINDOWS,
  memberWindows: undefined,
  account: { limits: [], windows: NO_WINDOWS },
  lastUsedAt: undefined,
  isAllRefused: false,
  member: null,
};

test('a key shows the fields of the specification in its order, then later ones', async (t) => {
  const view = keyView(
    keyRecord({
      description: 'nightly jobs',
      canManage: false,
      expiresAt: Date.UTC(2030, 0, 31, 12),
      allowedModels: ['gpt-4o-mini'],
      allowedCategories: ['text'],
      spendingLimit: micro(25_500_000),
      spendingPeriod: 'weekly',
      activeHours: '22:00-06:00',
      allowedIps: ['10.0.0.0/8'],
      allowedOrigins: ['https://app.example'],
      blockedCountries: ['FR'],
      webhookUrl: 'https://hooks.example/',
      rpmLimit: 60,
      maxParallelRequests: 5,
      previousHash: 'cd'.repeat(32),
      previousValidUntil: NOW + 1,
    }),
    {
      ...UNUSED,
      windows: { ...NO_WINDOWS, week: periodStarts(NOW).week, weekSpent: micro(12_345_678) },
      lastUsedAt: NOW - 1_000,
    },
    NOW,
  );
  t.equal(
    JSON.stringify(view),
    JSON.stringify({
      id: 7,
      name: 'Build server',
      description: 'nightly jobs',
      prefix: 'sk-tg-AbCd',
      is_active: true,
      expires_at: '2030-01-31T12:00:00.000Z',
      allowed_models: ['gpt-4o-mini'],
      allowed_categories: ['text'],
      spending_limit: 25.5,
      spending_current: '12.345678',
      spending_period: 'weekly',
      spending_limits: [],
      active_hours: '22:00-06:00',
      allowed_ips: ['10.0.0.0/8'],
      allowed_origins: ['https://app.example'],
      blocked_countries: ['FR'],
      webhook_url: 'https://hooks.example/',
      created_at: '2026-11-18T12:34:56.789Z',
      can_manage: false,
      version: keyRecord().version,
      rpm_limit: 60,
      tpm_limit: null,
      max_parallel_requests: 5,
      restrictions_locked: false,
      person_id: null,
      member: null,
      status: 'active',
      limits: [
        {
          of: 'key',
          period: 'weekly',
          credits: 25.5,
          spent: '12.345678',
          remaining: '13.154322',
          resets_at: '2026-11-23T00:00:00.000Z',
        },
      ],
      last_used_at: '2026-11-22T11:59:59.000Z',
      previous_valid_until: '2026-11-22T12:00:00.001Z',
    }),
  );
});

test('an unrestricted key shows null, empty lists and six decimals of nothing', async (t) => {
  const view = keyView(keyRecord(), UNUSED, NOW);
  t.equal(view.expires_at, null);
  t.equal(view.spending_limit, null);
  t.same(view.allowed_models, []);
  t.equal(view.spending_current, '0.000000');
  t.match(view, { rpm_limit: null, tpm_limit: null, max_parallel_requests: null, last_used_at: null });
});

test('a limit of zero is not no limit, and an expiry at the epoch not never', async (t) => {
  const view = keyView(keyRecord({ spendingLimit: micro(0), expiresAt: 0 }), UNUSED, NOW);
  t.equal(view.spending_limit, 0);
  t.equal(view.expires_at, '1970-01-01T00:00:00.000Z');
});

test('a status is what becomes of the next call, by the reason that refuses first', async (t) => {
  const one = [{ period: 'total' as const, credits: micro(1_000_000) }];
  const spent = { ...NO_WINDOWS, totalSpent: micro(1_000_000) };
  const member = { personId: 3, memberSpendingLimits: one };
  for (const [status, settings, use] of [
    ['active', {}, {}],
    ['active', { spendingLimits: one }, {}],
    ['active', {}, { windows: spent }],
    ['all_refused', {}, { isAllRefused: true }],
    ['limit_reached', { spendingLimit: micro(0) }, { isAllRefused: true }],
    ['limit_reached', { spendingLimits: one }, { windows: spent }],
    ['active', member, { memberWindows: NO_WINDOWS }],
    ['limit_reached', member, { memberWindows: spent }],
    ['limit_reached', {}, { account: { limits: one, windows: spent } }],
    ['active', { expiresAt: NOW + 1 }, {}],
    ['expired', { expiresAt: NOW, spendingLimit: micro(0) }, {}],
    ['inactive', { expiresAt: NOW, isActive: false }, {}],
  ] as const) {
    t.equal(keyView(keyRecord(settings), { ...UNUSED, ...use }, NOW).status, status, status);
  }
});

test('a previous value is not shown once its time is over', async (t) => {
  const rotated = keyRecord({ previousHash: 'cd'.repeat(32), previousValidUntil: NOW });
  t.equal(keyView(rotated, UNUSED, NOW - 1).previous_valid_until, '2026-11-22T12:00:00.000Z');
  t.equal(keyView(rotated, UNUSED, NOW).previous_valid_until, null);
});

test('a created key is shown with its value and a note to save it, and nothing else', async (t) => {
  const view = createdKeyView(keyRecord(), 'sk-tg-value');
  t.same(Object.keys(view), ['id', 'name', 'prefix', 'key', 'created_at', '_service']);
  t.match(view, {
    id: 7,
    name: 'Build server',
    prefix: 'sk-tg-AbCd',
    key: 'sk-tg-value',
    created_at: '2026-11-18T12:34:56.789Z',
  });
  t.match(view._service.note, /save.*not.*shown again/i);
});
