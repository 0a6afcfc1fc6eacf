import t from 'tap';
import { KEY_FIELDS, type KeyField } from '../../src/domain/key-fields.ts';
import { until } from '../helper/check/until.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import { startGatewayForCommands, tollgate } from '../helper/start/command.ts';

const { gateway, env, json } = await startGatewayForCommands(t);

type OptionField = {
  [F in KeyField]: (typeof KEY_FIELDS)[F]['option'] extends null ? never : F;
}[KeyField];

interface Key {
  readonly id: number;
  readonly key: string;
}

t.test('an owner creates, lists and revokes keys with a managing key', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const asOwner = { PORT: env.PORT, TOLLGATE_KEY: owner.key };
  const created = await tollgate(
    ['key', 'create', 'web app', '--limit', '0.5', '--period', 'daily'],
    asOwner,
  );
  t.equal(created.code, 0, created.errors);
  const [, id = '', value = ''] = /^Key (\d+), .*\n\n {2}(\S+)\n/.exec(created.output) ?? [];

  const listed = await tollgate(['key', 'list'], asOwner);
  t.match(
    listed.output.split('\n').find((line) => line.startsWith(`${id} `)),
    / web app +sk-tg-\w{4} +active +no +0\.000000 +daily +daily=0\.5 +any +never +never$/,
  );
  t.notMatch(listed.output, value);

  t.equal((await gateway.chat(value)).status, 402);
  t.equal((await tollgate(['key', 'revoke', id], asOwner)).output, `Key ${id} is revoked.\n`);
  t.equal((await gateway.chat(value)).status, 401);
});

t.test('the operator does the same for any account', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  const made = await json<Key>('key', 'create', 'rescue', ...account);
  t.equal((await gateway.chat(made.key)).status, 200);
  const { keys } = await json<{ keys: Key[] }>('key', 'list', ...account);
  t.same(
    keys.map(({ id }) => id),
    [owner.keyId, made.id],
  );
  t.same(await json('key', 'revoke', String(owner.keyId), ...account), { id: owner.keyId, deleted: true });
  t.equal((await gateway.chat(owner.key)).status, 401);
});

t.test('restrictions are passed on', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  await json(
    ...['key', 'create', 'narrow', '--models', 'flat, tokens', '--categories', 'text', '--ips', '10.0.0.0/8'],
    ...['--expires', '2031-01-01T00:00:00Z', '--description', 'for one team', ...account],
  );
  const { keys } = await json<{ keys: object[] }>('key', 'list', ...account);
  t.match(keys.at(-1), {
    description: 'for one team',
    allowed_models: ['flat', 'tokens'],
    allowed_categories: ['text'],
    allowed_ips: ['10.0.0.0/8'],
    expires_at: '2031-01-01T00:00:00.000Z',
  });
});

/** A value for each option, and the resulting value of the field. */
const GIVEN: Readonly<Record<OptionField, readonly [text: string, value: unknown]>> = {
  description: ['for one team', 'for one team'],
  expiresAt: ['2031-01-01T00:00:00Z', '2031-01-01T00:00:00.000Z'],
  allowedModels: ['flat, tokens', ['flat', 'tokens']],
  allowedCategories: ['text,image', ['text', 'image']],
  spendingLimit: ['0.5', 0.5],
  spendingPeriod: ['daily', 'daily'],
  activeHours: ['22:00-06:00', '22:00-06:00'],
  allowedIps: ['10.0.0.0/8, 2001:db8::1', ['10.0.0.0/8', '2001:db8::1']],
  allowedOrigins: ['https://*.example.com,example.org', ['https://*.example.com', 'example.org']],
  blockedCountries: ['fr,KP', ['FR', 'KP']],
  webhookUrl: ['https://hooks.example.com/credits', 'https://hooks.example.com/credits'],
  canManage: ['', true],
  rpmLimit: ['60', 60],
  tpmLimit: ['100000', 100_000],
  maxParallelRequests: ['5', 5],
  restrictionsLocked: ['', true],
};

