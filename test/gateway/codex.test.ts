import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeySettings } from '../../src/domain/key.ts';
import { type InProcessGateway, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const PROMO = 'x-codex-promo-message';
const REACHED = 'x-codex-rate-limit-reached-type';
const BODY = { model: 'tokens', input: 'Hello', max_output_tokens: 4_000 };

const call = (
  world: InProcessGateway,
  key: string,
  body: object = BODY,
  originator = 'codex_exec',
  path = '/v1/responses',
) => world.api('POST', path, key, body, { originator });

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly error: { readonly message: string } & Record<string, unknown>;
}

async function read(response: Response): Promise<Answer> {
  const { error } = (await response.json()) as Pick<Answer, 'error'>;
  return { status: response.status, headers: response.headers, error };
}

// Codex repeats a 402 six times, and shows nothing of a 429 but the text of one header.
test('a spent limit gets 429 usage_limit_reached with the end of the period', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const limit = { spendingLimit: micro(0), spendingPeriod: 'daily' } as const;
  const { key } = await world.account({ key: { ...limit, canManage: true } });
  const plain = await read(await world.api('POST', '/v1/responses', key, BODY));
  t.equal(plain.status, 402);
  const { status, headers, error } = await read(await call(world, key));
  t.equal(status, 429);
  t.match(error, { type: 'usage_limit_reached', code: 'usage_limit_reached', metadata: { balance: String } });
  t.equal(error.message, plain.error.message, 'the words are ours');
  const [, end = ''] = /The period ends at (\S+Z)/.exec(error.message) ?? [];
  t.equal(error.resets_at, Date.parse(end) / 1_000);
  t.equal(headers.get(PROMO), error.message.replace(/\.$/, ''));
  t.equal(headers.get(REACHED), null);
  t.equal(headers.get('x-should-retry'), 'false');
  t.equal(headers.get('retry-after'), null);
  t.equal(world.provider.requests.length, 0);
});

test('an account without credits says so, and a hold that is too large does not', async (t) => {
  const world = await startGatewayInProcess(t);
  const empty = await read(await call(world, (await world.account({ credits: 0 })).key));
  t.match([empty.status, empty.error.code], [429, 'usage_limit_reached']);
  t.notOk('resets_at' in empty.error);
  t.equal(empty.headers.get(REACHED), 'workspace_owner_credits_depleted');
  t.match(empty.headers.get(PROMO), /^The account has 0 credits.*[^.]$/);
  const limit: Partial<KeySettings> = {
    spendingLimit: micro(3_000_000),
    spendingPeriod: 'daily',
    canManage: true,
  };
  for (const account of [{ credits: 5 }, { credits: 90, key: limit }]) {
    const large = await read(await call(world, (await world.account(account)).key));
    t.match([large.status, large.error.code], [429, 'usage_limit_reached']);
    t.notOk('resets_at' in large.error);
    t.equal(large.headers.get(REACHED), null);
    t.match(large.headers.get(PROMO), /ower max_output_tokens to \d+.*[^.]$/);
    t.equal(large.headers.get('x-should-retry'), 'false');
  }
});

test('a forbidden model gets 404 model_not_found, and 401 and other 403 become 400, with our words', async (t) => {
  const world = await startGatewayInProcess(t);
  const keyOf = async (key: Partial<KeySettings>) => (await world.account({ key })).key;
  const cases = [
    [await keyOf({ allowedModels: ['other'] }), 403, 404, 'model_not_found'],
    [await keyOf({ allowedCategories: ['image'] }), 403, 400, 'invalid_request'],
    [await keyOf({ allowedIps: ['198.51.100.7'] }), 403, 400, 'invalid_request'],
    [await keyOf({ isActive: false }), 401, 400, 'invalid_request'],
    ['sk-tg-nobody', 401, 400, 'invalid_request'],
  ] as const;
  for (const [key, usual, status, code] of cases) {
    const plain = await read(await call(world, key, BODY, 'my_app'));
    t.equal(plain.status, usual);
    const answered = await read(await call(world, key));
    t.match([answered.status, answered.error.code], [status, code]);
    t.equal(answered.error.message, plain.error.message);
    t.equal(answered.headers.get('x-should-retry'), 'false');
    t.equal(answered.headers.get('www-authenticate'), null);
    t.equal(answered.headers.get(PROMO), null);
  }
});

test('any Codex is known by its originator, and only at its routes', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ credits: 0 });
  for (const originator of ['codex_cli_rs', 'Codex Desktop', 'CODEX_VSCODE'])
    t.equal((await call(world, key, BODY, originator)).status, 429, originator);
  t.equal((await call(world, key, BODY, 'codex_exec', '/v1/responses/compact')).status, 429);
  for (const originator of ['not-codex', 'my_codex'])
    t.equal((await call(world, key, BODY, originator)).status, 402, originator);
  const chat = { model: 'tokens', messages: [{ role: 'user', content: 'Hello' }] };
  t.equal((await call(world, key, chat, 'codex_exec', '/v1/chat/completions')).status, 402);
  t.equal((await call(world, key, { model: 'nope' })).status, 404);
  t.equal((await call(world, key, { ...BODY, max_output_tokens: -1 })).status, 400);
});

test('Codex gets 429 rate_limit_exceeded at a rate limit, and waits for Retry-After', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { rpmLimit: 1 } });
  t.equal((await call(world, key)).status, 200);
  const refused = await read(await call(world, key));
  t.match([refused.status, refused.error.code], [429, 'rate_limit_exceeded']);
  t.ok(refused.headers.get('retry-after'));
  t.equal(refused.headers.get('x-should-retry'), null);
});

test('words that a header cannot carry are no fault', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ credits: 1 });
  const tools = [{ type: 'mcp', server_label: 'sérvice \n 😀' }];
  const refused = await read(await call(world, key, { ...BODY, tools }));
  t.equal(refused.status, 429);
  t.match(refused.headers.get(PROMO), /^[\x20-\x7e]+$/);
});
