import t from 'tap';
import type { KeyView } from '../../src/api/keys/key-view.ts';
import { changesBetween, restrictionsOf, tightest } from '../../src/dashboard/page/keys/key-words.ts';
import { readItems, shownItems } from '../../src/dashboard/page/keys/lists.ts';
import { draftOf, type KeyDraft, NEW_KEY, readDraft } from '../../src/dashboard/page/keys/read-draft.ts';
import { limitWords } from '../../src/dashboard/page/limits/limit-rows.ts';

const KEY: KeyView = {
  id: 7,
  name: 'Shared',
  description: '',
  prefix: 'sk-tg-aaaa',
  person_id: null,
  member: null,
  status: 'active',
  is_active: true,
  expires_at: '2031-02-03T04:05:06.789Z',
  can_manage: true,
  allowed_categories: ['text'],
  allowed_models: ['flat'],
  spending_limit: 5,
  spending_current: '0.000000',
  spending_period: 'weekly',
  spending_limits: [],
  limits: [],
  rpm_limit: 60,
  tpm_limit: null,
  max_parallel_requests: null,
  allowed_ips: ['203.0.113.7', '203.0.113.8'],
  allowed_origins: [],
  blocked_countries: ['DE'],
  active_hours: '08:00-24:00',
  webhook_url: '',
  restrictions_locked: false,
  created_at: '2026-11-01T00:00:00.000Z',
  last_used_at: null,
  previous_valid_until: null,
  version: 1,
};

/** A draft of a new key with a name and these fields. */
const drafted = (fields: Partial<KeyDraft>): KeyDraft => ({ ...NEW_KEY, name: 'App', ...fields });

t.test('the draft of a stored key reads as the key, but for the seconds of its expiry', async (t) => {
  const { body, faults } = readDraft(draftOf(KEY));
  t.same(faults, {});
  t.match(KEY, { ...body, expires_at: KEY.expires_at });
  t.match(body.expires_at, /^2031-02-03T04:05:00/);
});

t.test('items of lists are shown in their normal form, and the wrong ones stay', async (t) => {
  t.same(shownItems('allowed_ips', ['10.0.0.1', '10.0.0.7/8, 2001:db8::1 10.0.0.1']), [
    '10.0.0.1',
    '10.0.0.0/8',
    '2001:db8::1',
  ]);
  t.same(shownItems('allowed_ips', ['10.0.0.1 x']), ['10.0.0.1', 'x']);
  t.same(shownItems('blocked_countries', ['DE', 'United Kingdom', 'USA, fr', 'Atlantis']), [
    'Germany',
    'United Kingdom',
    'United States',
    'France',
    'Atlantis',
  ]);
  t.same(readItems('blocked_countries', ['Germany', 'DE', 'uk']), ['DE', 'GB']);
  t.same(readItems('allowed_origins', ['https://App.Example.com/']), ['https://app.example.com']);
  t.same(readItems('allowed_models', ['gpt-5*', 'a b']), ['gpt-5*', 'a b']);
});

t.test('spending limits are rows; the first calendar one is the pair', async (t) => {
  const read = (spending_limits: KeyDraft['spending_limits']) => {
    const {
      spending_limit,
      spending_period,
      spending_limits: list,
    } = readDraft(drafted({ spending_limits })).body;
    return [spending_limit, spending_period, list];
  };
  t.same(read(NEW_KEY.spending_limits), [null, 'monthly', []], 'an empty row is no limit');
  t.same(read([{ period: 'weekly', credits: '12.5', isPair: true }]), [12.5, 'weekly', []]);
  t.same(
    read([
      { period: '5h', credits: '2', isPair: true },
      { period: 'daily', credits: '3' },
    ]),
    [
      null,
      'monthly',
      [
        { period: '5h', credits: 2 },
        { period: 'daily', credits: 3 },
      ],
    ],
    'what the pair cannot hold is in the list, and what was in the list stays there',
  );
  const both = { ...KEY, spending_limits: [{ period: 'weekly' as const, credits: 7 }] };
  t.match(readDraft(draftOf(both)).body, { spending_limit: 5, spending_limits: both.spending_limits });
  t.equal(limitWords({ period: 'daily', credits: 2.5 }), '2.50 credits a day (UTC)');
});

t.test('hours and expiry are read in the form of the API', async (t) => {
  const hours = (start: string, end: string, isOn = true) =>
    readDraft(drafted({ active_hours: { isOn, start, end } })).body.active_hours;
  t.equal(hours('22:00', '06:00'), '22:00-06:00');
  t.equal(hours('22:00', '00:00'), '22:00-24:00', 'a field has no 24:00');
  t.equal(hours('00:00', '00:00'), '00:00-24:00');
  t.equal(hours('22:00', '06:00', false), '', 'without the switch there are none');
  const { expires_at: at } = readDraft(drafted({ expires_at: '2031-02-03T04:05' })).body;
  t.equal(at, new Date('2031-02-03T04:05').toISOString(), 'typed in local time');
  t.same(draftOf(KEY).active_hours, { isOn: true, start: '08:00', end: '00:00' });
});