t.test('every field has an option that sets it, and one that empties it', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  const rows = (Object.keys(GIVEN) as OptionField[]).map((field) => ({
    ...KEY_FIELDS[field],
    given: GIVEN[field],
  }));
  const set = rows.flatMap(({ option, given: [text] }) => [
    `--${option.flag}`,
    ...('value' in option ? [text] : []),
  ]);
  const wanted = Object.fromEntries(rows.map(({ wire, given }) => [wire, given[1]]));
  const made = await json<Key>('key', 'create', 'full', ...set, ...account);
  const { keys } = await json<{ keys: object[] }>('key', 'list', ...account);
  t.match(keys.at(-1), { id: made.id, ...wanted });

  const { id } = await json<Key>('key', 'create', 'plain', ...account);
  t.match(await json('key', 'edit', String(id), ...set, ...account), wanted);
  const lifted = rows.filter(({ option, wire }) => 'lifted' in option && wire !== 'can_manage');
  const empty = lifted.map(({ option }) => `--no-${option.flag}`);
  t.match(
    await json('key', 'edit', String(id), ...empty, ...account),
    Object.fromEntries(lifted.map((row) => [row.wire, 'fallback' in row ? row.fallback : undefined])),
  );
  const { output } = await tollgate(['key', 'edit', '--help']);
  for (const flag of [...rows.map(({ option }) => `--${option.flag}`), ...empty])
    t.ok(output.includes(flag), flag);
});

t.test('a value that the gateway does not take is refused in its words', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  const wrong = await tollgate(['key', 'create', 'x', '--hours', '8-18', ...account], env);
  t.match([wrong.code, wrong.errors], [1, /active_hours must be a UTC time range .*\(invalid_field\)/]);
});

t.test('the key can come from stdin', async (t) => {
  const owner = await makeOwner(gateway, 1);
  const { code } = await tollgate(['key', 'list', '--key', '-'], { PORT: env.PORT }, `${owner.key}\n`);
  t.equal(code, 0);
});

t.test('a key that cannot manage gets the reason, and a missing key the variable to set', async (t) => {
  const owner = await makeOwner(gateway, 1);
  const narrow = await json<Key>('key', 'create', 'x', '--account', String(owner.accountId));
  await gateway.api('PATCH', `/api/keys/${narrow.id}/`, owner.key, { can_manage: false });
  const refused = await tollgate(['key', 'create', 'y'], { PORT: env.PORT, TOLLGATE_KEY: narrow.key });
  t.match([refused.code, refused.errors], [1, /\(management_not_allowed\)\n$/]);
  const none = await tollgate(['key', 'list'], { PORT: env.PORT });
  t.match([none.code, none.errors], [2, /TOLLGATE_KEY.*--account/]);
});

t.test('a key is edited and brought back by its owner', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const asOwner = { PORT: env.PORT, TOLLGATE_KEY: owner.key };
  const made = await json<Key>('key', 'create', 'job', '--limit', '5', '--account', String(owner.accountId));
  const id = String(made.id);
  const edited = await tollgate(['key', 'edit', id, '--name', 'night job', '--no-limit', '--json'], asOwner);
  t.match(JSON.parse(edited.output), { name: 'night job', spending_limit: null, is_active: true });
  await tollgate(['key', 'revoke', id], asOwner);
  t.equal((await gateway.chat(made.key)).status, 401);
  t.equal((await tollgate(['key', 'reactivate', id], asOwner)).code, 0);
  t.equal((await gateway.chat(made.key)).status, 200);
  const nothing = await tollgate(['key', 'edit', id], asOwner);
  t.match([nothing.code, nothing.errors], [2, /No change was given/]);
});

t.test('a key gets several spending limits, which replace the earlier ones', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  const { id } = await json<Key>(
    ...['key', 'create', 'job', '--limit', '5h=2', '--limit', '10', '--limit', 'monthly=100', ...account],
  );
  const edit = (...more: string[]) => json<object>('key', 'edit', String(id), ...more, ...account);
  const pair = { spending_limit: 10, spending_period: 'monthly' };
  const { output } = await tollgate(['key', 'list', ...account], env);
  t.match(output, / job .* monthly +monthly=10, 5h=2, monthly=100 +any /);
  t.match(await edit('--description', 'x'), {
    ...pair,
    spending_limits: [
      { period: '5h', credits: 2 },
      { period: 'monthly', credits: 100 },
    ],
  });
  const weekly = [{ period: 'weekly', credits: 7.5 }];
  t.match(await edit('--limit', 'weekly=7.5'), { ...pair, spending_limits: weekly });
  t.match(await edit('--limit', '3'), { spending_limit: 3, spending_limits: weekly });
  t.match(await edit('--no-limit', '--limit', 'total=9'), {
    spending_limit: null,
    spending_limits: [{ period: 'total', credits: 9 }],
  });
  t.match(await edit('--no-limit'), { spending_limit: null, spending_limits: [] });
});

