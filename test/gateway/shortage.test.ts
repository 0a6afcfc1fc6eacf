import t, { type Test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { Shortfall } from '../../src/domain/errors.ts';
import { type InProcessGateway, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly message: string;
  readonly metadata: Shortfall;
}

async function refused(response: Response): Promise<Refused> {
  const { error } = (await response.json()) as { error: Omit<Refused, 'status'> };
  return { status: response.status, ...error };
}

const HI = [{ role: 'user', content: 'Hello' }];
const ask = (world: InProcessGateway, key: string, body: object = {}) =>
  world.chat(key, { model: 'long', max_tokens: 4_000, ...body });

/** A gateway whose model `long` has the prices of `tokens`, and answers of 4,000 tokens. */
async function start(t: Test): Promise<InProcessGateway> {
  const world = await startGatewayInProcess(t);
  const tokens = world.config.catalog.get('tokens');
  if (!tokens) throw new Error('no model');
  const long = { ...tokens, slug: 'long', maxOutputTokens: 4_000 };
  await world.replaceCatalog({
    ...world.config,
    catalog: new Map([...world.config.catalog, ['long', long]]),
  });
  return world;
}

t.test('a 402 has the balance, the hold, and the maximum that would have fit', async (t) => {
  const world = await start(t);
  const { key } = await world.account({ credits: 5 });
  const { metadata, ...error } = await refused(await ask(world, key));
  t.match(error, { status: 402, code: 'insufficient_credits', param: null });
  t.match(metadata, { balance: '5.000000', held: '0.000000', hold: /^8\.\d{6}$/, estimate: /^8\.0\d{5}$/ });
  t.ok(Number(metadata.estimate) < Number(metadata.hold));
  const most = metadata.affordable_max_tokens ?? 0;
  t.ok(most > 2_000 && most < 2_500, String(most));
  t.match(error.message, new RegExp(`8 of it for the answer.*lower max_tokens to ${most}\\.`));
  const beyond = await ask(world, key, { max_tokens: most + 1 });
  t.equal(beyond.status, 402, 'one token more does not fit');
  t.equal((await refused(beyond)).metadata.affordable_max_tokens, most);
  t.equal((await ask(world, key, { max_tokens: most })).status, 200, 'and that much does');
});

t.test("no maximum above the model's own is advised", async (t) => {
  const world = await start(t);
  const { key } = await world.account({ credits: 100 });
  const { message, metadata } = await refused(await ask(world, key, { max_tokens: 30_000_000 }));
  t.equal(metadata.affordable_max_tokens, 4_000);
  t.match(message, /lower max_tokens to 4000,/);
});

t.test(
  'without a maximum in the request, the message names the held default and a value that fits',
  async (t) => {
    const world = await start(t);
    const { key } = await world.account({ credits: 1 });
    const { message, metadata } = await refused(await world.chat(key, { model: 'tokens' }));
    t.match(message, /as no max_completion_tokens is sent\).*lower max_completion_tokens to \d+/);
    const most = metadata.affordable_max_tokens;
    const sent = { model: 'tokens', max_completion_tokens: most };
    t.equal((await world.chat(key, sent)).status, 200, `${most} with its field`);
  },
);

t.test(
  'lowering the maximum cannot help where the input alone is too much, or tokens are not charged',
  async (t) => {
    const world = await start(t);
    const { key } = await world.account({ credits: 0.01 });
    const long = await refused(
      await ask(world, key, { messages: [{ role: 'user', content: 'a'.repeat(9_000) }] }),
    );
    t.equal(long.metadata.affordable_max_tokens, null);
    const flat = await refused(await world.chat(key));
    t.same(flat.metadata, {
      balance: '0.010000',
      held: '0.000000',
      hold: '1.000000',
      estimate: '1.000000',
      affordable_max_tokens: null,
    });
    t.notMatch(flat.message, /lower/);
  },
);

t.test('tools that the provider runs are named where they are most of the hold', async (t) => {
  const world = await start(t);
  const { key } = await world.account({ credits: 20 });
  const body = { model: 'claude', messages: HI, max_tokens: 10, tools: [{ type: 'web_fetch_20260318' }] };
  const { message } = await refused(await world.api('POST', '/v1/messages', key, body));
  t.match(
    message,
    /\(37\.5 of it for provider-run tools\).*leave web_fetch_20260318 out, or send a lower max_uses/,
  );
  const mcp = { model: 'tokens', input: 'a', tools: [{ type: 'mcp', server_label: 's' }] };
  const { message: words } = await refused(await world.api('POST', '/v1/responses', key, mcp));
  t.match(words, /leave mcp out, or send a lower max_tool_calls/);
  const fewer = { ...mcp, max_output_tokens: 10, max_tool_calls: 0 };
  t.equal((await world.api('POST', '/v1/responses', key, fewer)).status, 200);
});

