import OpenAI from 'openai';
import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

test('the official OpenAI SDK: chat, stream, models', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1` });
  const messages = [{ role: 'user' as const, content: 'Say hello' }];

  const answer = await client.chat.completions.create({ model: 'flat', messages });
  t.match(answer.choices[0]?.message.content, 'Say hello');
  t.ok((answer.usage?.total_tokens ?? 0) > 0);

  const stream = await client.chat.completions.create({ model: 'flat', messages, stream: true });
  let text = '';
  for await (const chunk of stream) {
    t.notOk(chunk.usage, 'no usage that was not asked for');
    text += chunk.choices[0]?.delta.content ?? '';
  }
  t.equal(text, answer.choices[0]?.message.content);

  const withUsage = await client.chat.completions.create({
    model: 'flat',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let total = 0;
  for await (const chunk of withUsage) total += chunk.usage?.total_tokens ?? 0;
  t.equal(total, answer.usage?.total_tokens);

  const models = await client.models.list();
  t.ok(models.data.some(({ id }) => id === 'flat'));
});

test('the SDK sees typed errors, and retries none of our refusals', async (t) => {
  const { url, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await account({ key: { spendingLimit: micro(1) } });
  let sent = 0;
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${url}/v1`,
    fetch: (input, init) => {
      sent++;
      return fetch(input, init);
    },
  });
  const call = (model: string) => client.chat.completions.create({ model, messages: [] });
  await t.rejects(call('flat'), { status: 402, code: 'spending_limit_exceeded' });
  await t.rejects(call('nothing'), { status: 404, code: 'model_not_found' });
  await t.rejects(client.withOptions({ apiKey: 'sk-tg-wrong' }).models.list(), {
    status: 401,
    code: 'invalid_api_key',
  });
  t.equal(sent, 3);
  t.equal(provider.requests.length, 0);
});
