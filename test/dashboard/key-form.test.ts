import t from 'tap';
import type { KeyView } from '../../src/api/keys/key-view.ts';
import {
  changesBetween,
  differencesOf,
  isSameSettings,
} from '../../src/dashboard/page/keys/key-differences.ts';
import {
  draftOf,
  FORM_FIELDS,
  isSameDraft,
  type KeyDraft,
  NEW_KEY,
} from '../../src/dashboard/page/keys/key-draft.ts';
import { sortedKeys } from '../../src/dashboard/page/keys/key-order.ts';
import { changesOf, readDraft } from '../../src/dashboard/page/keys/read-draft.ts';
import { EMPTY_LIST } from '../../src/dashboard/page/ui/typed-list.ts';

const KEY: KeyView = {
  id: 7,
  name: 'Shared',
  description: '',
  prefix: 'sk-tg-aaaa',
  person_id: null,
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
const withList = (field: keyof KeyDraft['lists'], text: string, items: readonly string[] = []) =>
  drafted({ lists: { ...NEW_KEY.lists, [field]: { items, text } } });

t.test('the draft of a stored key changes nothing', async (t) => {
  const draft = draftOf(KEY);
  t.same(readDraft(draft).errors, {});
  t.same(changesOf(draft, KEY, readDraft(draft)), {}, 'not the seconds of its expiry either');
  t.ok(isSameDraft(draft, draftOf({ ...KEY })));
  t.notOk(isSameDraft(draft, { ...draft, limit: '5.0' }), 'each typed character counts');
});

t.test('only the changed fields are sent', async (t) => {
  const draft: KeyDraft = {
    ...draftOf(KEY),
    hasLimit: false,
    callLimits: { rpm_limit: '', tpm_limit: ' 2000 ', max_parallel_requests: '' },
    lists: { ...draftOf(KEY).lists, allowed_ips: { items: ['203.0.113.7'], text: '' } },
  };
  t.same(changesOf(draft, KEY, readDraft(draft)), {
    allowed_ips: ['203.0.113.7'],
    spending_limit: null,
    rpm_limit: null,
    tpm_limit: 2_000,
  });
  const managing = (canManage: boolean | undefined) => {
    const changed = { ...draftOf(KEY), canManage };
    return changesOf(changed, KEY, readDraft(changed));
  };
  t.same([managing(undefined), managing(true), managing(false)], [{}, {}, { can_manage: false }]);
});

t.test('text left in a list is taken with the items', async (t) => {
  const draft = drafted({
    lists: {
      allowed_ips: { items: ['10.0.0.1'], text: '10.0.0.7/8, 2001:db8::1 10.0.0.1' },
      allowed_origins: { items: [], text: 'https://App.Example.com/' },
      blocked_countries: { items: [], text: 'Germany, United Kingdom' },
    },
  });
  const { body, errors } = readDraft(draft);
  t.same(errors, {});
  t.same(body.allowed_ips, ['10.0.0.1', '10.0.0.0/8', '2001:db8::1']);
  t.same(body.allowed_origins, ['https://app.example.com']);
  t.same(body.blocked_countries, ['DE', 'GB']);
});

t.test('more spending limits are read from one line, and shown in it', async (t) => {
  const read = (moreLimits: string) => readDraft(drafted({ moreLimits })).body.spending_limits;
  const limits = [
    { period: '5h', credits: 2 },
    { period: 'monthly', credits: 100.5 },
  ] as const;
  t.same(read('5h=2, monthly=100.5'), limits);
  t.same(read(' 5H = 2 ,,Monthly=100.50, '), limits, 'spaces, capitals and empty parts do not matter');
  t.same(read('total=0'), [{ period: 'total', credits: 0 }]);
  t.same([read(''), read(' , ')], [[], []]);
  const key = { ...KEY, spending_limits: limits };
  const draft = draftOf(key);
  t.equal(draft.moreLimits, '5h=2, monthly=100.5');
  t.same(changesOf(draft, key, readDraft(draft)), {});
  const without = { ...draft, moreLimits: '' };
  t.notOk(isSameDraft(draft, without), 'leaving asks about it');
  t.same(changesOf(without, key, readDraft(without)), { spending_limits: [] });
  t.same(changesBetween(KEY, key), [
    { label: 'More spending limits', before: 'none', now: '5h=2, monthly=100.5' },
  ]);
});

t.test('hours and expiry are read in the form of the API', async (t) => {
  const hours = (start: string, end: string) =>
    readDraft(drafted({ hasHours: true, start, end })).body.active_hours;
  t.equal(hours('22:00', '06:00'), '22:00-06:00');
  t.equal(hours('22:00', '00:00'), '22:00-24:00', 'a field has no 24:00');
  t.equal(hours('00:00', '00:00'), '00:00-24:00');
  t.equal(readDraft(drafted({ start: '22:00' })).body.active_hours, '', 'without the tick there are none');
  t.equal(readDraft(drafted({ limit: '5' })).body.spending_limit, null, 'nor is there a limit');
  const { expires_at: at } = readDraft(drafted({ expires: '2031-02-03T04:05' })).body;
  t.equal(at, new Date('2031-02-03T04:05').toISOString(), 'typed in local time');
  t.same([draftOf(KEY).start, draftOf(KEY).end], ['08:00', '00:00']);
});

t.test('each fault of a draft has a message at its field, in words of the form', async (t) => {
  for (const [draft, field, words] of [
    [drafted({ name: ' ' }), 'name', /^The name must be one line of 1 to 100 characters\.$/],
    [
      drafted({ description: 'x'.repeat(1_001) }),
      'description',
      /^The note can have at most 1000 characters\.$/,
    ],
    [drafted({ isExpiryHalf: true }), 'expires_at', /^The date or time is incomplete\./],
    [drafted({ expires: 'soon' }), 'expires_at', /^Enter a date and a time\.$/],
    [drafted({ hasLimit: true, limit: '-1' }), 'spending_limit', /^The limit must be 0 or more\.$/],
    [
      drafted({ hasLimit: true, limit: '' }),
      'spending_limit',
      /^The limit must be a number, such as 12\.50\.$/,
    ],
    [
      drafted({ moreLimits: 'monthly=100, hourly=2' }),
      'spending_limits',
      /^“hourly=2” is no limit such as monthly=100\. Write a period \(5h, daily, weekly, monthly, total\)/,
    ],
    [drafted({ moreLimits: '100' }), 'spending_limits', /^“100” is no limit such as monthly=100\./],
    [drafted({ moreLimits: 'daily=-1' }), 'spending_limits', /^“daily=-1” is no limit /],
    [
      drafted({ moreLimits: 'daily=0.0000001' }),
      'spending_limits',
      /^“daily=0\.0000001” is no limit .* six decimals/,
    ],
    [drafted({ moreLimits: 'daily=2,5' }), 'spending_limits', /^“5” is no limit /],
    [
      drafted({ moreLimits: 'daily=8500000001' }),
      'spending_limits',
      /^“daily=8500000001” is no limit .*, up to 8500000000\.$/,
    ],
    [
      drafted({ moreLimits: 'daily=1, daily=2' }),
      'spending_limits',
      /^“daily” occurs twice\. A period can have one limit\.$/,
    ],
    [
      drafted({ callLimits: { ...NEW_KEY.callLimits, rpm_limit: '100000000001' } }),
      'rpm_limit',
      /^The limit must be at most 100,000,000,000\. Leave empty for none\.$/,
    ],
    [
      drafted({ hasHours: true, start: '08:00', end: '08:00' }),
      'active_hours',
      /^Start and end must differ\./,
    ],
    [drafted({ hasHours: true, start: '' }), 'active_hours', /^Enter both times\.$/],
    [
      withList('allowed_ips', '10.0.0.0/33'),
      'allowed_ips',
      /^“10\.0\.0\.0\/33” is not an IPv4 or IPv6 address/,
    ],
    [
      withList('allowed_ips', '10.0.0.1 10.0.0.256'),
      'allowed_ips',
      /^“10\.0\.0\.256” is not .* Correct or remove it\.$/,
    ],
    [withList('allowed_origins', 'https://app.example.com/path'), 'allowed_origins', /is not an origin/],
    [
      withList('blocked_countries', 'Atlantis'),
      'blocked_countries',
      /^“Atlantis” is not the name or code of a country/,
    ],
    [
      drafted({ webhookUrl: 'ftp://example.com' }),
      'webhook_url',
      /^The webhook URL must be an absolute http or https/,
    ],
    [
      drafted({ webhookUrl: 'example.com' }),
      'webhook_url',
      /^The webhook URL must be an absolute http or https/,
    ],
  ] as const) {
    const { errors } = readDraft(draft);
    t.same(Object.keys(errors), [field]);
    t.match(errors[field], words);
  }
  t.same(
    Object.keys(readDraft({ ...NEW_KEY, hasLimit: true }).errors),
    ['name', 'spending_limit'],
    'all at once',
  );
});

t.test('a conflict shows what you changed, and what only the other changed', async (t) => {
  const theirs: KeyView = {
    ...KEY,
    name: 'Renamed',
    allowed_ips: ['10.1.0.0/16'],
    rpm_limit: 7_000,
    version: 2,
  };
  const mine = { description: 'Mine', allowed_ips: ['10.2.0.0/16'], rpm_limit: 5_000 };
  t.same(differencesOf(mine, KEY, theirs), [
    { label: 'Name', mine: undefined, theirs: 'Renamed' },
    { label: 'Note', mine: 'Mine', theirs: 'none' },
    { label: 'Allowed IP addresses', mine: '10.2.0.0/16', theirs: '10.1.0.0/16' },
    { label: 'Requests per minute', mine: '5,000', theirs: '7,000' },
  ]);
  t.same(differencesOf({ name: 'Renamed' }, KEY, { ...KEY, name: 'Renamed' }), [], 'the same change twice');
});

t.test('the differences of two versions are in words', async (t) => {
  const now: KeyView = {
    ...KEY,
    is_active: false,
    can_manage: false,
    expires_at: null,
    spending_limit: 1.5,
    blocked_countries: [],
    prefix: 'sk-tg-bbbb',
    previous_valid_until: '2026-11-21T07:36:05.000Z',
    version: 2,
  };
  t.same(
    changesBetween(KEY, now).map(({ label, before, now }) => [label, before, now]),
    [
      ['Expires', '3 Feb 2031, 04:05:06 UTC', 'none'],
      ['Can manage', 'yes', 'no'],
      ['Spending limit in credits', '5.00', '1.50'],
      ['Blocked countries', 'DE', 'none'],
      ['Active', 'yes', 'no'],
      ['Value prefix', 'sk-tg-aaaa', 'sk-tg-bbbb'],
      ['Previous value valid until', 'none', '21 Nov 2026, 07:36:05 UTC'],
    ],
  );
  t.ok(isSameSettings(KEY, { ...KEY, is_active: false, prefix: 'x', version: 2 }), 'a switch is no setting');
  for (const field of FORM_FIELDS) t.notOk(isSameSettings(KEY, { ...KEY, [field]: 'other' }), field);
});

t.test('a new key has no restriction and does not manage', async (t) => {
  t.same(NEW_KEY.lists, {
    allowed_ips: EMPTY_LIST,
    allowed_origins: EMPTY_LIST,
    blocked_countries: EMPTY_LIST,
  });
  t.equal(NEW_KEY.canManage, false);
});

t.test('keys are sorted by each column, equal ones by their names', async (t) => {
  const keys: readonly KeyView[] = [
    { ...KEY, id: 1, name: 'app 10', spending_current: '9.000000', last_used_at: '2026-11-02T00:00:00.000Z' },
    { ...KEY, id: 2, name: 'App 9', spending_current: '10.000000', expires_at: '2001-01-01T00:00:00.000Z' },
    { ...KEY, id: 3, name: 'Zoo', is_active: false, last_used_at: '2026-11-01T00:00:00.000Z' },
    { ...KEY, id: 4, name: 'Berlin' },
  ];
  const ids = (by: string, isDown = false) => sortedKeys(keys, by, isDown).map(({ id }) => id);
  t.same(ids('name'), [2, 1, 4, 3]);
  t.same(ids('status'), [1, 4, 2, 3], 'active, expired, inactive');
  t.same(ids('spend', true), [2, 1, 4, 3]);
  t.same(ids('used', true), [1, 3, 2, 4], 'never used ones last');
  t.same(ids('created', true), [4, 3, 2, 1]);
});
