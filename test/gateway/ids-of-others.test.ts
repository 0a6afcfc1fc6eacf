import { test } from 'tap';
import { PATH as VIDEOS } from '../helper/clients/films.ts';
import { startGatewayInProcess, UNPRICED_PASSES } from '../helper/start/gateway-in-process.ts';
import { startMediaGateway } from '../helper/start/media-gateway.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];
const SSE = { 'content-type': 'text/event-stream' };

test('an id of somebody else goes upstream at no endpoint', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const file = { type: 'file', file: { file_id: 'file-1' } };
  const source = { type: 'file', file_id: 'file_1' };
  const skill = { container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } };
  const ask = async (path: string, body: object, param: string) => {
    const response = await world.post(key, path, JSON.stringify(body));
    t.equal(response.status, 404, `${path} ${param}`);
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    t.match(error, { type: 'not_found_error', message: /^This account has no "/ });
    if ('code' in error) t.match(error, { code: 'object_not_found', param });
  };
  await ask(
    '/v1/chat/completions',
    { model: 'flat', messages: [{ role: 'user', content: [file] }] },
    'file_id',
  );
  await ask('/v1/completions', { model: 'flat', prompt: 'Hello', document_ids: ['doc_1'] }, 'document_ids');
  await ask('/v1/embeddings', { model: 'flat', input: 'Hello', file_id: 'file-1' }, 'file_id');
  await ask('/v1/responses/input_tokens', { model: 'flat', conversation: 'conv_1' }, 'conversation');
  await ask('/v1/moderations', { model: 'flat', input: [{ type: 'image', file_id: 'file-1' }] }, 'file_id');
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    await ask(path, { model: 'claude', messages: HELLO, system: [{ type: 'document', source }] }, 'file_id');
    await ask(path, { model: 'claude', messages: HELLO, ...skill }, 'skill_id');
    await ask(path, { model: 'claude', messages: HELLO, container: 'container_1' }, 'container');
  }
  await ask('/v1/audio/speech', { model: 'voice', input: 'Hello', voice: { id: 'voice_1' } }, 'id');
  await ask('/v1/images/generations', { model: 'picture', prompt: 'x', image_ids: ['file-1'] }, 'image_ids');
  await ask(
    VIDEOS,
    { model: 'film', prompt: 'x', remixed_from_video_id: 'video_1' },
    'remixed_from_video_id',
  );
  t.equal(world.provider.requests.length, 0);
});

test('a foreign id in a form is refused like one in JSON, also behind another id', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const edit = (...fields: [string, string | Blob][]) => {
    const form = new FormData();
    form.append('model', 'picture');
    for (const [name, value] of fields) form.append(name, value);
    return world.post(key, '/v1/images/edits', form);
  };
  t.equal((await edit(['image[file_id]', 'file-1'])).status, 404);
  t.equal((await edit(['mask_file_id', 'file-1'], ['mask_file_id', ''])).status, 400, 'the first of two');
  t.equal((await edit(['file_id', new Blob(['file-1'])])).status, 400, 'as a file');
  t.equal(world.provider.requests.length, 0);
});

test('the sound of an own chat answer can be named in the next turn, that of another not', async (t) => {
  const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
  const answers = [
    { body: { choices: [{ message: { audio: { id: 'audio_1', data: 'AA' } } }] } },
    {
      headers: SSE,
      body: [chunk({ audio: { id: 'audio_2' } }), chunk({ audio: { transcript: 'Hi' } }), 'data: [DONE]\n\n'],
    },
    { body: { choices: [{ message: { audio: { id: 'audio_3', data: 'A'.repeat(2_000_000) } } }] } },
  ];
  const world = await startGatewayInProcess(t, {
    behave: () => answers.shift(),
    config: { pricing: UNPRICED_PASSES },
  });
  const [own, other] = [await world.account(), await world.account()];
  const asked = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } };
  const next = (key: string, id: string) =>
    world.chat(key, { ...asked, messages: [{ role: 'assistant', audio: { id } }, ...HELLO] });
  for (const stream of [false, true, false]) await (await world.chat(own.key, { ...asked, stream })).text();
  for (const id of ['audio_1', 'audio_2', 'audio_3']) {
    t.equal((await next(other.key, id)).status, 404, id);
    t.equal((await next(own.key, id)).status, 200, id);
  }
});

test('files that code made for an own message can be sent back with it, whole or streamed', async (t) => {
  const result = (file_id: string) => ({
    type: 'bash_code_execution_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'bash_code_execution_result',
      content: [{ type: 'bash_code_execution_output', file_id }],
    },
  });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const event = (data: { type: string } & Record<string, unknown>) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const answers = [
    { body: { id: 'msg_1', content: [result('file_1')], usage } },
    {
      headers: SSE,
      body: [
        event({ type: 'message_start', message: { id: 'msg_2', content: [], usage } }),
        event({ type: 'content_block_start', index: 0, content_block: result('file_2') }),
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }),
        event({ type: 'message_stop' }),
      ],
    },
  ];
  const world = await startGatewayInProcess(t, { behave: () => answers.shift() });
  const [own, other] = [await world.account(), await world.account()];
  const post = (key: string, body: object) =>
    world.api('POST', '/v1/messages', key, { model: 'claude', max_tokens: 10, messages: HELLO, ...body });
  await (await post(own.key, {})).text();
  await (await post(own.key, { stream: true })).text();
  for (const id of ['file_1', 'file_2']) {
    const body = { messages: [...HELLO, { role: 'assistant', content: [result(id)] }] };
    t.equal((await post(other.key, body)).status, 404, id);
    t.equal((await post(own.key, body)).status, 200, id);
  }
});

test('no header of the client picks an account, a project or a workspace of the provider', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  const picking = [
    'anthropic-workspace-id',
    'anthropic-user-profile-id',
    'openai-organization',
    'openai-project',
    'x-goog-user-project',
    'chatgpt-account-id',
  ];
  const kept = ['anthropic-beta', 'openai-beta', 'session_id', 'x-claude-code-session-id'];
  const sent = Object.fromEntries([...picking, ...kept].map((name) => [name, 'theirs']));
  t.equal((await world.chat(key, {}, sent)).status, 200);
  const { headers } = await world.provider.request(0);
  for (const name of picking) t.notOk(name in headers, name);
  for (const name of kept) t.equal(headers[name], 'theirs', name);
});