t.test('an answer of Anthropic’s routes has code, param and metadata as well', async (t) => {
  const world = await start(t);
  const { key } = await world.account({ credits: 1 });
  const body = { model: 'claude', messages: HI, max_tokens: 4_000 };
  const response = await world.api('POST', '/v1/messages', key, body);
  const answer = (await response.json()) as { type: string; error: Record<string, unknown> };
  t.match(answer, {
    type: 'error',
    error: { type: 'billing_error', code: 'insufficient_credits', param: null },
  });
  t.match(answer.error.metadata, { balance: '1.000000', held: '0.000000', affordable_max_tokens: Number });
});

t.test('a refusal by a spending limit has the account’s balance, and a maximum that fits both', async (t) => {
  const world = await start(t);
  const { key } = await world.account({
    credits: 7,
    key: { spendingLimit: micro(3_000_000), spendingPeriod: 'daily', canManage: true },
  });
  const { metadata, code, message } = await refused(await ask(world, key));
  t.equal(code, 'spending_limit_exceeded');
  t.match(message, /daily spending limit of this key is 3 credits.*could cost 8\.\d\d .*The period ends at/);
  t.match(metadata, { balance: '7.000000', held: '0.000000' });
  const most = metadata.affordable_max_tokens ?? 0;
  t.ok(most > 1_000 && most < 1_500, String(most));
  t.equal((await ask(world, key, { max_tokens: most })).status, 200);
  t.equal((await ask(world, key, { max_tokens: 4_000 })).status, 402);
});

t.test('a key that cannot manage sees no balance', async (t) => {
  const world = await start(t);
  const limit = { spendingLimit: micro(3_000_000), spendingPeriod: 'daily', canManage: false } as const;
  for (const key of [{ canManage: false }, limit]) {
    const account = await world.account({ credits: 2, key });
    const { metadata, message } = await refused(await ask(world, account.key));
    t.match(metadata, { balance: null, held: null, hold: String, estimate: String });
    t.notMatch(message, /has 2 credits|balance/);
    t.ok(metadata.affordable_max_tokens);
  }
});

t.test('an overdraft lets the hold go beyond the balance, and the estimate not', async (t) => {
  const world = await start(t);
  const owner = await world.account({ credits: 5, overdraft: 20 });
  const open = { max_tokens: 9_000, messages: HI };
  const { metadata, message } = await refused(await ask(world, owner.key, open));
  t.match(message, /5 credits and an overdraft of 20,/);
  const most = metadata.affordable_max_tokens ?? 0;
  t.ok(most > 2_000 && most < 2_500, `${most}: its estimate is within the balance`);
  t.equal((await ask(world, owner.key, { ...open, max_tokens: most })).status, 200);
});

// opencode repeats a call if 429, 500, 502, 503, 504 or 524 occurs within any number of the message or body.
t.test(
  'amounts in a message have no zeros at the end, and above 1 credit at most two decimals',
  async (t) => {
    const world = await start(t);
    const rich = await world.account({ credits: 5.504_29 });
    const { message, metadata } = await refused(await ask(world, rich.key));
    t.match(
      message,
      /^The account has 5\.51 credits, of which 0 are held by calls in flight; this call could cost 8\.\d\d /,
    );
    t.equal(metadata.balance, '5.504290', 'exact figures are in the metadata');
    const one = await world.account({ credits: 1 });
    t.match((await refused(await ask(world, one.key))).message, /^The account has 1 credit, of/);
    const poor = await world.account({ credits: 0.000_5 });
    t.match((await refused(await ask(world, poor.key))).message, /^The account has 0\.0005 credits,/);
  },
);

t.test('where only the hold is too large, the message names the overdraft', async (t) => {
  const world = await start(t);
  const limit = { spendingLimit: micro(9_000_000), spendingPeriod: 'daily', canManage: true } as const;
  const large = { max_tokens: 9_000, messages: HI };
  const messageFor = async (account: Parameters<InProcessGateway['account']>[0]) =>
    (await refused(await ask(world, (await world.account(account)).key, large))).message;
  t.match(
    await messageFor({ credits: 9 }),
    /Top up the account, or lower .*, or have the operator grant an overdraft\.$/,
  );
  t.match(
    await messageFor({ credits: 9, overdraft: 1 }),
    /, or have the operator grant a larger overdraft\.$/,
  );
  t.match(await messageFor({ credits: 9, key: { canManage: false } }), /grant an overdraft\.$/);
  t.match(
    await messageFor({ credits: 90, key: limit }),
    /to stay below it, or have the operator grant an overdraft\.$/,
  );
  const wide = { period: 'total', credits: micro(80_000_000) } as const;
  t.match(
    await messageFor({ credits: 90, key: { ...limit, spendingLimits: [wide] } }),
    /to stay below all limits, or have/,
  );
  t.notMatch(await messageFor({ credits: 5 }), /overdraft/, 'the estimate does not fit');
  const low = { ...limit, spendingLimit: micro(5_000_000) };
  t.notMatch(await messageFor({ credits: 90, key: low }), /overdraft/);
});
