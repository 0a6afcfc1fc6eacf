import t from 'tap';
import type { HealthView } from '../../src/api/operator/health-view.ts';
import { checksOf } from '../../src/dashboard/page/operator/health-checks.ts';

const WELL: HealthView = {
  version: '1.0.0',
  redis: { ok: true, durable: true },
  book: { ok: true },
  journal: { entries: 0, age_ms: 0, refused: 0 },
  alerts: { queued: 0, failing: 0 },
  refused_calls: { waiting: 0, dropped: 0 },
  unknown_members: [],
  unnamed_proxy_at: null,
  clock_skew_ms: 3,
};
const AT = '2026-11-21T08:00:00.000Z';

t.test('a gateway that is well has nothing to do', async (t) => {
  const checks = checksOf(WELL);
  t.equal(checks.length, 8);
  t.same(
    checks.filter(({ kind, advice }) => kind !== 'good' || advice !== undefined),
    [],
  );
});

const ILL: readonly [string, Partial<HealthView>, string, RegExp][] = [
  ['Redis', { redis: { ok: false, durable: false, detail: 'Redis does not answer.' } }, 'bad', /^Redis does/],
  ['Redis', { redis: { ok: true, durable: false, detail: 'No AOF.' } }, 'warning', /^No AOF/],
  ['Database', { book: { ok: false, detail: 'Read-only.' } }, 'bad', /^Read-only/],
  [
    'Journal',
    { journal: { entries: 5, age_ms: 120_000, refused: 0 } },
    'warning',
    /^5 entries wait .* 2 min/,
  ],
  ['Journal', { journal: { entries: 5, age_ms: 10, refused: 1 } }, 'bad', /refuses 1 entry\.$/],
  ['Alerts', { alerts: { queued: 2, failing: 1 } }, 'warning', /^The last alert to 1 receiver was not/],
  ['Refused-call log', { refused_calls: { waiting: 0, dropped: 7 } }, 'warning', /^7 records were dropped/],
  ['Request fields', { unknown_members: [{ name: 'new_field', at: AT }] }, 'warning', /new_field/],
  ['Client addresses', { unnamed_proxy_at: AT }, 'warning', /private address/],
  ['Clock', { clock_skew_ms: -90_000 }, 'warning', /1 min 30 s behind/],
];

t.test('what is not well comes first, with what to do', async (t) => {
  for (const [part, ill, kind, detail] of ILL) {
    const [first, ...others] = checksOf({ ...WELL, ...ill });
    t.match(first, { part, kind, detail, advice: /\.$/ });
    t.ok(others.every((check) => check.kind === 'good'));
  }
});

t.test('what is not known is no fault of its own', async (t) => {
  const checks = checksOf({ ...WELL, journal: null, alerts: null });
  t.same(
    checks.filter(({ kind }) => kind !== 'good').map(({ part, word }) => `${part}: ${word}`),
    ['Journal: Unknown', 'Alerts: Unknown'],
  );
});
