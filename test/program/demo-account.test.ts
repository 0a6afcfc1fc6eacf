import t from 'tap';
import { NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import { micro } from '../../src/domain/credits.ts';
import { ensureDemoAccount } from '../../src/program/demo-account.ts';
import { rotate } from '../helper/clients/rotate.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

t.test('the demo account has the limits of calls that the configuration gives new accounts', async (t) => {
  const limits = { rpmLimit: 600, tpmLimit: null, maxParallelRequests: 20 };
  const config = { accounts: { maxKeys: 10, maxKeyBytes: 33_554_432, overdraft: micro(0), ...limits } };
  const world = await startOwnGateway(t, { config });
  const { book, url } = world;
  t.capture(process.stdout, 'write', () => true);
  await ensureDemoAccount({ book, ledger: world.ledger.ledger, config: world.config, url });
  const [account] = await book.accounts(0, 10);
  t.match(account, { email: 'demo@example.com', ...limits });
  t.match(await book.keys(account?.id ?? 0), [{ name: 'demo', ...NO_CALL_LIMITS }]);
});

t.test('a rotated demo key is reported, and its earlier value gets no account', async (t) => {
  const world = await startOwnGateway(t);
  const { book, url } = world;
  const written = t.capture(process.stdout, 'write', () => true);
  const start = async () => {
    await ensureDemoAccount({ book, ledger: world.ledger.ledger, config: world.config, url });
    return written()
      .map(({ args }) => String(args[0]))
      .join('');
  };
  const [, key = ''] = /Demo key {3}(\S+)/.exec(await start()) ?? [];
  t.match(await start(), `Authorization: Bearer ${key}`, 'a second start finds it');
  const [{ id = 0 } = {}] = await book.accounts(0, 10);
  const [demo] = await book.keys(id);
  await rotate(world, key, demo?.id ?? 0, 3_600);
  await book.updateAccount(id, { email: 'moved@example.com' }, Date.now());
  for (const why of [
    /The demo key was rotated: \S+demo-key has an earlier value\./,
    /The key in \S+demo-key is not in the book: it was rotated, or belongs to another book\./,
  ]) {
    const output = await start();
    t.match(output, why);
    t.notMatch(output, key);
    t.equal((await book.accounts(0, 10)).length, 1);
    await book.endGrace(id, demo?.id ?? 0, Date.now());
  }
});

t.test('once people exist, the start says where they sign in', async (t) => {
  const { book, ledger, url, config } = await startOwnGateway(t);
  const written = t.capture(process.stdout, 'write', () => true);
  for (const [hasPeople, wanted] of [
    [false, `Dashboard  ${url}/dashboard/ (sign in with that key)\n`],
    [true, `Dashboard  sign in at ${url}/dashboard/sign-in\n`],
  ] as const) {
    await ensureDemoAccount({ book, ledger: ledger.ledger, config, url, hasPeople });
    const output = written().map(({ args }) => String(args[0]));
    t.ok(output.join('').includes(wanted), wanted);
    t.equal(output.join('').includes('/dashboard/sign-in'), hasPeople);
  }
});
