import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { test } from 'tap';
import { startWaitingProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const CLAUDE = { model: 'claude-flat', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };

test('a call beyond rpm_limit gets 429 with a true wait, after which it passes', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account({ key: { rpmLimit: 20 } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => world.chat(key)));
  t.same(
    new Set(answers.map(({ status }) => status)),
    new Set([200]),
    'a whole minute’s calls may come at once',
  );
  // The limit refills one request in three seconds. The calls come one after the other, so that nothing comes between
  // refusal and repeat.
  let passed = answers.length;
  let refused = await world.chat(key);
  for (; refused.status === 200; refused = await world.chat(key)) passed++;
  const { error } = (await refused.json()) as { error: { message: string } };
  t.match(error, {
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    param: null,
    message: /^This key's rpm_limit of 20 requests a minute has been reached; try again in [123] s\.$/,
  });
  const { headers } = refused;
  const waitMs = Number(headers.get('retry-after-ms'));
  t.ok(Number.isInteger(waitMs) && waitMs >= 1 && waitMs <= 3_000, headers.get('retry-after-ms') ?? '');
  t.equal(headers.get('retry-after'), String(Math.ceil(waitMs / 1_000)));
  t.equal(headers.get('x-should-retry'), null);
  t.equal(headers.get('x-ratelimit-limit-requests'), '20');
  t.equal(headers.get('x-ratelimit-remaining-requests'), '0');
  await sleep(waitMs);
  t.equal((await world.chat(key)).status, 200);
  t.equal(world.provider.requests.length, passed + 1);
});

test('Anthropic’s routes answer in its shape', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { rpmLimit: 1 } });
  const post = () => world.api('POST', '/v1/messages', key, CLAUDE);
  const startedAt = performance.now();
  t.equal((await post()).status, 200);
  const refused = await post();
  const tookS = Math.ceil((performance.now() - startedAt) / 1_000);
  t.equal(refused.status, 429);
  t.match(await refused.json(), {
    type: 'error',
    error: {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: /This key's rpm_limit of 1 request a minute/,
    },
  });
  const seconds = Number(refused.headers.get('retry-after'));
  t.ok(seconds >= 60 - tookS && seconds <= 60, `${seconds} s, ${tookS} s after the first call`);
  t.ok(Number(refused.headers.get('retry-after-ms')) <= seconds * 1_000);
});

test('max_parallel_requests: the wait is a hint; the account’s limit is named as that', async (t) => {
  const { provider, letGo } = await startWaitingProvider(t);
  const world = await startGatewayInProcess(t, { provider });
  const { key, accountId } = await world.account();
  await world.limitAccount(accountId, { maxParallelRequests: 1 });
  const first = world.chat(key, { messages: [{ role: 'user', content: 'wait' }] });
  await provider.request(0);
  const refused = await world.chat(key);
  t.equal(refused.status, 429);
  const { error } = (await refused.json()) as { error: { message: string } };
  t.equal(
    error.message,
    "This account's max_parallel_requests of 1 call in flight has been reached; try again when one of them ends.",
  );
  t.equal(refused.headers.get('retry-after-ms'), '1000');
  t.equal(refused.headers.get('retry-after'), '1');
  letGo();
  t.equal((await first).status, 200);
  await world.settled();
  t.equal((await world.chat(key)).status, 200);
});

test('a call that also lacks credits is refused by the limit first, and uses up nothing', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ credits: 1, key: { rpmLimit: 2 } });
  t.equal((await world.chat(key)).status, 200);
  await world.settled();
  for (let i = 0; i < 5; i++) t.equal((await world.chat(key)).status, 402, 'a 402 takes no request');
});

test('the official SDK waits for Retry-After, and its call passes', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { rpmLimit: 20 } });
  await Promise.all(Array.from({ length: 20 }, () => world.chat(key)));
  const statuses: number[] = [];
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${world.url}/v1`,
    maxRetries: 5,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      statuses.push(response.status);
      return response;
    },
  });
  while (!statuses.includes(429)) {
    await client.chat.completions.create({ model: 'flat', messages: [{ role: 'user', content: 'Hi' }] });
  }
  t.equal(statuses.at(-1), 200);
  t.same(
    statuses.filter((status) => status !== 200),
    [429],
    'it waited long enough at once',
  );
});
