import { type Test, test } from 'tap';
import { until } from '../../helper/check/until.ts';
import { startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import {
  ADMIN_TOKEN,
  type InProcessGateway,
  startOwnGateway,
  testConfig,
} from '../../helper/start/gateway-in-process.ts';

/** A gateway whose calls may wait, and a provider that holds its answers to named calls until each is released. */
async function start(t: Test, { maxQueueMs = 60_000, waitingCalls = 5_000 } = {}) {
  const open: (() => void)[] = [];
  const seen: string[] = [];
  const provider = await startScriptedProvider({
    behave: async ({ body }) => {
      const name = /name-\w+/.exec(body.toString())?.[0];
      if (!name) return undefined;
      seen.push(name);
      await new Promise<void>((resolve) => open.push(resolve));
      return undefined;
    },
  });
  t.teardown(() => provider.close());
  const { limits } = testConfig('', provider.url);
  const world = await startOwnGateway(t, {
    provider,
    config: { limits: { ...limits, maxQueueMs, waitingCalls } },
  });
  const letGo = () => open.shift()?.();
  t.teardown(() => {
    for (const each of open) each();
  });
  const call = (key: string, name: string, init: RequestInit = {}) =>
    fetch(`${world.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'flat', messages: [{ role: 'user', content: `name-${name}` }] }),
      ...init,
    });
  return { world, provider, seen, letGo, call };
}

async function metric(world: InProcessGateway, name: string): Promise<number> {
  const text = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

const queued = (world: InProcessGateway, count: number) =>
  until(`${count} calls that wait`, async () => (await metric(world, 'tollgate_queued_calls')) === count);

test('calls that lack a slot wait for it, first come first served, and other keys go by', async (t) => {
  const { world, provider, seen, letGo, call } = await start(t);
  const { key } = await world.account({ key: { maxParallelRequests: 1 } });
  const other = await world.account({ key: { maxParallelRequests: 1 } });
  const answers = [call(key, 'a')];
  await provider.request(0);
  for (const [waiting, name] of ['b', 'c', 'd'].entries()) {
    answers.push(call(key, name));
    await queued(world, waiting + 1);
  }
  const gone = call(other.key, 'other');
  await provider.request(1);
  for (const turn of [2, 3, 4]) {
    // One of the two open calls belongs to the other key, which comes second.
    letGo();
    if (turn === 2) letGo();
    await provider.request(turn);
  }
  letGo();
  for (const answer of [...answers, gone]) t.equal((await answer).status, 200);
  t.same(seen, ['name-a', 'name-other', 'name-b', 'name-c', 'name-d']);
  t.equal(await metric(world, 'tollgate_queued_calls'), 0);
  t.equal(await metric(world, 'tollgate_queue_wait_seconds_count'), 3);
});

test('a call that waits for tokens or requests gets in when they are back', async (t) => {
  const { world, letGo, provider, call } = await start(t);
  const { key } = await world.account({ key: { rpmLimit: 60 } });
  const calls = Array.from({ length: 62 }, (_, i) => call(key, `n${i}`));
  await provider.request(61);
  for (let i = 0; i < 62; i++) letGo();
  for (const answer of calls) t.equal((await answer).status, 200);
});

test('a call that would wait too long is refused immediately', async (t) => {
  const { world, provider, letGo, call } = await start(t, { maxQueueMs: 10_000 });
  const { key } = await world.account({ key: { rpmLimit: 1 } });
  const first = call(key, 'a');
  await provider.request(0);
  const refused = await call(key, 'b');
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers.get('retry-after')) > 10);
  t.equal(await metric(world, 'tollgate_queue_wait_seconds_count'), 0);
  t.equal(await metric(world, 'tollgate_limit_refusals_total{owner="key",limit="rpm_limit"}'), 1);
  letGo();
  await first;
});

test('a call that waited for the longest time gets 429 with its headers', async (t) => {
  const { world, provider, letGo, call } = await start(t, { maxQueueMs: 200 });
  const { key } = await world.account({ key: { maxParallelRequests: 1, rpmLimit: 1_000 } });
  const first = call(key, 'a');
  await provider.request(0);
  const refused = await Promise.all([call(key, 'b'), call(key, 'c')]);
  for (const response of refused) {
    t.equal(response.status, 429);
    t.equal(response.headers.get('x-ratelimit-limit-requests'), '1000');
    t.match(await response.text(), /max_parallel_requests of 1 call in flight/);
  }
  letGo();
  t.equal((await first).status, 200);
});

test('a key that is deactivated while its calls wait is refused as that', async (t) => {
  const { world, provider, letGo, call } = await start(t);
  const { key } = await world.account();
  const made = await world.api('POST', '/api/keys/', key, { name: 'limited' });
  const limited = (await made.json()) as { id: number; key: string };
  t.equal(
    (await world.api('PATCH', `/api/keys/${limited.id}/`, key, { max_parallel_requests: 1 })).status,
    200,
  );
  const first = call(limited.key, 'a');
  await provider.request(0);
  const waiting = [call(limited.key, 'b'), call(limited.key, 'c')];
  await queued(world, 2);
  t.equal((await world.api('DELETE', `/api/keys/${limited.id}/`, key)).status, 200);
  letGo();
  for (const answer of waiting) {
    const refused = await answer;
    t.equal(refused.status, 401);
    t.match(await refused.json(), { error: { code: 'inactive_api_key' } });
  }
  t.equal((await first).status, 200);
  t.equal(provider.requests.length, 1);
});

test('a call of a model that its key may not use does not wait', async (t) => {
  const { world, provider, letGo, call } = await start(t);
  const { key } = await world.account({ key: { maxParallelRequests: 1, allowedModels: ['flat'] } });
  const first = call(key, 'a');
  await provider.request(0);
  const waiting = call(key, 'b');
  await queued(world, 1);
  const refused = await call(key, 'c', {
    body: JSON.stringify({ model: 'tokens', messages: [{ role: 'user', content: 'hi' }] }),
  });
  t.equal(refused.status, 403);
  t.match(await refused.json(), { error: { code: 'model_not_allowed' } });
  t.equal(provider.requests.length, 1);
  letGo();
  await provider.request(1);
  letGo();
  for (const answer of [first, waiting]) t.equal((await answer).status, 200);
});

test('a client that leaves while it waits leaves nothing behind', async (t) => {
  const { world, provider, letGo, call } = await start(t);
  const { key, keyId, accountId } = await world.account({
    credits: 10,
    key: { maxParallelRequests: 1, rpmLimit: 100, tpmLimit: 100_000 },
  });
  const first = call(key, 'a');
  await provider.request(0);
  const before = await world.ledger.ledger.limitStates(accountId, keyId);
  const leaving = new AbortController();
  const gone = Array.from({ length: 20 }, (_, i) => call(key, `gone${i}`, { signal: leaving.signal }));
  const rejected = gone.map((each) => t.rejects(each, { name: 'AbortError' }));
  await queued(world, 20);
  leaving.abort();
  await Promise.all(rejected);
  await queued(world, 0);
  letGo();
  t.equal((await first).status, 200);
  const next = call(key, 'next');
  await provider.request(1);
  const { key: state } = await world.ledger.ledger.limitStates(accountId, keyId);
  t.same(state.parallel, { limit: 1, open: 1 });
  t.ok(
    (state.requests?.debt ?? 0) <= (before.key.requests?.debt ?? 0) + 60_000,
    'one request more, the next one',
  );
  letGo();
  await next;
  await world.settled();
  t.match(await world.ledger.ledger.account(accountId), { balance: 8_000_000, held: 0 });
  const ledger = await world.api('GET', '/api/account/ledger/?type=charge', key);
  t.equal(((await ledger.json()) as { entries: unknown[] }).entries.length, 2);
  t.equal(provider.requests.length, 2);
  t.equal(
    await metric(world, 'tollgate_requests_total{endpoint="/v1/chat/completions",code="client_left"}'),
    20,
  );
});

test('a gateway that stops refuses waiting calls with 503, and finishes calls in flight', async (t) => {
  const { world, provider, letGo, call } = await start(t);
  const { key } = await world.account({ key: { maxParallelRequests: 1 } });
  const first = call(key, 'a');
  await provider.request(0);
  const waiting = [call(key, 'b'), call(key, 'c')];
  await queued(world, 2);
  const closed = world.close();
  for (const answer of waiting) {
    const refused = await answer;
    t.equal(refused.status, 503);
    t.match(await refused.json(), { error: { code: 'service_unavailable', message: /shutting down/ } });
    t.match(refused.headers.get('retry-after'), /^[2-5]$/);
  }
  letGo();
  t.equal((await first).status, 200);
  await closed;
});

test('at most limits.waitingCalls calls wait', async (t) => {
  const { world, provider, letGo, call } = await start(t, { waitingCalls: 2 });
  const { key } = await world.account({ key: { maxParallelRequests: 1 } });
  const calls = [call(key, 'a')];
  await provider.request(0);
  for (const count of [1, 2]) {
    calls.push(call(key, `b${count}`));
    await queued(world, count);
  }
  t.equal((await call(key, 'c')).status, 429);
  for (const turn of [1, 2]) {
    letGo();
    await provider.request(turn);
  }
  letGo();
  for (const answer of calls) t.equal((await answer).status, 200);
});

test('a key that fills its share of the waiting calls keeps no other account from waiting', async (t) => {
  const { world, provider, letGo, call } = await start(t, { waitingCalls: 16 });
  const crowd = await world.account({ key: { maxParallelRequests: 1 } });
  const other = await world.account({ key: { maxParallelRequests: 1 }, email: 'other@example.com' });
  const calls = [call(crowd.key, 'a'), call(other.key, 'b')];
  await provider.request(1);
  for (const count of [1, 2]) {
    calls.push(call(crowd.key, `a${count}`));
    await queued(world, count);
  }
  t.equal((await call(crowd.key, 'one too many')).status, 429);
  calls.push(call(other.key, 'waits'));
  await queued(world, 3);
  for (const turn of [2, 3, 4]) {
    letGo();
    await provider.request(turn);
  }
  letGo();
  letGo();
  for (const answer of calls) t.equal((await answer).status, 200);
});

test('a full queue refuses a call by the current record', async (t) => {
  const { world, provider, letGo, call } = await start(t, { waitingCalls: 1 });
  const { key } = await world.account();
  /** A key whose one call a minute is used, one more call waits, and the queue is full. */
  const full = async () => {
    const made = await world.api('POST', '/api/keys/', key, { name: 'limited', rpm_limit: 1 });
    const { id, key: value } = (await made.json()) as { id: number; key: string };
    const seen = provider.requests.length;
    const first = call(value, 'first');
    await provider.request(seen);
    letGo();
    t.equal((await first).status, 200);
    const inLine = call(value, 'inline');
    await queued(world, 1);
    t.equal((await call(value, 'behind')).status, 429);
    return { path: `/api/keys/${id}/`, value, inLine };
  };
  const deleted = await full();
  t.equal((await world.api('DELETE', deleted.path, key)).status, 200);
  t.match(await (await call(deleted.value, 'next')).json(), { error: { code: 'inactive_api_key' } });
  t.equal((await deleted.inLine).status, 401);

  const rotated = await full();
  t.equal((await world.api('POST', `${rotated.path}rotate/`, key, {})).status, 200);
  t.match(await (await call(rotated.value, 'next')).json(), { error: { code: 'invalid_api_key' } });
  t.equal((await rotated.inLine).status, 401);

  const lifted = await full();
  const seen = provider.requests.length;
  t.equal((await world.api('PATCH', lifted.path, key, { rpm_limit: null })).status, 200);
  const next = call(lifted.value, 'next');
  await Promise.race([next, provider.request(seen + 1)]);
  letGo();
  letGo();
  t.equal((await next).status, 200);
  t.equal((await lifted.inLine).status, 200);
});

test('a call that takes no tokens does not wait behind those that wait for tokens', async (t) => {
  const { world, provider, letGo, call } = await start(t, { maxQueueMs: 600_000 });
  const limited = await world.account({ key: { tpmLimit: 10 } });
  const shared = await world.account();
  await world.limitAccount(shared.accountId, { tpmLimit: 10 });
  const made = await world.api('POST', '/api/keys/', shared.key, { name: 'another' });
  const another = ((await made.json()) as { key: string }).key;
  for (const [key, other] of [
    [limited.key, limited.key],
    [shared.key, another],
  ] as const) {
    const leaving = new AbortController();
    const seen = provider.requests.length;
    const first = call(key, 'first');
    await provider.request(seen);
    const waiting = t.rejects(call(key, 'waiting', { signal: leaving.signal }), { name: 'AbortError' });
    await queued(world, 1);
    const body = { model: 'claude', messages: [{ role: 'user', content: 'hi' }] };
    const counted = world.api('POST', '/v1/messages/count_tokens', other, body);
    let isAnswered = false;
    const answered = counted.then(() => {
      isAnswered = true;
    });
    let count = 1;
    await until('an answer, or a second call that waits', async () => {
      count = await metric(world, 'tollgate_queued_calls');
      return isAnswered || count > 1;
    });
    t.equal(count, 1);
    leaving.abort();
    await waiting;
    await answered;
    t.equal((await counted).status, 200);
    letGo();
    t.equal((await first).status, 200);
  }
});

test('a limit that is lifted lets in who waits for it', async (t) => {
  const { world, provider, letGo, call } = await start(t);
  const { key, accountId } = await world.account();
  await world.limitAccount(accountId, { rpmLimit: 2 });
  const calls = [call(key, 'a'), call(key, 'b'), call(key, 'c')];
  await provider.request(1);
  await queued(world, 1);
  await world.limitAccount(accountId, { rpmLimit: null });
  await provider.request(2);
  for (let i = 0; i < calls.length; i++) letGo();
  const answers = await Promise.all(calls);
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  t.same(
    answers.map(({ headers }) => headers.get('x-ratelimit-limit-requests')).sort(),
    ['2', '2', null],
    'the last to come in is told of no limit',
  );
});
