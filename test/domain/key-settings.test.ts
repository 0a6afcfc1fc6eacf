import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { GatewayError } from '../../src/domain/errors.ts';
import type { KeySettings } from '../../src/domain/key.ts';
import { parseKeyPatch, parseNewKey } from '../../src/domain/key-settings.ts';
import { LIMIT_PERIODS } from '../../src/domain/limit-periods.ts';

/** What the call throws. Fails if it throws nothing or anything else. */
function refusal(call: () => unknown): GatewayError {
  try {
    call();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const ACCEPTED: readonly [wire: Record<string, unknown>, settings: Partial<KeySettings>][] = [
  [{}, {}],
  [{ name: '  Build server ' }, { name: 'Build server' }],
  [{ name: 'x'.repeat(100) }, { name: 'x'.repeat(100) }],
  [{ name: '🔑'.repeat(100) }, { name: '🔑'.repeat(100) }],
  [{ name: ` ${'x'.repeat(100)} ` }, { name: 'x'.repeat(100) }],
  [{ description: '' }, { description: '' }],
  [{ description: ' two\n\tlines ' }, { description: ' two\n\tlines ' }],
  [{ description: '🔑'.repeat(1_000) }, { description: '🔑'.repeat(1_000) }],
  [{ is_active: false }, { isActive: false }],
  [{ can_manage: true }, { canManage: true }],
  [{ expires_at: null }, { expiresAt: null }],
  [{ expires_at: '2030-01-31T12:00:00+02:00' }, { expiresAt: Date.UTC(2030, 0, 31, 10) }],
  [{ expires_at: '2020-01-31T12:00:00Z' }, { expiresAt: Date.UTC(2020, 0, 31, 12) }],
  [{ allowed_models: [] }, { allowedModels: [] }],
  [
    { allowed_models: ['b', 'a', 'b', 'not-in-the-catalog'] },
    { allowedModels: ['b', 'a', 'not-in-the-catalog'] },
  ],
  [{ allowed_models: ['__proto__', 'x'.repeat(200)] }, { allowedModels: ['__proto__', 'x'.repeat(200)] }],
  [{ allowed_categories: ['video', 'text', 'video'] }, { allowedCategories: ['video', 'text'] }],
  [{ spending_limit: null }, { spendingLimit: null }],
  [{ spending_limit: 0 }, { spendingLimit: 0 as KeySettings['spendingLimit'] }],
  [{ spending_limit: -0 }, { spendingLimit: 0 as KeySettings['spendingLimit'] }],
  [{ spending_limit: 12.345678 }, { spendingLimit: 12_345_678 as KeySettings['spendingLimit'] }],
  [{ spending_period: 'daily' }, { spendingPeriod: 'daily' }],
  [{ spending_limits: [] }, { spendingLimits: [] }],
  [
    { spending_limits: LIMIT_PERIODS.map((period) => ({ period, credits: 0 })) },
    { spendingLimits: LIMIT_PERIODS.map((period) => ({ period, credits: micro(0) })) },
  ],
  [
    {
      spending_limits: [
        { credits: 8_500_000_000, period: 'total' },
        { period: '5h', credits: 1.5 },
      ],
    },
    {
      spendingLimits: [
        { period: 'total', credits: micro(8_500_000_000_000_000) },
        { period: '5h', credits: micro(1_500_000) },
      ],
    },
  ],
  [{ active_hours: '' }, { activeHours: '' }],
  [{ active_hours: '22:00-06:00' }, { activeHours: '22:00-06:00' }],
  [
    { allowed_ips: ['10.1.2.3/8', '::ffff:10.0.0.0/104', '2001:DB8::1'] },
    { allowedIps: ['10.0.0.0/8', '2001:db8::1'] },
  ],
  [
    { allowed_origins: ['HTTPS://App.example:443', 'https://app.example/', 'X'] },
    { allowedOrigins: ['https://app.example', 'x'] },
  ],
  [{ blocked_countries: ['de', 'FR', 'DE'] }, { blockedCountries: ['DE', 'FR'] }],
  [{ webhook_url: '' }, { webhookUrl: '' }],
  [
    { webhook_url: 'HTTPS://Hooks.example:8443/Low?x=1#f' },
    { webhookUrl: 'HTTPS://Hooks.example:8443/Low?x=1#f' },
  ],
  [{ webhook_url: 'https://hooks.example/@me?to=a@b' }, { webhookUrl: 'https://hooks.example/@me?to=a@b' }],
  [
    { webhook_url: `https://hooks.example/${'a'.repeat(2_026)}` },
    { webhookUrl: `https://hooks.example/${'a'.repeat(2_026)}` },
  ],
];

for (const [wire, settings] of ACCEPTED) {
  test(`accepted: ${JSON.stringify(wire).slice(0, 70)}`, async (t) => {
    const parsed = parseKeyPatch(wire);
    t.strictSame(parsed, settings);
  });
}

const CALL_LIMITS = [0, -1, 1.5, '5', true, 1e12, [], '', Number.MAX_SAFE_INTEGER + 1];

const REFUSED: readonly [param: string, values: readonly unknown[]][] = [
  ['rpm_limit', CALL_LIMITS],
  ['tpm_limit', CALL_LIMITS],
  ['max_parallel_requests', CALL_LIMITS],
  [
    'name',
    [
      '',
      '   ',
      'x'.repeat(101),
      '🔑'.repeat(101),
      'two\nlines',
      'nul\u0000',
      '\ud800',
      '\u200b',
      '\u3164 \u2800\u00ad',
      '\u202egnp.exe',
      'a\u2066b',
      null,
      1,
      ['x'],
      'x'.repeat(9_999_999),
    ],
  ],
  ['description', ['x'.repeat(1_001), 'nul\u0000', 'bell\u0007', '\udc00', null, 1, {}]],
  ['is_active', [null, 'true', 1, 0, []]],
  ['can_manage', [null, 'true', 1]],
  [
    'expires_at',
    [
      '',
      'tomorrow',
      '2030-01-31',
      '2030-02-30T00:00:00Z',
      '2030-01-31T12:00:00',
      1_893_456_000_000,
      false,
      {},
    ],
  ],
  [
    'allowed_models',
    [
      null,
      'gpt',
      {},
      { length: 1, 0: 'gpt' },
      [''],
      ['x'.repeat(201)],
      ['a\nb'],
      [' a'],
      ['a '],
      [1],
      [null],
      [['a']],
      ['\ud800'],
    ],
  ],
  ['allowed_categories', [null, 'text', ['Text'], ['audio'], ['text', 'text '], ['__proto__'], [1]]],
  [
    'spending_limit',
    [-1, -0.000001, 1e-7, 0.1234567, 1e300, Number.NaN, Number.POSITIVE_INFINITY, '10', true, [], {}],
  ],
  [
    'spending_limits',
    [
      null,
      'daily=1',
      {},
      [null],
      [1],
      [[]],
      [{}],
      [{ period: 'daily' }],
      [{ credits: 1 }],
      [{ period: 'daily', credits: null }],
      [{ period: 'daily', credits: '1' }],
      [{ period: 'daily', credits: -0.000001 }],
      [{ period: 'daily', credits: 0.0000001 }],
      [{ period: 'daily', credits: 8_500_000_001 }],
      [{ period: 'hourly', credits: 1 }],
      [{ period: 'Daily', credits: 1 }],
      [{ period: 'toString', credits: 1 }],
      [{ period: 'daily', credits: 1, of: 'key' }],
      [
        { period: 'daily', credits: 1 },
        { period: 'daily', credits: 2 },
      ],
    ],
  ],
  ['spending_period', ['yearly', 'Daily', '', null, 1, ['daily']]],
  [
    'active_hours',
    ['8-18', '08:00-08:00', '24:00-08:00', '09:00-24:01', '09:60-10:00', '١٢:٠٠-13:00', null, 8, []],
  ],
  [
    'allowed_ips',
    [null, '10.0.0.1', ['10.0.0.0/33'], ['010.0.0.1'], ['localhost'], [''], [1], ['10.0.0.1', 'x']],
  ],
  ['allowed_origins', [null, 'https://a.example', ['*'], ['https://a.example/path'], [''], [1]]],
  ['blocked_countries', [null, 'DE', ['ZZ'], ['DEU'], [''], [1], ['constructor']]],
  [
    'webhook_url',
    [
      null,
      1,
      ' ',
      'hooks.example',
      '//hooks.example',
      'ftp://hooks.example',
      'javascript:alert(1)',
      'http:hooks.example',
      'http:/hooks.example',
      'http:\\\\hooks.example',
      'https://',
      'https:///path',
      'https://user@hooks.example',
      'https://user:pass@hooks.example',
      'https://@hooks.example',
      'https://:@hooks.example',
      ' https://hooks.example',
      'https://hooks.example\n',
      'https://hooks.exa\tmple',
      'https://hooks.example/a b',
      'https://hooks.example:99999',
      'https://[::1',
      'https://hooks.example/\ud800',
      `https://hooks.example/${'a'.repeat(2_027)}`,
    ],
  ],
];

for (const [param, values] of REFUSED) {
  for (const value of values) {
    test(`refused: ${param} ${String(JSON.stringify(value)).slice(0, 50)}`, async (t) => {
      const { code, param: named, message } = refusal(() => parseKeyPatch({ [param]: value }));
      t.equal(code, 'invalid_field');
      t.equal(named, param);
      t.equal(refusal(() => parseNewKey({ name: 'n', [param]: value })).param, param);
      t.match(message, param);
      t.ok(message.length < 400, 'a message of one or two sentences');
    });
  }
}

test('the message names the wrong item of a list and a correct value', async (t) => {
  const { message } = refusal(() => parseKeyPatch({ allowed_ips: ['10.0.0.1', '10.0.0.0/33'] }));
  t.match(message, /^Item 2 of allowed_ips, "10\.0\.0\.0\/33", is not an IPv4 or IPv6 address or CIDR range/);
});

test('a huge item is cut short in the message', async (t) => {
  const { message } = refusal(() => parseKeyPatch({ allowed_ips: ['x'.repeat(1_000_000)] }));
  t.ok(message.length < 400);
});

test('a list has at most 1,000 items', async (t) => {
  const items = Array.from({ length: 1_001 }, (_, index) => `model-${index}`);
  t.equal(parseKeyPatch({ allowed_models: items.slice(0, 1_000) }).allowedModels?.length, 1_000);
  const { param, message } = refusal(() => parseKeyPatch({ allowed_models: items }));
  t.equal(param, 'allowed_models');
  t.match(message, /at most 1000 items; it has 1001/);
});

for (const name of [
  'color',
  'isActive',
  'id',
  'prefix',
  'created_at',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
]) {
  test(`the unknown field ${JSON.stringify(name)} is named`, async (t) => {
    const error = refusal(() => parseKeyPatch({ name: 'good', [name]: true }));
    t.equal(error.code, 'invalid_field');
    t.equal(error.param, name);
  });
}

for (const name of ['version', 'last_used_at', 'previous_valid_until', 'spending_current']) {
  test(`the field ${name}, which keys show, is said to be none that can be set`, async (t) => {
    const { param, message } = refusal(() => parseKeyPatch({ [name]: null }));
    t.equal(param, name);
    t.match(
      message,
      new RegExp(`^"${name}" is not a supported field\\. Supported fields: name, .*, webhook_url, .*\\.$`),
    );
  });
}

test('__proto__ in a body is an unknown field and sets no prototype', async (t) => {
  const error = refusal(() => parseKeyPatch(JSON.parse('{"__proto__": {"can_manage": true}}')));
  t.equal(error.code, 'invalid_field');
  t.equal(error.param, '__proto__');
});

test('fields of a prototype count for nothing', async (t) => {
  t.same(parseKeyPatch(Object.create({ can_manage: true, color: 'red' })), {});
});

test('an unknown field with a huge name is cut short in the answer', async (t) => {
  const error = refusal(() => parseKeyPatch({ ['x'.repeat(1_000_000)]: 1 }));
  t.ok((error.param?.length ?? 0) < 200);
  t.ok(error.message.length < 600);
});

for (const body of [undefined, null, 'name', 1, true, [], [{ name: 'x' }]]) {
  test(`the body ${JSON.stringify(body)} is no object`, async (t) => {
    t.equal(refusal(() => parseKeyPatch(body)).code, 'invalid_json');
    t.equal(refusal(() => parseNewKey(body)).code, 'invalid_json');
  });
}

test('a new key has the defaults of the specification', async (t) => {
  t.strictSame(parseNewKey({ name: 'n' }), {
    name: 'n',
    description: '',
    isActive: true,
    expiresAt: null,
    allowedModels: [],
    allowedCategories: [],
    spendingLimit: null,
    spendingPeriod: 'monthly',
    spendingLimits: [],
    rpmLimit: null,
    tpmLimit: null,
    maxParallelRequests: null,
    activeHours: '',
    allowedIps: [],
    allowedOrigins: [],
    blockedCountries: [],
    webhookUrl: '',
    restrictionsLocked: false,
  });
});

test('a new key needs a name', async (t) => {
  const error = refusal(() => parseNewKey({ description: 'nameless' }));
  t.equal(error.code, 'invalid_field');
  t.equal(error.param, 'name');
});

test('every field of PATCH can be set on creation', async (t) => {
  const { canManage, ...settings } = parseNewKey({
    name: 'n',
    description: 'd',
    is_active: false,
    expires_at: '2030-01-01T00:00:00Z',
    can_manage: false,
    allowed_models: ['m'],
    allowed_categories: ['tts'],
    spending_limit: 5,
    spending_period: 'weekly',
    spending_limits: [{ period: '5h', credits: 2 }],
    rpm_limit: 60,
    tpm_limit: 100_000,
    max_parallel_requests: 3,
    active_hours: '08:00-18:00',
    allowed_ips: ['10.0.0.1'],
    allowed_origins: ['https://a.example'],
    blocked_countries: ['fr'],
    webhook_url: 'https://hooks.example/',
    restrictions_locked: true,
  });
  t.equal(canManage, false);
  t.strictSame(settings, {
    name: 'n',
    description: 'd',
    isActive: false,
    expiresAt: Date.UTC(2030, 0, 1),
    allowedModels: ['m'],
    allowedCategories: ['tts'],
    spendingLimit: 5_000_000,
    restrictionsLocked: true,
    spendingPeriod: 'weekly',
    spendingLimits: [{ period: '5h', credits: 2_000_000 }],
    rpmLimit: 60,
    tpmLimit: 100_000,
    maxParallelRequests: 3,
    activeHours: '08:00-18:00',
    allowedIps: ['10.0.0.1'],
    allowedOrigins: ['https://a.example'],
    blockedCountries: ['FR'],
    webhookUrl: 'https://hooks.example/',
  });
});
