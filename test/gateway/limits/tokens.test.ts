import { test } from 'tap';
import { remaining } from '../../../src/domain/call-limits.ts';
import { limitedTokens } from '../../../src/domain/units.ts';
import {
  type InProcessGateway,
  startGatewayInProcess,
  type TestAccount,
} from '../../helper/start/gateway-in-process.ts';

const USED = { prompt_tokens: 300, completion_tokens: 200, prompt_tokens_details: { cached_tokens: 100 } };
const ANSWER = { id: 'x', object: 'chat.completion', choices: [], usage: USED };
/** More than the estimate of a call here, so that the limit refills little within a test. */
const LIMIT = 6_000;

/** The tokens of the key's limit that are used now. A bucket of 6,000 a minute refills one in 10 ms. */
async function used({ ledger }: InProcessGateway, { accountId, keyId }: TestAccount): Promise<number> {
  const { key } = await ledger.ledger.limitStates(accountId, keyId);
  if (!key.tokens) throw new Error('the key has no limit of tokens');
  return key.tokens.limit - remaining(key.tokens);
}

test('a call takes its estimate, later corrected to its uncached usage', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const world = await startGatewayInProcess(t, {
    behave: async () => {
      arrived.resolve();
      await answer.promise;
      return { body: ANSWER };
    },
  });
  const account = await world.account({ credits: 100_000, key: { tpmLimit: LIMIT } });
  const call = world.chat(account.key, { model: 'tokens', max_tokens: 4_000 });
  await arrived.promise;
  const taken = await used(world, account);
  t.ok(taken > 2_000 && taken <= 4_100, `${taken} of the estimate in flight`);
  answer.resolve();
  const response = await call;
  t.match(response.headers.get('x-ratelimit-remaining-tokens'), /^1[89]\d\d$/);
  await response.text();
  await world.settled();
  const left = await used(world, account);
  t.ok(left <= 400, `${left} of the 400 tokens that were not cached`);
});

test('a call that is charged nothing used no tokens, and its request stays counted', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => ({ status: 500, body: {} }) });
  const account = await world.account({ credits: 100_000, key: { tpmLimit: LIMIT, rpmLimit: 2 } });
  const statuses = [];
  for (let i = 0; i < 3; i++) {
    statuses.push((await world.chat(account.key, { model: 'tokens', max_tokens: 4_000 })).status);
    await world.settled();
    t.equal(await used(world, account), 0);
  }
  t.same(statuses, [500, 500, 429]);
});

for (const owner of ['key', 'account'] as const) {
  test(`a call that used more than the limit of its ${owner} takes the bucket below 0, and the wait is the longer`, async (t) => {
    const body = { ...ANSWER, usage: { prompt_tokens: 2_000, completion_tokens: 1_000 } };
    const world = await startGatewayInProcess(t, { behave: () => ({ body }) });
    const limit = { tpmLimit: 1_000 };
    const account = await world.account({ credits: 100_000, ...(owner === 'key' && { key: limit }) });
    if (owner === 'account') await world.limitAccount(account.accountId, limit);
    const call = () => world.chat(account.key, { model: 'tokens', max_tokens: 5_000 });
    t.equal((await call()).status, 200, 'a call larger than its limit is possible');
    await world.settled();
    const refused = await call();
    t.equal(refused.status, 429);
    t.equal(refused.headers.get('x-ratelimit-remaining-tokens'), '0');
    t.match(refused.headers.get('x-ratelimit-reset-tokens'), /^(?:2m\d+|3m0)s$/);
    const waitS = Number(refused.headers.get('retry-after'));
    t.ok(waitS > 150 && waitS <= 180, `${waitS} s`);
    const { error } = (await refused.json()) as { error: { message: string } };
    const why = 'tpm_limit of 1000 tokens a minute leaves too few for this call; try again in 1\\d\\d s';
    t.match(error.message, new RegExp(`^This ${owner}'s ${why}\\.$`));
  });
}

test('tokens count at any price, and pictures only if the provider reports them', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const account = await world.account({ key: { tpmLimit: 100 } });
  const before = await world.chat(account.key);
  t.equal(before.headers.get('x-ratelimit-remaining-tokens'), '0', 'a price per request');
  await before.text();
  await world.settled();
  const picture = await world.account({ key: { tpmLimit: 100 } });
  const made = await world.api('POST', '/v1/images/generations', picture.key, {
    model: 'picture',
    prompt: 'x',
  });
  t.equal(made.status, 200);
  t.equal(made.headers.get('x-ratelimit-remaining-tokens'), '100');
});

test('tokens that count: input, cache writes and output of all kinds, but no cached input', (t) => {
  const usage = {
    input: 1,
    cachedInput: 1_000,
    cacheWrite: 2,
    cacheWrite1h: 4,
    inputAudio: 8,
    cachedInputAudio: 1_000,
    inputImage: 16,
    cachedInputImage: 1_000,
    output: 32,
    outputAudio: 64,
    outputImage: 128,
    images: 1_000,
    characters: 1_000,
    webSearches: 1_000,
  };
  t.equal(limitedTokens(usage), 255);
  t.end();
});
