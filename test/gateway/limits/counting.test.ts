import { test } from 'tap';
import { startWaitingProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { type InProcessGateway, startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const COUNTS = [
  ['/v1/messages/count_tokens', { model: 'claude', messages: [{ role: 'user', content: 'Hello' }] }],
  ['/v1/responses/input_tokens', { model: 'tokens', input: 'Hello' }],
] as const;

const countAll = (world: InProcessGateway, key: string, times: number) =>
  Promise.all(
    COUNTS.flatMap(([path, body]) => Array.from({ length: times }, () => world.api('POST', path, key, body))),
  );

// Claude Code's /context sends 25 counts at once: a key with an rpm_limit of 10 then waited for its next prompt.
test('counting takes nothing of rpm_limit and tpm_limit, of key or account, and has a row each', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key, accountId } = await world.account({ key: { rpmLimit: 3, tpmLimit: 50_000 } });
  await world.limitAccount(accountId, { rpmLimit: 4, tpmLimit: 60_000 });
  const counted = await countAll(world, key, 10);
  t.same(new Set(counted.map(({ status }) => status)), new Set([200]));
  const ofResponse = counted.at(-1);
  t.match(await ofResponse?.json(), { object: 'response.input_tokens', input_tokens: Number });
  t.equal(ofResponse?.headers.get('x-tollgate-charge'), '0.000000');
  t.equal(ofResponse?.headers.get('x-ratelimit-remaining-requests'), '3', 'the headers show what is left');
  const call = { model: 'tokens', max_tokens: 10 };
  for (const status of [200, 200, 200, 429]) t.equal((await world.chat(key, call)).status, status);
  t.same(
    (await countAll(world, key, 5)).map(({ status }) => status),
    Array(10).fill(200),
    'also where none is left',
  );
  await world.settled();
  const { entries } = (await (await world.api('GET', '/api/account/ledger/?limit=100', key)).json()) as {
    entries: { type: string; endpoint: string; credits: string }[];
  };
  for (const [path] of COUNTS) {
    const rows = entries.filter(({ endpoint }) => endpoint === path);
    t.same(
      rows.map(({ type, credits }) => `${type} ${credits}`),
      Array(15).fill('charge 0.000000'),
      path,
    );
  }
});

test('counting costs the price of a request, by both formats', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ credits: 1.5 });
  const count = () => world.api('POST', '/v1/responses/input_tokens', key, { model: 'flat', input: 'a' });
  t.equal((await count()).headers.get('x-tollgate-charge'), '1.000000');
  t.equal((await count()).status, 402);
});

test('counting takes a place among the calls in flight, and gives it back', async (t) => {
  const { provider, letGo } = await startWaitingProvider(t);
  const world = await startGatewayInProcess(t, { provider });
  const { key } = await world.account({ key: { maxParallelRequests: 1, rpmLimit: 1 } });
  const [path, body] = COUNTS[1];
  const first = world.api('POST', path, key, { ...body, input: 'wait' });
  await provider.request(0);
  const refused = await world.api('POST', path, key, body);
  t.equal(refused.status, 429);
  t.match(await refused.json(), { error: { message: /max_parallel_requests of 1 call in flight/ } });
  letGo();
  t.equal((await first).status, 200);
  t.equal((await world.api('POST', path, key, body)).status, 200);
  t.equal((await world.chat(key)).status, 200, 'the one request of the minute is left');
});

test('counting has a bucket of its own: ten times rpm_limit, and 600 a minute without one', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const [path, body] = COUNTS[1];
  const counted = async (key: string, times: number) => {
    const answers = await Promise.all(
      Array.from({ length: times }, () => world.api('POST', path, key, body)),
    );
    return answers.filter(({ status }) => status === 200).length;
  };
  // Beyond the size of the bucket come those that it refills meanwhile: 10 a minute, then 600.
  const limited = await world.account({ key: { rpmLimit: 1 } });
  const passed = await counted(limited.key, 60);
  t.ok(passed >= 10 && passed < 60, `${passed} of 60`);
  const refused = await world.api('POST', path, limited.key, body);
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers.get('retry-after-ms')) > 0);
  t.match(await refused.json(), {
    error: { code: 'rate_limit_exceeded', message: /counted tokens 10 times/ },
  });
  t.equal((await world.chat(limited.key)).status, 200, 'the one request of the minute is left');
  const member = await world.account();
  await world.limitAccount(member.accountId, { rpmLimit: 2 });
  t.ok((await counted(member.key, 60)) < 60, 'the account too');
  const open = await world.account();
  t.equal(await counted(open.key, 600), 600);
});
