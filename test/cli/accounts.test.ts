import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { startGatewayForCommands, tollgate } from '../helper/start/command.ts';

const { gateway, env, operator, json } = await startGatewayForCommands(t);

interface Created {
  readonly account: { readonly id: number; readonly credits_balance: number };
  readonly key: { readonly key: string };
}

let emails = 0;
const newEmail = () => `new${emails++}@example.com`;
const create = (...more: string[]) => json<Created>('account', 'create', newEmail(), ...more);

t.test('an account is created, and the key that is printed works', async (t) => {
  const email = newEmail();
  const { code, output, errors } = await operator('account', 'create', email, '--credits', '0.000003');
  t.same([code, errors], [0, '']);
  t.match(output, new RegExp(`^Account \\d+ \\(${email}\\) has 0\\.000003 credits\\.\n`));
  t.match(output, /No alert is sent before a top-up takes the balance to the alert threshold of 100\.000000/);
  const [, key = ''] = /^ {2}(sk-tg-\w+)$/m.exec(output) ?? [];
  const { status, body } = await apiOf(gateway, key).get<{ credits_balance: number }>('/api/account/');
  t.equal(status, 200);
  t.equal(body.credits_balance, 0.000003);
});

t.test('with --json it prints the answer of the API', async (t) => {
  const { account, key } = await create('--credits', '12.5', '--threshold', '7', '--overdraft', '2.5');
  t.match(account, { credits_balance: 12.5, alert_threshold: 7, overdraft: 2.5 });
  t.match(key.key, /^sk-tg-/);
});

t.test(
  'a balance at the alert threshold is no reason for a warning: the next charge sends the alert',
  async (t) => {
    const { output } = await operator('account', 'create', newEmail(), '--credits', '100');
    t.notMatch(output, 'No alert');
  },
);

t.test('all accounts are listed, with balances to the last decimal', async (t) => {
  const { account } = await create('--credits', '8499999999.999999');
  const { output } = await operator('account', 'list');
  t.match(
    output.split('\n')[0],
    /^ID +E-MAIL +ACTIVE +BALANCE +HELD +ALERT BELOW +OVERDRAFT +LIMITS +CALLS +CREATED$/,
  );
  t.match(
    output.split('\n').find((line) => line.startsWith(`${account.id} `)),
    / yes +8499999999\.999999 +0\.000000 +100\.000000 +0\.000000 +none +any +\d{4}-/,
  );
  const { accounts } = await json<{ accounts: { id: number }[] }>('account', 'list');
  t.ok(accounts.some(({ id }) => id === account.id));
});

t.test('an account is named by the e-mail of its owner, in any case', async (t) => {
  const email = `long-name-of-an-owner-${newEmail()}`;
  const { account } = await json<Created>('account', 'create', email, '--credits', '10');
  await json<Created>('account', 'create', `x${email}`);
  const answer = await json('account', 'credit', email.toUpperCase(), '2.5');
  t.match(answer, { account_id: account.id, credits_balance: 12.5 });
  t.match(await json('account', 'show', email), { id: account.id, email });
  const unknown = await operator('account', 'show', 'nobody@example.com');
  t.equal(unknown.code, 1);
  t.match(unknown.errors, /No account has the email address nobody@example\.com/);
  t.equal((await operator('account', 'show', 'x')).code, 2);
  const { output } = await operator('account', 'list', '--email', email, '--csv');
  const [head, ...rows] = output.trim().split('\n');
  t.match(head, /^ID,E-MAIL,ACTIVE,BALANCE/);
  t.same(
    rows.map((row) => row.split(',')[1]),
    [email, `x${email}`],
  );
});

t.test('a balance is topped up, and adjusted by a negative amount', async (t) => {
  const { account } = await create('--credits', '10');
  const id = String(account.id);
  const { output } = await operator('account', 'credit', id, '0.1', '--note', 'Invoice 7');
  t.equal(output, `Account ${id} has 10.100000 credits.\n`);
  t.match(await json('account', 'credit', id, '-0.2'), { account_id: account.id, credits_balance: 9.9 });
});

t.test('a repeat under the same idempotency key changes the balance once', async (t) => {
  const { account } = await create();
  const again = ['account', 'credit', String(account.id), '5', '--idempotency-key', 'invoice-7'];
  t.match(await json(...again), { credits_balance: 5, idempotency_key: 'invoice-7' });
  t.match(await json(...again), { credits_balance: 5 });
});

t.test(
  'an account is shown, closed and opened, and gets another address, threshold and overdraft',
  async (t) => {
    const { account, key } = await create('--credits', '10');
    const id = String(account.id);
    const status = async () => (await gateway.chat(key.key)).status;
    const { output } = await operator('account', 'show', id);
    t.match(
      output,
      new RegExp(`^ID +${id}\nE-MAIL +\\S+@example\\.com\nNAME .*\nACTIVE +yes\nBALANCE +10\\.000000\n`),
    );
    t.match(output, /^LEFT OF LIMITS +none\nSPENT IN 30 DAYS +0\.000000\nLASTS +-\n.*\nLAST USED +never\n/m);
    t.match(await json('account', 'deactivate', id), { id: account.id, is_active: false });
    t.not(await status(), 200);
    t.match(await json('account', 'activate', id), { is_active: true });
    t.equal(await status(), 200);
    const email = newEmail();
    t.match(await json('account', 'email', id, email), { email });
    t.match(await json('account', 'threshold', id, '2.5'), { alert_threshold: 2.5, email });
    t.match(await json('account', 'overdraft', id, '3.5'), { overdraft: 3.5, alert_threshold: 2.5 });
  },
);

