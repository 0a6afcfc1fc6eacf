import t from 'tap';
import { lockOutOf } from '../../src/dashboard/page/keys/lock-out.ts';

const ORIGIN = 'http://127.0.0.1:8080';
const HOUR_MS = 3_600_000;

type Changes = Parameters<typeof lockOutOf>[1];
const from = (ip: string | null, country: string | null) => async () => ({
  caller: { ip, country, origin: null },
});
const lockOut = (changes: Changes, explain: Parameters<typeof lockOutOf>[3] = from('127.0.0.1', null)) =>
  lockOutOf({ can_manage: true }, changes, ORIGIN, explain);

/** Active hours of the UTC day that begin `hours` from now and last for one. */
function hoursFromNow(hours: number): string {
  const two = (hour: number) => String(hour % 24).padStart(2, '0');
  const start = new Date(Date.now() + hours * HOUR_MS).getUTCHours();
  return `${two(start)}:00-${start === 23 ? '24' : two(start + 1)}:00`;
}

t.test('each restriction that would lock you out has a reason', async (t) => {
  for (const [changes, explain, reason] of [
    [{ can_manage: false }, undefined, /^It can no longer manage keys/],
    [{ expires_at: '2001-01-01T00:00:00.000Z' }, undefined, /^It expires at once: .* has passed\.$/],
    [{ active_hours: hoursFromNow(12) }, undefined, /^The current time is outside \d\d:00-\d\d:00 UTC\.$/],
    [
      { allowed_ips: ['203.0.113.0/24'] },
      undefined,
      /^Your own IP address 127\.0\.0\.1 is not in the allowed IP addresses\.$/,
    ],
    [
      { blocked_countries: ['DE', 'US'] },
      from('8.8.8.8', 'US'),
      /^Your IP address is in United States, which is blocked\.$/,
    ],
    [
      { allowed_origins: ['https://app.example.com'] },
      undefined,
      /^The origin of this page, http:\/\/127\.0\.0\.1:8080, is not in the allowed origins\.$/,
    ],
  ] as const) {
    const reasons = await lockOut(changes, explain);
    t.equal(reasons.length, 1);
    t.match(reasons[0], reason);
  }
  t.equal((await lockOut({ can_manage: false, expires_at: '2001-01-01T00:00:00.000Z' })).length, 2);
});

t.test('restrictions that let you in have none', async (t) => {
  for (const changes of [
    {},
    { can_manage: true },
    { rpm_limit: 1, tpm_limit: 1, max_parallel_requests: 1, spending_limit: 0 },
    { expires_at: null },
    { expires_at: new Date(Date.now() + 24 * HOUR_MS).toISOString() },
    { active_hours: '' },
    { active_hours: '00:00-24:00' },
    { allowed_ips: [] },
    { allowed_ips: ['203.0.113.7', '127.0.0.0/8'] },
    { blocked_countries: ['US'] },
    { allowed_origins: [] },
    { allowed_origins: ['https://app.example.com', ORIGIN] },
  ]) {
    t.same(await lockOut(changes), [], JSON.stringify(changes));
  }
  t.same(await lockOut({ blocked_countries: ['US'] }, from('8.8.4.4', 'DE')), []);
  t.same(await lockOutOf({ can_manage: false }, { can_manage: false }, ORIGIN, from(null, null)), []);
});

t.test('a place that is not known counts as a reason', async (t) => {
  const unanswered = () => Promise.reject(new Error('no answer'));
  const changes = { allowed_ips: ['127.0.0.1'], blocked_countries: ['US'] };
  t.same(await lockOut(changes, unanswered), [
    'Your own IP address could not be checked against the allowed IP addresses.',
    'Your own IP address could not be checked against the blocked countries.',
  ]);
  t.equal((await lockOut(changes, from(null, null))).length, 1, 'an address without a country passes');
});

t.test('the gateway is asked only about restrictions of places', async (t) => {
  let asked = 0;
  const explain = () => {
    asked++;
    return from('127.0.0.1', null)();
  };
  await lockOut({ can_manage: false, expires_at: null, allowed_ips: [] }, explain);
  t.equal(asked, 0);
  await lockOut({ allowed_ips: ['127.0.0.1'], blocked_countries: ['US'] }, explain);
  t.equal(asked, 1);
});
