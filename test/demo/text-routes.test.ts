import { test } from 'tap';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';

const ROUTES = [
  ['/v1/completions', { prompt: 'Hello' }],
  ['/v1/responses', { input: 'Hello' }],
  ['/v1/messages', { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }],
  ['/v1/embeddings', { input: 'Hello' }],
  ['/v1/moderations', { input: 'Hello' }],
  ['/v1/messages/count_tokens', { messages: [{ role: 'user', content: 'Hello' }] }],
] as const;

for (const [path, body] of ROUTES) {
  test(`${path} answers the same to the same request, streamed or not`, async (t) => {
    const { url, close } = await startScriptedProvider();
    t.teardown(close);
    const ask = async (more: object = {}) => {
      const sent = JSON.stringify({ model: 'm', ...body, ...more });
      const answer = await (await fetch(`${url}${path}`, { method: 'POST', body: sent })).text();
      // Stored objects have new ids.
      return answer.replace(/_[0-9a-f]{32}/g, '');
    };
    const first = await ask();
    t.equal(await ask(), first);
    t.equal(await ask({ stream: true }), await ask({ stream: true }));
    t.notMatch(first, '"error":{');
  });
}

test('an answer is cut at its maximum, in each format', async (t) => {
  const { url, close } = await startScriptedProvider({ behave: () => ({ text: 'a long answer' }) });
  t.teardown(close);
  const ask = async (path: string, body: object) =>
    (await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) })).json();
  t.match(await ask('/v1/completions', { prompt: 'x', max_tokens: 1 }), {
    choices: [{ text: 'a lo', finish_reason: 'length' }],
  });
  t.match(await ask('/v1/responses', { input: 'x', max_output_tokens: 1 }), {
    status: 'incomplete',
    usage: { output_tokens: 1 },
  });
  t.match(await ask('/v1/messages', { messages: [], max_tokens: 1 }), { stop_reason: 'max_tokens' });
});