for (const [given, right] of [
  [['hourly=2'], /“hourly=2” is no limit such as monthly=100/],
  [['daily=1', 'daily=2'], /“daily” occurs twice/],
  [['x'], /a number of credits/],
] as const) {
  t.test(`--limit ${given.join(' ')} is wrong usage, and the message says what is right`, async (t) => {
    const limits = given.flatMap((limit) => ['--limit', limit]);
    const { code, errors } = await tollgate(['key', 'create', 'x', ...limits], { TOLLGATE_KEY: 'sk-tg-x' });
    t.match([code, errors], [2, right]);
  });
}

t.test('the operator edits a key of an account and brings it back', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  const id = String(owner.keyId);
  const edited = await json(
    'key',
    'edit',
    id,
    '--description',
    'by the operator',
    '--limit',
    '5',
    ...account,
  );
  // A restriction that the operator sets removes management, as one set by the owner does.
  t.match(edited, { description: 'by the operator', spending_limit: 5, can_manage: false });
  await json('key', 'revoke', id, ...account);
  t.equal((await gateway.chat(owner.key)).status, 401);
  const back = await tollgate(['key', 'reactivate', id, ...account], env);
  t.match([back.code, back.output], [0, new RegExp(`^${id} .* active +no `, 'm')]);
  t.equal((await gateway.chat(owner.key)).status, 200);
  const elsewhere = await tollgate(['key', 'edit', '999999', '--name', 'x', ...account], env);
  t.match([elsewhere.code, elsewhere.errors], [1, /\(key_not_found\)\n$/]);
});

t.test('whether a key may manage can be said either way', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  await json('key', 'create', 'narrow', '--limit', '5', '--can-manage', ...account);
  await json('key', 'create', 'wide', '--no-can-manage', ...account);
  const { keys } = await json<{ keys: { name: string; can_manage: boolean }[] }>('key', 'list', ...account);
  t.same(
    keys.slice(1).map(({ name, can_manage }) => [name, can_manage]),
    [
      ['narrow', true],
      ['wide', false],
    ],
  );
});

t.test('a model name that does not exist is warned of, for owners and operators', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const asOwner = { PORT: env.PORT, TOLLGATE_KEY: owner.key };
  for (const [args, more] of [
    [[], asOwner],
    [['--account', String(owner.accountId)], env],
  ] as const) {
    const { code, errors } = await tollgate(['key', 'create', 'x', '--models', 'flat,nope', ...args], more);
    t.match([code, errors], [0, /^Warning: this key can't call nope: /]);
  }
  const right = await tollgate(['key', 'create', 'x', '--models', 'flat'], asOwner);
  t.same([right.code, right.errors], [0, '']);
});

t.test('limits of calls are set and lifted, and restrict the key', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  const limits = [
    ['--rpm-limit', '60', 'rpm_limit', 60],
    ['--tpm-limit', '100000', 'tpm_limit', 100_000],
    ['--max-parallel-requests', '5', 'max_parallel_requests', 5],
  ] as const;
  for (const [option, text, field, value] of limits) {
    const { id } = await json<Key>('key', 'create', 'narrow', option, text, ...account);
    const { keys } = await json<{ keys: object[] }>('key', 'list', ...account);
    t.match(keys.at(-1), { id, [field]: value, can_manage: false });
    t.match(await json('key', 'edit', String(id), option.replace('--', '--no-'), ...account), {
      [field]: null,
      can_manage: false,
    });
    await json('key', 'edit', String(id), '--can-manage', ...account);
    t.match(await json('key', 'edit', String(id), option, text, ...account), {
      [field]: value,
      can_manage: false,
    });
  }
  const { output } = await tollgate(['key', 'list', ...account], env);
  t.match(output, / 60 rpm +never +never\n.* 100000 tpm +never +never\n.* 5 at once +never +never\n/);
  const wrong = await tollgate(['key', 'create', 'x', '--rpm-limit', '0', ...account], env);
  t.match([wrong.code, wrong.errors], [2, /whole number from 1 to 100000000000/]);
});

