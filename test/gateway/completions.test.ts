import { test } from 'tap';
import { tokensIn } from '../../src/metering/text-tokens.ts';
import {
  type InProcessGateway,
  lastCharge,
  startGatewayInProcess,
} from '../helper/start/gateway-in-process.ts';

const post = (world: InProcessGateway, key: string, path: string, body: object) =>
  world.api('POST', path, key, { model: 'tokens', ...body });

test('a completions stream is asked for its usage, and shows no trace of it', async (t) => {
  const world = await startGatewayInProcess(t, {
    behave: () => ({ text: 'one two', usage: { prompt_tokens: 100, completion_tokens: 10 } }),
  });
  const { key, accountId } = await world.account();
  const body = { prompt: 'Hi', max_tokens: 50, stream: true };
  const text = await (await post(world, key, '/v1/completions', body)).text();
  t.notMatch(text, 'usage');
  t.ok(text.endsWith('data: [DONE]\n\n'));
  t.match((await world.provider.request(0)).body.toString(), '"include_usage":true');
  t.match(await lastCharge(world, accountId), { credits: -120_000, outcome: 'complete', estimated: false });
});

test('a completion without usage is estimated, tokens that were sent as numbers counted as such', async (t) => {
  const text = 'word word word';
  const world = await startGatewayInProcess(t, { behave: () => ({ usage: false, text }) });
  const { key, accountId } = await world.account();
  await (await post(world, key, '/v1/completions', { prompt: [1, 2, 3, 4], max_tokens: 50 })).text();
  t.match(await lastCharge(world, accountId), {
    usage: { input: 4, output: tokensIn(text) },
    estimated: true,
  });
});

test('an error within a chat or completions stream without output costs nothing', async (t) => {
  const body = ['data: {"error":{"message":"Overloaded","type":"server_error"}}\n\n', 'data: [DONE]\n\n'];
  const world = await startGatewayInProcess(t, {
    behave: () => ({ headers: { 'content-type': 'text/event-stream' }, body }),
  });
  const { key, accountId } = await world.account();
  const stream = { prompt: 'Hi', max_tokens: 50, stream: true };
  const answer = await post(world, key, '/v1/completions', stream);
  t.match(await answer.json(), { error: { code: 'upstream_unavailable', message: 'Overloaded' } });
  t.match(await lastCharge(world, accountId), { credits: 0, outcome: 'upstream_error', status: 502 });
});

test('embeddings over 1 MiB are charged by their usage', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key, accountId } = await world.account();
  const input = Array.from({ length: 40 }, () => 'four');
  const answer = await post(world, key, '/v1/embeddings', { input, dimensions: 4_096 });
  t.ok((await answer.text()).length > 1_048_576);
  t.match(await lastCharge(world, accountId), {
    credits: -40_000,
    usage: { input: 40 },
    estimated: false,
  });
});

test('moderations cost only the price of a request', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key, accountId } = await world.account();
  await (await post(world, key, '/v1/moderations', { input: 'x'.repeat(10_000) })).text();
  t.match(await lastCharge(world, accountId), { credits: 0, estimated: false });
  const flat = await post(world, key, '/v1/moderations', { model: 'flat', input: 'x' });
  t.equal(flat.headers.get('x-tollgate-charge'), '1.000000');
});
