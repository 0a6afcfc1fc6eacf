import t from 'tap';
import type { CallPageView, CallView } from '../../../src/api/calls/call-view.ts';
import { newKeyValue } from '../../../src/domain/key-value.ts';
import { until } from '../../helper/check/until.ts';
import { apiOf } from '../../helper/clients/api.ts';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const LONGEST = 300;
const LONG = 'x'.repeat(15_000);

let error: unknown = {};
const world = await startGatewayInProcess(t, {
  behave: ({ body }) => (body.includes('"user":"odd"') ? { status: 400, body: { error } } : undefined),
});

async function onlyCall(key: string): Promise<CallView> {
  const api = apiOf(world, key);
  return await until('the call', async () => {
    const { body } = await api.get<CallPageView>('/api/account/calls/');
    return body.calls[0];
  });
}

/** A provider's error as it is recorded. */
async function recordedError(given: unknown): Promise<CallView> {
  error = given;
  const { key } = await world.account({ credits: 100 });
  await (await world.chat(key, { user: 'odd' })).arrayBuffer();
  return await onlyCall(key);
}

t.test('16 KB in a header or field of a refused call take 2 KB at most', async (t) => {
  const refused = [
    { key: { allowedOrigins: ['https://app.example.com'] }, headers: { origin: `https://${LONG}` } },
    { key: { allowedIps: ['198.51.100.0/24'] }, headers: { 'user-agent': LONG } },
    { body: { model: LONG }, headers: { 'user-agent': LONG } },
    { body: { model: 'flat', n: LONG } },
    { body: { model: 'flat', [LONG]: 1, max_tokens: LONG } },
    { body: { model: 'flat', service_tier: LONG } },
    { body: { model: 'flat', tools: [{ type: LONG }] } },
    { body: { model: 'flat', messages: [{ role: LONG, content: [{ type: LONG }] }] } },
    { body: { model: 'flat', previous_response_id: LONG } },
  ];
  for (const { key, body = {}, headers = {} } of refused) {
    const caller = await world.account({ credits: 0, ...(key && { key }) });
    const answer = await world.chat(caller.key, body, headers);
    t.not(answer.status, 200);
    await answer.arrayBuffer();
    const call = await until('the record', async () => {
      const [found] = await world.book.calls({ accountId: caller.accountId, limit: 1 });
      return found;
    });
    t.ok(
      JSON.stringify(call).length <= 2_048,
      Object.keys({ ...headers, ...body })
        .join(' ')
        .slice(0, 60),
    );
  }
});

t.test('a key value that was sent as a model is masked in the record, in its place', async (t) => {
  const { key } = await world.account();
  const { value } = newKeyValue('sk-tg-');
  await (await world.chat(key, { model: `my ${value}` }, { 'user-agent': `app ${key}` })).arrayBuffer();
  t.match(await onlyCall(key), { model: 'my sk-tg-…', user_agent: 'app sk-tg-…' });
});

t.test('so is one that a provider repeats', async (t) => {
  const { value } = newKeyValue('sk-tg-');
  const call = await recordedError({ message: `wrong key ${value}.`, type: value, param: value });
  t.match(call, { message: 'wrong key sk-tg-….', code: 'sk-tg-…', param: 'sk-tg-…' });
});

t.test(
  "a provider's error with the code null has no code, and one without a code has its type",
  async (t) => {
    t.equal((await recordedError({ message: 'no', type: 'server_error', code: null })).code, null);
    t.equal((await recordedError({ message: 'no', type: 'api_error' })).code, 'api_error');
  },
);

t.test('a recorded message is cut between characters, not within one', async (t) => {
  const { message } = await recordedError({ message: `a${'🔑'.repeat(400)}` });
  t.equal(message, `a${'🔑'.repeat(LONGEST - 1)}`);
});