t.test('the list has the day of a key’s last use', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  const list = async () => (await tollgate(['key', 'list', ...account], env)).output;
  t.match(await list(), /^ID .* LAST USED +EXPIRES\n.* never +never\n$/);
  const from = new Date().toISOString().slice(0, 10);
  t.equal((await gateway.chat(owner.key)).status, 200);
  let day: string | undefined;
  await until('the call to be listed', async () => {
    day = / (\d{4}-\d{2}-\d{2}) +never\n$/.exec(await list())?.[1];
    return day !== undefined;
  });
  t.ok(day !== undefined && from <= day && day <= new Date().toISOString().slice(0, 10), `${day}`);
});

t.test('a list of keys with long names fits a terminal', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  await json('key', 'create', 'x'.repeat(100), '--expires', '2031-01-01T00:00:00Z', ...account);
  const list = ['key', 'list', ...account];
  const { output } = await tollgate(list, env, '', true);
  for (const line of output.split('\n')) t.ok(line.length <= 120, line);
  t.match((await tollgate(list, env)).output, 'x'.repeat(100), 'in a pipe, names are whole');
});

t.test('a key rotates with grace, which then ends early, and then without grace', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = ['--account', String(owner.accountId)];
  const made = await json<Key>('key', 'create', 'job', ...account);
  const id = String(made.id);
  const asOwner = { PORT: env.PORT, TOLLGATE_KEY: owner.key };
  const rotated = await tollgate(['key', 'rotate', id, '--grace', '1h'], asOwner);
  t.equal(rotated.code, 0, rotated.errors);
  const [, value = '', until = ''] =
    /^Key \d+, .*\n\n {2}(\S+)\n\nThe previous value is valid until (\S+)\.\n$/.exec(rotated.output) ?? [];
  t.ok(Math.abs(Date.parse(until) - Date.now() - 3_600_000) < 600_000, until);
  t.equal((await gateway.chat(made.key)).status, 200);
  t.equal((await gateway.chat(value)).status, 200);
  const { keys } = await json<{ keys: object[] }>('key', 'list', ...account);
  t.match(keys.at(-1), { id: made.id, previous_valid_until: until });
  t.match(
    (await tollgate(['key', 'list', '--help'], {})).output,
    /--json prints every field, such as\s+previous_valid_until/,
  );
  const ended = await tollgate(['key', 'rotate', id, '--end-grace'], asOwner);
  t.equal(ended.output, `Key ${id} has only its newest value.\n`);
  t.equal((await gateway.chat(made.key)).status, 401);
  t.equal((await gateway.chat(value)).status, 200);
  const again = await json<Key & { previous_valid_until: null }>('key', 'rotate', id, ...account);
  t.equal(again.previous_valid_until, null);
  t.equal((await gateway.chat(value)).status, 401);
  t.equal((await gateway.chat(again.key)).status, 200);
});

t.test('a grace that is no time, or beside the end of one, is wrong usage', async (t) => {
  const env = { TOLLGATE_KEY: 'sk-tg-x' };
  const odd = await tollgate(['key', 'rotate', '1', '--grace', '1 hour'], env);
  t.match([odd.code, odd.errors], [2, /30m/]);
  for (const long of ['60d', '721h', '2592001', '999999999d']) {
    const { code, errors } = await tollgate(['key', 'rotate', '1', '--grace', long], env);
    t.match([code, errors], [2, /'--grace <time>' argument '\w+' is invalid\. It must be at most 30d\.\n/]);
  }
  t.match((await tollgate(['key', 'rotate', '--help'], {})).output, /12h\s+or\s+7d;\s+at\s+most\s+30d/);
  const both = await tollgate(['key', 'rotate', '1', '--grace', '1h', '--end-grace'], env);
  t.match([both.code, both.errors], [2, /cannot be used with/]);
});