t.test('limits of the calls of an account are set, shown and lifted', async (t) => {
  const { account } = await create('--rpm-limit', '600', '--tpm-limit', '100000000000');
  const id = String(account.id);
  t.match(account, { rpm_limit: 600, tpm_limit: 100_000_000_000, max_parallel_requests: null });
  const { output } = await operator(
    ...['account', 'limits', id, '--max-parallel-requests', '5', '--no-tpm-limit'],
  );
  t.match(output, /^ID .* CALLS +CREATED\n.* 600 rpm, 5 at once +\d{4}-/);
  t.match(await json('account', 'limits', id, '--no-rpm-limit', '--no-max-parallel-requests'), {
    rpm_limit: null,
    tpm_limit: null,
    max_parallel_requests: null,
  });
  const nothing = await operator('account', 'limits', id);
  t.match([nothing.code, nothing.errors], [2, /No change was given/]);
});

t.test('spending limits of an account are set, shown and lifted', async (t) => {
  const { account } = await create('--limit', '5h=2', '--limit', 'monthly=100');
  const id = String(account.id);
  t.match(account, {
    spending_limits: [
      { period: '5h', credits: 2 },
      { period: 'monthly', credits: 100 },
    ],
  });
  const { output } = await operator('account', 'limits', id, '--limit', 'weekly=7.5,total=50');
  t.match(output, /^ID .* LIMITS +CALLS .*\n.* weekly=7\.5, total=50 +any /);
  t.match(await json('account', 'limits', id, '--rpm-limit', '5'), {
    spending_limits: [{ period: 'weekly' }, {}],
  });
  t.match(await json('account', 'limits', id, '--no-limit'), { spending_limits: [], rpm_limit: 5 });
});

t.test('the token can come from stdin', async (t) => {
  const { PORT, ADMIN_TOKEN } = env;
  const args = ['account', 'list', '--admin-token', '-'];
  t.equal((await tollgate(args, { PORT, ADMIN_TOKEN: '' }, `${ADMIN_TOKEN}\n`)).code, 0);
});

t.test('the token can come from a file', async (t) => {
  const { PORT, ADMIN_TOKEN = '' } = env;
  const folder = t.testdir({ token: `${ADMIN_TOKEN}\n` });
  const list = (token: string) =>
    tollgate(['account', 'list'], { PORT, ADMIN_TOKEN: '', ADMIN_TOKEN_FILE: `${folder}/${token}` });
  t.equal((await list('token')).code, 0);
  const gone = await list('gone');
  t.match([gone.code, gone.errors], [1, /^tollgate: ADMIN_TOKEN_FILE: names the file .* does not exist\n$/]);
});

t.test('--url overrides PORT', async (t) => {
  const { ADMIN_TOKEN } = env;
  t.equal(
    (await tollgate(['account', 'list', '--url', `${gateway.url}/`], { ADMIN_TOKEN, PORT: '1' })).code,
    0,
  );
});

t.test('the gateway’s refusal is printed in its words, with exit code 1', async (t) => {
  const unknown = await operator('account', 'credit', '987654321', '1');
  t.same([unknown.code, unknown.output], [1, '']);
  t.equal(unknown.errors, 'tollgate: No account has this id. (account_not_found)\n');

  const email = newEmail();
  await operator('account', 'create', email);
  const taken = await operator('account', 'create', email);
  t.match([taken.code, taken.errors], [1, /^tollgate: .*\(email_taken\)\n$/]);
});

t.test('a wrong token, and a gateway that is not there, say so in one line', async (t) => {
  const wrong = await tollgate(['account', 'list'], { ...env, ADMIN_TOKEN: 'wrong' });
  t.match([wrong.code, wrong.errors], [1, /^tollgate: .*\(invalid_admin_token\)\n$/]);
  const absent = await tollgate(['account', 'list'], { ...env, PORT: '1' });
  t.match(
    [absent.code, absent.errors],
    [1, /^tollgate: No gateway answers at http:\/\/127\.0\.0\.1:1: .*--url\.\n$/],
  );
});

for (const [what, args] of [
  ['no token', ['account', 'list']],
  ['an amount with seven decimals', ['account', 'credit', '1', '0.0000001']],
  ['an amount that is no number', ['account', 'credit', '1', '1e3']],
  ['an amount beyond all balances', ['account', 'credit', '1', '8500000001']],
  ['a limit of no calls', ['account', 'limits', '1', '--rpm-limit', '0']],
  ['a limit that is no whole number', ['account', 'limits', '1', '--tpm-limit', '1.5']],
  ['a spending limit without a period', ['account', 'limits', '1', '--limit', '100']],
  ['an id that is none', ['account', 'credit', 'me', '1']],
  ['a missing argument', ['account', 'create']],
  ['an unknown option', ['account', 'list', '--color']],
  ['an unknown command', ['account', 'drop']],
  ['no command', ['account']],
] as const) {
  t.test(`${what} is a usage error: exit code 2 and no output on stdout`, async (t) => {
    const { code, output, errors } = await tollgate(args, {
      ADMIN_TOKEN: what === 'no token' ? '' : 'x',
      PORT: '1',
    });
    t.same([code, output], [2, '']);
    t.ok(errors.length > 0);
  });
}
