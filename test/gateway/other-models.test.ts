import { test } from 'tap';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const ADVISOR = { type: 'advisor_20260301', name: 'advisor', model: 'claude-fable-5-1' };
const HI = [{ role: 'user', content: 'Hello' }];
const message = { model: 'claude', messages: HI, max_tokens: 10 };

/** Requests that ran another model than the one that the key may use and that was charged. */
const CALLS: readonly (readonly [name: string, path: string, body: object, param: string])[] = [
  ['an advisor', '/v1/messages', { ...message, tools: [ADVISOR] }, 'tools'],
  [
    'an advisor that a message adds',
    '/v1/messages',
    {
      ...message,
      messages: [
        ...HI,
        {
          role: 'system',
          content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition: ADVISOR } }],
        },
      ],
    },
    'messages',
  ],
  ['fallbacks', '/v1/messages', { ...message, fallbacks: [{ model: 'claude-fable-5-1' }] }, 'fallbacks'],
  [
    'a model that draws',
    '/v1/responses',
    { model: 'tokens', input: 'a', tools: [{ type: 'image_generation', model: 'gpt-image-2' }] },
    'tools',
  ],
  [
    'a model that draws, hidden in the input',
    '/v1/responses',
    {
      model: 'tokens',
      input: [
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'image_generation', model: 'x' }] },
      ],
    },
    'input',
  ],
  ['models', '/v1/chat/completions', { model: 'tokens', messages: HI, models: ['flat'] }, 'models'],
  [
    'the author of an SVG',
    '/v1/images/generations',
    { model: 'picture', prompt: 'a', output_format: 'svg', svg: { model: 'gpt-6-astra' } },
    'svg',
  ],
];

test('an unchecked model never runs', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { allowedModels: ['claude', 'tokens', 'picture'] } });
  for (const [name, path, body, param] of CALLS) {
    const response = await world.api('POST', path, key, body);
    t.equal(response.status, 400, name);
    const { error } = (await response.json()) as { error: Record<string, string> };
    t.match(error, { code: 'invalid_field', param, message: /other than the one in the request/ }, name);
  }
  t.equal(world.provider.requests.length, 0);
});
