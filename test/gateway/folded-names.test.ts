import { test } from 'tap';
import { foldName } from '../../src/domain/errors.ts';
import { startMediaGateway } from '../helper/start/media-gateway.ts';

test('names fold as the widest reader folds them', (t) => {
  for (const [name, folded] of [
    ['max_tokens', 'max_tokens'],
    ['MAX_Tokens', 'max_tokens'],
    ['max_token\u017f', 'max_tokens'],
    ['max_to\u212aens', 'max_tokens'],
    ['t\u0130er', 'tier'],
    ['t\u0131er', 'tier'],
    ['in\ufb06ructions', 'instructions'],
    ['me\u00dfages', 'messages'],
    ['größe', 'grösse'],
    ['model\u0000', 'model\u0000'],
  ] as const) {
    t.equal(foldName(name), folded, JSON.stringify(name));
  }
  t.end();
});

/** A Go upstream reads each of these names as the one that the gateway checks. */
const JSON_BODIES: readonly (readonly [path: string, body: string])[] = [
  ['/v1/chat/completions', '{"model":"tokens","messages":[],"max_tokens":1,"max_token\u017f":100000}'],
  ['/v1/chat/completions', '{"model":"tokens","messages":[],"max_token\\u017f":100000}'],
  ['/v1/chat/completions', '{"model":"tokens","messages":[],"max_to\u212aens":100000}'],
  ['/v1/chat/completions', '{"model":"tokens","messages":[],"\u017ftream":true}'],
  ['/v1/chat/completions', '{"model":"tokens","messages":[],"stream":true,"\u017ftream_options":{}}'],
  [
    '/v1/chat/completions',
    '{"model":"tokens","messages":[],"stream":true,"stream_options":{"include_usage":true,"include_u\u017fage":false}}',
  ],
  [
    '/v1/chat/completions',
    '{"model":"tokens","messages":[],"stream":true,"stream_options":{"include_u\\u017fage":false}}',
  ],
  ['/v1/responses', '{"model":"tokens","input":"a","tools":[{"type":"function","Type":"web_search"}]}'],
  ['/v1/responses', '{"model":"tokens","input":"a","reasoning":{"Mode":"pro"}}'],
  [
    '/v1/responses',
    '{"model":"tokens","input":[{"role":"user","content":[{"type":"input_image","Image_Url":"x"}]}]}',
  ],
  ['/v1/responses', '{"model":"tokens","input":"a","tools":[{"type":"image_generation","Quality":"high"}]}'],
  [
    '/v1/messages',
    '{"model":"claude","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image","Source":{}}]}]}',
  ],
  [
    '/v1/messages',
    '{"model":"claude","messages":[],"max_tokens":1,"tools":[{"TYPE":"web_search_20250305"}]}',
  ],
  [
    '/v1/messages',
    '{"model":"claude","messages":[],"max_tokens":1,"thinking":{"type":"enabled","budget_to\u212aens":9000}}',
  ],
];

test('a name that differs from a checked one by case folding only is refused', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  for (const [path, body] of JSON_BODIES) {
    const response = await world.post(key, path, body);
    t.equal(response.status, 400, body);
    t.match(await response.text(), /can be read as|more than once/, body);
  }
  for (const name of ['mode\u0130', 'N', '\u212anot', 'promp\u0074']) {
    const form = new FormData();
    form.append('model', 'picture');
    form.append(name, '2');
    const status = (await world.post(key, '/v1/images/edits', form)).status;
    // All others but `N` resemble no checked name, or are one.
    t.equal(status, name === 'N' ? 400 : 200, name);
  }
  const longs = new FormData();
  longs.append('model', 'picture');
  longs.append('\u017ftream', 'true');
  t.equal((await world.post(key, '/v1/images/edits', longs)).status, 400, 'a form');
  t.equal(world.provider.requests.length, 3);
});

test('names in capitals within arguments of a tool are free', async (t) => {
  const world = await startMediaGateway(t, () => ({
    body: { usage: { prompt_tokens: 1, completion_tokens: 1 } },
  }));
  const { key } = await world.account();
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { properties: { Type: { type: 'string' } } } } },
  ];
  const response = await world.post(
    key,
    '/v1/chat/completions',
    JSON.stringify({
      model: 'tokens',
      messages: [{ role: 'user', content: 'a', größe: 1 }],
      tools,
      größe: 1,
    }),
  );
  t.equal(response.status, 200);
});

test('a name in another case that would be billed is refused wherever a message has it', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const definition = { Type: 'web_search_20250305', name: 'web_search' };
  const hour = { type: 'ephemeral', TTL: '1h' };
  for (const part of [
    { type: 'tool_addition', tool: { type: 'tool_definition', definition } },
    { type: 'tool_addition', tool: { type: 'tool_definition', Definition: { type: 'web_search_20250305' } } },
    { type: 'text', text: 'a', Cache_Control: { type: 'ephemeral', ttl: '1h' } },
    { type: 'text', text: 'a', cache_control: hour },
  ]) {
    const body = { model: 'claude', max_tokens: 1, messages: [{ role: 'user', content: [part] }] };
    const response = await world.post(key, '/v1/messages', JSON.stringify(body));
    t.equal(response.status, 400);
    t.match(await response.json(), { error: { code: 'invalid_json' } }, JSON.stringify(part));
  }
  t.equal(world.provider.requests.length, 0);
});