t.test('each fault of a draft has a message at its field, in words of the form', async (t) => {
  const row = (credits: string) => drafted({ spending_limits: [{ period: 'daily', credits }] });
  const times = (start: string, end: string) => drafted({ active_hours: { isOn: true, start, end } });
  for (const [draft, field, words] of [
    [drafted({ name: ' ' }), 'name', /^The name must be one line of 1 to 100 characters\.$/],
    [
      drafted({ description: 'x'.repeat(1_001) }),
      'description',
      /^The note can have at most 1,000 characters\.$/,
    ],
    [drafted({ expires_at: 'soon' }), 'expires_at', /^Enter a date and a time\.$/],
    [row('-1'), 'spending_limits', /^The limit must be 0 or more\.$/],
    [row('2,5'), 'spending_limits', /^The limit must be written with a decimal point .*: 2\.5\.$/],
    [row('0.0000001'), 'spending_limits', /^The limit must be a number with at most six decimals\.$/],
    [row('8500000001'), 'spending_limits', /^The limit must be at most 8,500,000,000\.$/],
    [
      drafted({ rpm_limit: '100000000001' }),
      'rpm_limit',
      /^The limit must be at most 100,000,000,000\. Leave empty for none\.$/,
    ],
    [times('08:00', '08:00'), 'active_hours', /^Start and end must differ\./],
    [times('', '08:00'), 'active_hours', /^Enter both times\.$/],
    [
      drafted({ allowed_ips: ['10.0.0.1', '10.0.0.0/33'] }),
      'allowed_ips',
      /^“10\.0\.0\.0\/33” is not an IPv4 or IPv6/,
    ],
    [
      drafted({ allowed_origins: ['https://a.example/path'] }),
      'allowed_origins',
      /is not an origin\. Correct or remove it\.$/,
    ],
    [
      drafted({ blocked_countries: ['Atlantis'] }),
      'blocked_countries',
      /^“Atlantis” is not the name or code of a country/,
    ],
    [
      drafted({ webhook_url: 'example.com' }),
      'webhook_url',
      /^The webhook URL must be an absolute http or https/,
    ],
  ] as const) {
    const { faults, body } = readDraft(draft);
    t.same(Object.keys(faults), [field]);
    t.match(faults[field], words);
    t.notOk(field in body, `${field} is not sent`);
  }
});

t.test('the differences of two versions are in words', async (t) => {
  const now: KeyView = {
    ...KEY,
    is_active: false,
    can_manage: false,
    expires_at: null,
    spending_limit: 1.5,
    spending_limits: [{ period: 'total', credits: 9 }],
    blocked_countries: [],
    prefix: 'sk-tg-bbbb',
    previous_valid_until: '2026-11-21T07:36:05.000Z',
    version: 2,
  };
  t.same(
    changesBetween(KEY, now).map(({ label, before, now }) => [label, before, now]),
    [
      ['Active', 'yes', 'no'],
      ['Expires', '3 Feb 2031, 04:05:06 UTC', 'never'],
      ['Spending limit in credits', '5.00', '1.50'],
      ['More spending limits', 'none', '9.00 credits in total'],
      ['Blocked countries', 'Germany', 'none'],
      ['Can manage', 'yes', 'no'],
      ['Value prefix', 'sk-tg-aaaa', 'sk-tg-bbbb'],
      ['Previous value valid until', 'none', '21 Nov 2026, 07:36:05 UTC'],
    ],
  );
});

t.test('a new key has no restriction and does not manage', async (t) => {
  const { body } = readDraft(drafted({}));
  t.match(body, {
    can_manage: false,
    allowed_ips: [],
    spending_limit: null,
    active_hours: '',
    expires_at: null,
  });
  t.same(restrictionsOf({ ...KEY, ...body }), []);
  t.same(restrictionsOf(KEY), [
    '1 model',
    'modalities',
    '08:00-24:00 UTC',
    '2 IPs',
    '1 blocked country',
    '60 requests a minute',
  ]);
});

t.test('the limit that is shown is the one of which the largest part is spent', async (t) => {
  const limit = (credits: number, spent: string) => ({
    of: 'key' as const,
    period: 'daily' as const,
    credits,
    spent,
    remaining: String(Math.max(0, credits - Number(spent))),
    resets_at: null,
  });
  t.equal(tightest({ limits: [limit(100, '50'), limit(4, '3'), limit(10, '1')] })?.credits, 4);
  t.equal(tightest({ limits: [limit(100, '150'), limit(0, '0')] })?.remaining, '0');
  t.equal(tightest({ limits: [] }), undefined);
});
