import { test } from 'tap';
import { parseAddress } from '../../src/domain/addresses.ts';
import { NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { CALLER_FACT_NAMES } from '../../src/domain/caller-facts.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { KEY_FIELD_NAMES, keyField } from '../../src/domain/key-settings.ts';
import {
  CALLER_CHECKS,
  type CompiledKey,
  compileKey,
  MODEL_CHECKS,
  modelRefusalOf,
  refusalOf,
} from '../../src/domain/rules.ts';
import { keyRecord } from './key-record.ts';

function compiled(change: Partial<KeyRecord> = {}, accountActive = true): CompiledKey {
  return compileKey({
    key: keyRecord(change),
    accountVersion: 1,
    accountActive,
    accountSpendingLimits: [],
    accountLimits: NO_CALL_LIMITS,
  });
}

/** Wednesday noon, from a documentation address in Germany, without an origin. */
function caller(change: Partial<Caller> = {}): Caller {
  return {
    nowMs: Date.parse('2026-11-18T12:00:00Z'),
    ip: parseAddress('203.0.113.7'),
    country: 'DE',
    origin: undefined,
    allowMissingOrigin: false,
    ...change,
  };
}

const NOON = Date.parse('2026-11-18T12:00:00Z');

const PASSING: readonly [what: string, key: Partial<KeyRecord>, caller: Partial<Caller>][] = [
  ['an unrestricted key', {}, {}],
  ['an unrestricted key from nowhere known', {}, { ip: undefined, country: undefined }],
  ['an unrestricted key from any origin', {}, { origin: 'null' }],
  ['an instant before the expiry', { expiresAt: NOON + 1 }, {}],
  ['within the hours', { activeHours: '12:00-13:00' }, {}],
  ['an allowed address', { allowedIps: ['203.0.113.0/24'] }, {}],
  [
    'a mapped form of an allowed address',
    { allowedIps: ['203.0.113.7'] },
    { ip: parseAddress('::ffff:203.0.113.7') },
  ],
  ['a country that is not blocked', { blockedCountries: ['FR'] }, {}],
  ['an address without a known country', { blockedCountries: ['DE'] }, { country: undefined }],
  ['an allowed origin', { allowedOrigins: ['https://*.example.com'] }, { origin: 'https://a.example.com' }],
  ['no origin where that is allowed', { allowedOrigins: ['a.example'] }, { allowMissingOrigin: true }],
];

for (const [what, key, who] of PASSING) {
  test(`passes: ${what}`, async (t) => {
    t.equal(refusalOf(compiled(key), caller(who)), undefined);
  });
}

const FAILING: readonly [
  what: string,
  key: Partial<KeyRecord>,
  caller: Partial<Caller>,
  code: string,
  status: number,
  message: RegExp,
][] = [
  ['an inactive key', { isActive: false }, {}, 'inactive_api_key', 401, /deactivated/],
  [
    'the instant of expiry',
    { expiresAt: NOON },
    {},
    'expired_api_key',
    401,
    /expired at 2026-11-18T12:00:00\.000Z/,
  ],
  [
    'outside the hours',
    { activeHours: '22:00-06:00' },
    {},
    'outside_active_hours',
    403,
    /22:00-06:00 UTC\. It is now 12:00 UTC/,
  ],
  ['another address', { allowedIps: ['10.0.0.0/8'] }, {}, 'ip_not_allowed', 403, /203\.0\.113\.7/],
  [
    'an unknown address',
    { allowedIps: ['0.0.0.0/0', '::/0'] },
    { ip: undefined },
    'ip_not_allowed',
    403,
    /could not be determined/,
  ],
  ['a blocked country', { blockedCountries: ['FR', 'DE'] }, {}, 'country_blocked', 403, /in DE,/],
  [
    'another origin',
    { allowedOrigins: ['https://a.example'] },
    { origin: 'https://b.example' },
    'origin_not_allowed',
    403,
    /"https:\/\/b\.example"/,
  ],
  [
    'the origin null',
    { allowedOrigins: ['https://a.example'] },
    { origin: 'null' },
    'origin_not_allowed',
    403,
    /"null"/,
  ],
  [
    'the origin null, also where none is allowed to be missing',
    { allowedOrigins: ['https://a.example'] },
    { origin: 'null', allowMissingOrigin: true },
    'origin_not_allowed',
    403,
    /"null"/,
  ],
  [
    'no origin',
    { allowedOrigins: ['https://a.example'] },
    {},
    'origin_not_allowed',
    403,
    /no Origin or Referer/,
  ],
];

for (const [what, key, who, code, status, message] of FAILING) {
  test(`refused: ${what}`, async (t) => {
    const refusal = refusalOf(compiled(key), caller(who));
    t.equal(refusal?.code, code);
    t.equal(refusal?.statusCode, status);
    t.match(refusal?.message, message);
  });
}

test('refused: an inactive account', async (t) => {
  const refusal = refusalOf(compiled({}, false), caller());
  t.equal(refusal?.code, 'inactive_account');
  t.equal(refusal?.statusCode, 403);
});

/** Fails every check. Each entry fixes the one that fails first. */
const MENDING: readonly [code: string, mend: Partial<KeyRecord>][] = [
  ['inactive_api_key', { isActive: true }],
  ['expired_api_key', { expiresAt: null }],
  ['outside_active_hours', { activeHours: '' }],
  ['ip_not_allowed', { allowedIps: [] }],
  ['country_blocked', { blockedCountries: [] }],
  ['origin_not_allowed', { allowedOrigins: [] }],
];

test('the first failed check of the specification answers', async (t) => {
  let key: Partial<KeyRecord> = {
    isActive: false,
    expiresAt: 0,
    activeHours: '00:00-01:00',
    allowedIps: ['10.0.0.1'],
    blockedCountries: ['DE'],
    allowedOrigins: ['a.example'],
  };
  for (const [code, mend] of MENDING) {
    t.equal(refusalOf(compiled(key), caller())?.code, code);
    key = { ...key, ...mend };
  }
  t.equal(refusalOf(compiled(key), caller()), undefined);
});

test('an inactive key answers before its inactive account, and that before the expiry', async (t) => {
  t.equal(refusalOf(compiled({ isActive: false }, false), caller())?.code, 'inactive_api_key');
  t.equal(refusalOf(compiled({ expiresAt: 0 }, false), caller())?.code, 'inactive_account');
});

test('the checks run in the order of specification section 3', async (t) => {
  t.same(
    [...CALLER_CHECKS, ...MODEL_CHECKS].map(({ code }) => code),
    [
      'inactive_api_key',
      'inactive_account',
      'expired_api_key',
      'outside_active_hours',
      'ip_not_allowed',
      'country_blocked',
      'origin_not_allowed',
      'category_not_allowed',
      'model_not_allowed',
    ],
  );
});

test('each check refuses with the code that it names', async (t) => {
  const key = compiled(
    {
      isActive: false,
      expiresAt: 0,
      activeHours: '00:00-01:00',
      allowedIps: ['10.0.0.1'],
      blockedCountries: ['DE'],
      allowedOrigins: ['a.example'],
      allowedCategories: ['image'],
      allowedModels: ['other'],
    },
    false,
  );
  for (const { name, code, check } of CALLER_CHECKS) t.equal(check(key, caller())?.code, code, name);
  const target = { slug: 'gpt-4o-mini', category: 'text' } as const;
  for (const { name, code, check } of MODEL_CHECKS) t.equal(check(key, target)?.code, code, name);
});

test('every fact of a caller is read by a restriction', async (t) => {
  const read = KEY_FIELD_NAMES.map(keyField).flatMap((row) =>
    row.restricts === 'caller' ? (row.reads ?? []) : [],
  );
  t.same([...new Set(read)].sort(), [...CALLER_FACT_NAMES].sort());
});

test('the country is looked up by its own check, and only where countries are blocked', async (t) => {
  const lost = Object.defineProperty(caller(), 'country', {
    get: () => {
      throw new Error('no country data');
    },
  });
  t.equal(refusalOf(compiled(), lost), undefined);
  const elsewhere = { blockedCountries: ['FR'], allowedIps: ['198.51.100.0/24'] };
  t.equal(refusalOf(compiled(elsewhere), lost)?.code, 'ip_not_allowed');
  t.throws(() => refusalOf(compiled({ blockedCountries: ['FR'] }), lost), /no country data/);
});

test('a compiled key has the fields that calls are checked and charged by, and no others', async (t) => {
  const key = keyRecord({ expiresAt: 1_800_000_000_000, description: 'long '.repeat(100), version: 7 });
  const { id, accountId, personId, isActive, canManage, expiresAt, version } = key;
  const { key: kept, ...rest } = compileKey({
    key,
    accountVersion: 9,
    accountActive: true,
    accountLimits: NO_CALL_LIMITS,
    accountSpendingLimits: [],
  });
  t.strictSame(kept, {
    id,
    accountId,
    personId,
    isActive,
    canManage,
    expiresAt,
    version,
  });
  t.match(rest, { accountVersion: 9, accountActive: true, limits: undefined, valueEndsAt: undefined });
});

const LISTS: Partial<KeyRecord> = {
  activeHours: '09:00-17:00',
  allowedIps: ['10.0.0.0/8', '2001:db8::/32'],
  allowedOrigins: ['https://a.example'],
  allowedModels: ['gpt-4o-mini', 'other'],
  allowedCategories: ['text', 'image'],
  blockedCountries: ['FR'],
};
const PARTS = ['hours', 'addresses', 'origins', 'models', 'categories', 'blockedCountries'] as const;

test('keys with equal lists hold the same objects', async (t) => {
  const [first, second] = [compiled(structuredClone(LISTS)), compiled(structuredClone(LISTS))];
  for (const part of PARTS) t.equal(first[part], second[part], part);
});

test('a key whose lists differ from those of another is checked by its own', async (t) => {
  const other = compiled({
    activeHours: '09:00-12:00',
    allowedIps: ['10.0.0.0/8'],
    allowedOrigins: ['https://a.example', 'https://b.example'],
    allowedModels: ['gpt-4o-mini'],
    allowedCategories: ['image'],
    blockedCountries: ['FR', 'DE'],
  });
  const one = compiled(LISTS);
  for (const part of PARTS) t.not(one[part], other[part], part);
  const from = (text: string) => caller({ ip: parseAddress(text), origin: 'https://b.example' });
  t.equal(refusalOf(one, from('2001:db8::1'))?.code, 'origin_not_allowed');
  t.equal(refusalOf(other, caller())?.code, 'outside_active_hours');
  t.equal(modelRefusalOf(one, { slug: 'other', category: 'text' }), undefined);
  t.equal(modelRefusalOf(other, { slug: 'other', category: 'image' })?.code, 'model_not_allowed');
});

test('a stored restriction that cannot be read is an error and not no restriction', async (t) => {
  t.throws(() => compiled({ activeHours: 'always' }), RangeError);
  t.throws(() => compiled({ allowedIps: ['everywhere'] }), RangeError);
  t.equal(
    refusalOf(compiled({ allowedOrigins: ['???'] }), caller({ origin: 'https://a.example' }))?.code,
    'origin_not_allowed',
  );
});

const CALLS: readonly [what: string, key: Partial<KeyRecord>, code: string | undefined, message?: RegExp][] =
  [
    ['an unrestricted key', {}, undefined],
    ['an allowed category', { allowedCategories: ['image', 'text'] }, undefined],
    ['an allowed model', { allowedModels: ['gpt-4o-mini'] }, undefined],
    ['both allowed', { allowedCategories: ['text'], allowedModels: ['gpt-4o-mini'] }, undefined],
    ['another category', { allowedCategories: ['image', 'tts'] }, 'category_not_allowed', /text.*image, tts/],
    ['another model', { allowedModels: ['gpt-4o'] }, 'model_not_allowed', /"gpt-4o-mini".*allowed_models/],
    ['a model of another spelling', { allowedModels: ['GPT-4o-mini'] }, 'model_not_allowed'],
    ['neither', { allowedCategories: ['image'], allowedModels: ['gpt-4o'] }, 'category_not_allowed'],
  ];

for (const [what, key, code, message] of CALLS) {
  test(`model call: ${what}`, async (t) => {
    const refusal = modelRefusalOf(compiled(key), { slug: 'gpt-4o-mini', category: 'text' });
    t.equal(refusal?.code, code);
    if (message) t.match(refusal?.message, message);
    if (refusal) t.equal(refusal.statusCode, 403);
  });
}

test('a huge origin is cut short in the message', async (t) => {
  const refusal = refusalOf(
    compiled({ allowedOrigins: ['a.example'] }),
    caller({ origin: `https://${'x'.repeat(1_000_000)}` }),
  );
  t.ok((refusal?.message.length ?? 0) < 300);
});
