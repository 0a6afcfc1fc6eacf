import { test } from 'tap';
import { startMediaGateway } from '../helper/start/media-gateway.ts';
import { startTargetsGateway } from '../helper/start/targets-gateway.ts';

const HI = '"messages":[{"role":"user","content":"Hi","id":"1"}]';

/** Bodies as a client sends them, and as they go upstream. */
const SENT: readonly (readonly [sent: string, upstream: string])[] = [
  [`{"id":"a","model":"flat",${HI}}`, `{"model":"flat",${HI}}`],
  [`{ "id" : {"a":[1,2]} , "model":"flat", ${HI} }`, `{  "model":"flat", ${HI} }`],
  [`{"model":"flat","request_id":"request_id",${HI}}`, `{"model":"flat",${HI}}`],
  [`{"model":"flat",${HI},\n "response_id":1e2\n}`, `{"model":"flat",${HI}\n}`],
  [
    `{"id":1,\n"request_id":2,"model":"flat","response_id":"id",${HI},"user":"\\u0075"}`,
    `{\n"model":"flat",${HI},"user":"\\u0075"}`,
  ],
  [`{"model":"flat",${HI},"id":null,"request_id":null}`, `{"model":"flat",${HI}}`],
  [
    `{"id":"a","stream":true,"model":"flat",${HI}}`,
    `{"stream_options":{"include_usage":true},"stream":true,"model":"flat",${HI}}`,
  ],
];

test('a client named its answer, and with the name of another its stored answer was overwritten', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  for (const [at, [sent, upstream]] of SENT.entries()) {
    const response = await world.post(key, '/v1/chat/completions', sent);
    t.equal(response.status, 200, sent);
    await response.text();
    t.equal((await world.provider.request(at)).body.toString(), upstream);
  }
  for (const twice of ['"id":1,"id":2', '"ID":1', '"\\u0069d":1'])
    t.equal(
      (await world.post(key, '/v1/chat/completions', `{"model":"flat",${twice},${HI}}`)).status,
      400,
      twice,
    );
});

test('a name that a client gave its answer goes to no target of the call', async (t) => {
  const world = await startTargetsGateway(t);
  const { key } = await world.account();
  world.behave('a', { status: 503, body: {} });
  const sent = `{"id":"x","model":"ranked",${HI},"request_id":"y"}`;
  t.equal((await world.api('POST', '/v1/chat/completions', key, sent)).status, 200);
  for (const place of ['a', 'b'] as const) {
    const { body } = await world.providers[place].request(0);
    t.equal(body.toString(), `{"model":"ranked-${place}",${HI}}`);
  }
});

test('a member that a gateway behind obeys ran another model, or more of it, than was held for', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const bodies = {
    '/v1/chat/completions': { model: 'flat', messages: [{ role: 'user', content: 'Hi' }] },
    '/v1/responses': { model: 'flat', input: 'Hi' },
    '/v1/messages': { model: 'claude', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] },
    '/v1/messages/count_tokens': { model: 'claude', messages: [{ role: 'user', content: 'Hi' }] },
    '/v1/embeddings': { model: 'flat', input: 'Hi' },
    '/v1/moderations': { model: 'flat', input: 'Hi' },
    '/v1/images/generations': { model: 'picture', prompt: 'Hi' },
  };
  const names = [
    'extra_body',
    'EXTRA_BODY',
    'context_window_fallbacks',
    'Content_Policy_Fallbacks',
    'context_window_fallback_dict',
    'fallback_model',
    'providerOptions',
    'provideroptions',
    'litellm_params',
  ];
  for (const [path, body] of Object.entries(bodies)) {
    for (const name of names) {
      const response = await world.post(key, path, JSON.stringify({ ...body, [name]: {} }));
      t.equal(response.status, 400, `${path} ${name}`);
      const { error } = (await response.json()) as { error: { code?: string; param?: string } };
      if (!path.startsWith('/v1/messages'))
        t.match(error, { code: 'unpriced_parameter', param: name.toLowerCase() });
    }
  }
  const form = new FormData();
  for (const [name, value] of [
    ['model', 'picture'],
    ['prompt', 'x'],
    ['extra_body[model]', 'dear'],
  ] as const)
    form.append(name, value);
  t.equal((await world.post(key, '/v1/images/edits', form)).status, 400);
  t.equal(world.provider.requests.length, 0);
});
