import { test } from 'tap';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const TEXT = { model: 'tokens', input: 'x', prompt: 'x' };
const MESSAGE = { model: 'claude', messages: [{ role: 'user', content: 'x' }] };

test('a call whose bounds cost more than any account can have gets 402, not 500', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const [path, body] of [
    ['/v1/chat/completions', { model: 'tokens', messages: [], max_tokens: MOST, n: MOST }],
    ['/v1/completions', { ...TEXT, max_tokens: MOST }],
    ['/v1/completions', { ...TEXT, max_tokens: 1, best_of: MOST }],
    ['/v1/responses', { ...TEXT, max_output_tokens: MOST }],
    ['/v1/responses', { ...TEXT, max_tool_calls: MOST, tools: [{ type: 'mcp' }] }],
    ['/v1/messages', { ...MESSAGE, max_tokens: MOST }],
    ['/v1/messages', { ...MESSAGE, max_tokens: 1, thinking: { budget_tokens: MOST } }],
    ['/v1/images/generations', { model: 'picture', prompt: 'x', n: MOST }],
  ] as const) {
    const response = await world.api('POST', path, key, body);
    t.equal(response.status, 402, `${path} ${JSON.stringify(body)}`);
    await response.body?.cancel();
  }
  t.equal(world.provider.requests.length, 0);
});
