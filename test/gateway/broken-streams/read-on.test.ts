import { type Test, test } from 'tap';
import type { Usage } from '../../../src/domain/units.ts';
import { until } from '../../helper/check/until.ts';
import type { Behavior } from '../../helper/stand-ins/scripted-provider.ts';
import {
  type Case,
  type Ended,
  type ScriptedGateway,
  startScriptedGateway,
} from '../../helper/start/broken-stream.ts';
import { ADMIN_TOKEN, type TestAccount } from '../../helper/start/gateway-in-process.ts';

/** A call whose client leaves while its upstream waits, before the head or after some pieces. */
interface LeftCase {
  readonly path: string;
  readonly body: object;
  readonly behavior: Behavior;
  /**
   * Where the upstream waits until the client has left, and what the client has received by then. Default: everything
   * up to there.
   */
  readonly leaves: 'before the head' | { readonly after: number; readonly havingBytes?: number };
  /** The account that makes the call. Default: a new one. */
  readonly account?: TestAccount;
  /** Runs while the gateway reads the rest of the answer. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** Runs the call to its end: the client leaves, the gateway notices, and the upstream goes on. */
async function endLeft(world: ScriptedGateway, call: LeftCase): Promise<Ended> {
  const gone = Promise.withResolvers<void>();
  const { leaves, path, body, behavior, account, meanwhile = async () => {} } = call;
  const pieces = leaves === 'before the head' ? ('nothing' as const) : leaves.after;
  const ending = world.end({
    path,
    body: JSON.stringify(body),
    behavior: { ...behavior, waitAfter: { pieces, until: gone.promise } },
    leave: leaveOf(call),
    account,
  });
  await until('the call to be read on', async () => (await readOn(world)) === 1);
  await meanwhile();
  gone.resolve();
  return await ending;
}

function leaveOf({ leaves, behavior: { body } }: LeftCase): NonNullable<Case['leave']> {
  if (leaves === 'before the head') return 'sent';
  const first = Array.isArray(body) ? body.slice(0, leaves.after).join('') : '';
  const bytes = leaves.havingBytes ?? Buffer.byteLength(first);
  return (text) => text.length >= bytes;
}

/** The number of calls that the gateway reads on after their client left. */
async function readOn(world: Pick<ScriptedGateway, 'api'>): Promise<number> {
  const text = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  return Number(/^tollgate_calls_read_on (\d+)/m.exec(text)?.[1]);
}

const SSE = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };
const MP3 = { 'content-type': 'audio/mpeg' };
const LEFT = { status: 499, outcome: 'client_left' };
const HI = [{ role: 'user', content: 'Hi' }];

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string } & Record<string, unknown>): string =>
  `event: ${value.type}\n${data(value)}`;
const chunk = (delta: object, finish: string | null = null): string =>
  data({ choices: [{ index: 0, delta, finish_reason: finish }] });

/** Reasoning is part of the output tokens, but not of the answer. */
const REASONED = { prompt_tokens: 2_000, completion_tokens: 40_100 };
const CHAT_END = [
  chunk({ content: ' END' }, 'stop'),
  data({ choices: [], usage: REASONED }),
  'data: [DONE]\n\n',
];
const THOUGHT = event({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'thinking_delta', thinking: '' },
});

/** A client that closed a stream just before its last delta did not pay for the hidden reasoning. */
const REASONING: readonly (LeftCase & { readonly name: string; readonly usage: Usage })[] = [
  {
    name: 'a response',
    path: '/v1/responses',
    body: { model: 'tokens', stream: true, input: 'Hi' },
    behavior: {
      headers: SSE,
      body: [
        event({ type: 'response.output_text.delta', delta: 'All of value, END' }),
        event({ type: 'response.output_text.delta', delta: ' 1 2 3' }),
        event({
          type: 'response.completed',
          response: { id: 'resp_1', usage: { input_tokens: 2_000, output_tokens: 40_100 } },
        }),
      ],
    },
    leaves: { after: 1 },
    usage: { input: 2_000, output: 40_100 },
  },
  {
    name: 'a chat',
    path: '/v1/chat/completions',
    body: { model: 'tokens', stream: true, messages: HI },
    behavior: { headers: SSE, body: [chunk({ content: 'All of value' }), ...CHAT_END] },
    leaves: { after: 1 },
    usage: { input: 2_000, output: 40_100 },
  },
  {
    name: 'a message whose thinking is omitted',
    path: '/v1/messages',
    body: { model: 'claude', stream: true, max_tokens: 100, messages: HI },
    behavior: {
      headers: SSE,
      body: [
        event({ type: 'message_start', message: { usage: { input_tokens: 2_000, output_tokens: 1 } } }),
        event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } }),
        THOUGHT,
        event({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'END' } }),
        event({
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: { output_tokens: 40_100 },
        }),
        event({ type: 'message_stop' }),
      ],
    },
    leaves: { after: 4 },
    usage: { input: 2_000, output: 40_100 },
  },
];

async function pays(t: Test, world: ScriptedGateway, call: LeftCase, usage: Usage): Promise<void> {
  const { account, upstream } = await endLeft(world, call);
  const { usage: charged, ...row } = await world.charged(account);
  t.match(row, { ...LEFT, estimated: false });
  t.match(charged, usage);
  t.equal(upstream, 'answered', 'read to its end');
  t.equal((await world.held(account)).held, 0);
}

test('reasoning is paid by a client that leaves just before the last delta', async (t) => {
  const world = await startScriptedGateway(t, { readOnMs: 600_000 });
  for (const { name, usage, ...call } of REASONING) await t.test(name, (st) => pays(st, world, call, usage));
});

const ANSWER = { choices: [{ message: { content: 'Hello' } }], usage: REASONED };
const HALF: LeftCase = {
  path: '/v1/chat/completions',
  body: { model: 'tokens', stream: true, messages: HI },
  behavior: { headers: SSE, body: [chunk({ content: 'Hello' }), ...CHAT_END] },
  leaves: { after: 1 },
};
const WHOLE: LeftCase = {
  path: '/v1/chat/completions',
  body: { model: 'tokens', messages: HI },
  behavior: { headers: JSON_TYPE, body: [JSON.stringify(ANSWER)] },
  leaves: 'before the head',
};
const WORDS = JSON.stringify({ ...ANSWER, choices: [{ message: { content: 'word '.repeat(300_000) } }] });

test('a call is charged as reported, whenever its client leaves', async (t) => {
  const world = await startScriptedGateway(t, { readOnMs: 600_000 });
  const usage = { input: 2_000, output: 40_100 };

  await t.test('an answer by MCP that is left before its head is not free', async (st) => {
    const tool = {
      type: 'mcp',
      server_label: 'mine',
      server_url: 'https://mine.example',
      require_approval: 'never',
    };
    const answer = { id: 'resp_0', output: [], usage: { input_tokens: 90, output_tokens: 70 } };
    const call: LeftCase = {
      path: '/v1/responses',
      body: { model: 'tokens', input: 'call submit(answer)', tools: [tool] },
      behavior: { headers: JSON_TYPE, body: JSON.stringify(answer) },
      leaves: 'before the head',
    };
    await pays(st, world, call, { input: 90, output: 70 });
  });
  await t.test('a stream that is left before its head', (st) =>
    pays(st, world, { ...HALF, leaves: 'before the head' }, usage),
  );
  await t.test('a stream whose content goes on for long', (st) => {
    const more = Array.from({ length: 2_000 }, () => chunk({ content: ' more' }));
    const behavior = { headers: SSE, body: [chunk({ content: 'Hello' }), ...more, ...CHAT_END] };
    return pays(st, world, { ...HALF, behavior }, usage);
  });
  await t.test('JSON that is left before its head', (st) => pays(st, world, WHOLE, usage));
  await t.test('JSON over 1 MiB that is left before its head', (st) =>
    pays(st, world, { ...WHOLE, behavior: { headers: JSON_TYPE, body: [WORDS] } }, usage),
  );
  await t.test('JSON over 1 MiB that is left within', (st) => {
    const body = [WORDS.slice(0, 1_400_000), WORDS.slice(1_400_000)];
    // The gateway holds the last part back from the client.
    const leaves = { after: 1, havingBytes: 1_100_000 };
    return pays(st, world, { ...WHOLE, behavior: { headers: JSON_TYPE, body }, leaves }, usage);
  });
  await t.test('speech as bytes', (st) => {
    const body = [Buffer.alloc(2_000, 1), Buffer.alloc(2_000, 2)].map((part) => part.toString());
    const call: LeftCase = {
      path: '/v1/audio/speech',
      body: { model: 'voice', voice: 'alloy', input: 'Hello' },
      behavior: { headers: MP3, body },
      leaves: { after: 1 },
    };
    return pays(st, world, call, { characters: 5 });
  });
  await t.test('a response that was read on can be gone on with', async (st) => {
    const text = JSON.stringify(REASONING[0]).replaceAll('resp_1', 'resp_read_on');
    const { account } = await endLeft(world, JSON.parse(text) as (typeof REASONING)[number]);
    await world.charged(account);
    const body = JSON.stringify({ model: 'tokens', input: 'Go on', previous_response_id: 'resp_read_on' });
    st.equal((await world.post(account.key, '/v1/responses', body)).status, 200);
  });
  await t.test('usage that has come ends the reading, though the stream goes on', async (st) => {
    const pieces = [chunk({ content: 'Hello' }), ...CHAT_END.slice(0, 2), ': on\n\n'];
    const call = { ...HALF, behavior: { headers: SSE, body: pieces, stallAfter: 3 } };
    const { account } = await endLeft(world, call);
    st.match(await world.charged(account), { ...LEFT, estimated: false, usage });
  });
});

test('a provider after the client left', async (t) => {
  const world = await startScriptedGateway(t, { readOnMs: 600_000 });
  const free = { ...LEFT, credits: 0, estimated: false, usage: {} };
  const cases: readonly (readonly [string, Partial<LeftCase> & { behavior: Behavior }, object])[] = [
    [
      'it answers with an error: nothing',
      { behavior: { status: 429, body: { error: { message: 'Slow' } } } },
      free,
    ],
    ['it refuses our credential: nothing', { behavior: { status: 401, body: { error: {} } } }, free],
    ['it breaks before any byte: nothing', { behavior: { breakAfter: 'nothing' } }, free],
    [
      'it breaks after the head: nothing',
      { behavior: { headers: JSON_TYPE, body: ['{"a":'], breakAfter: 0 } },
      free,
    ],
    [
      'its stream fails before any content: nothing',
      { behavior: { headers: SSE, body: [data({ error: { message: 'Overloaded' } })] } },
      free,
    ],
    [
      'it breaks within JSON: an estimate',
      { behavior: { headers: JSON_TYPE, body: ['{"choices":[{"mess'], breakAfter: 1 } },
      { ...LEFT, estimated: true, usage: { output: 5 } },
    ],
    [
      'it breaks within a stream: an estimate',
      { behavior: { headers: SSE, body: [chunk({ content: 'Hello' }), 'x'], breakAfter: 1 } },
      { ...LEFT, estimated: true, usage: { output: 1 } },
    ],
  ];
  for (const [name, more, row] of cases)
    await t.test(name, async (st) => {
      const { account } = await endLeft(world, { ...WHOLE, ...more });
      st.match(await world.charged(account), row);
    });
});

test('a call that is read on in vain is cancelled, and estimated', async (t) => {
  const world = await startScriptedGateway(t, { readOnMs: 1_000 });
  for (const call of [
    { ...HALF, behavior: { ...HALF.behavior, stallAfter: 1 } },
    { ...WHOLE, behavior: { stallAfter: 'nothing' as const } },
  ]) {
    const { account, upstream } = await endLeft(world, call);
    t.equal(upstream, 'broken');
    t.match(await world.charged(account), { ...LEFT, estimated: true, usage: { input: Number } });
  }
});

test('reading on ends with the time that a call may last', async (t) => {
  const world = await startScriptedGateway(t, { readOnMs: 600_000, requestTimeoutMs: 3_000 });
  const { account, upstream } = await endLeft(world, { ...WHOLE, behavior: { stallAfter: 'nothing' } });
  t.equal(upstream, 'broken');
  t.match(await world.charged(account), { ...LEFT, estimated: true });
});

test('clients that leave never run more concurrent calls than max_parallel_requests', async (t) => {
  const world = await startScriptedGateway(t, { readOnMs: 600_000 });
  const account = await world.account({ key: { maxParallelRequests: 1 } });
  const call = () => world.chat(account.key, { model: 'tokens' });
  await endLeft(world, {
    ...WHOLE,
    account,
    async meanwhile() {
      t.equal((await call()).status, 429, 'the call that was left has its place until its end');
      const { held } = await world.ledger.ledger.account(account.accountId);
      t.ok(held > 0, 'and its hold');
    },
  });
  t.match(await world.charged(account), { ...LEFT, usage: { output: 40_100 } });
  t.equal((await call()).status, 200);
});

test('a provider that goes on after the end of its answer is cancelled, and the client has the whole', async (t) => {
  const world = await startScriptedGateway(t);
  const report = { prompt_tokens: 20_000, completion_tokens: 20 };
  const end = [chunk({ content: 'Hello' }, 'stop'), data({ choices: [], usage: report }), 'data: [DONE]\n\n'];
  for (const more of [': more\n\n'.repeat(8_000), data({ choices: [] }).repeat(3_000), 'x'.repeat(65_536)]) {
    const ended = await world.end({
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'tokens', stream: true, messages: HI }),
      behavior: { headers: SSE, body: [...end, ...Array.from({ length: 2_000 }, () => more)] },
    });
    t.equal(ended.upstream, 'broken');
    t.ok(ended.heard.isWhole && ended.heard.text.includes('[DONE]'));
    t.ok(ended.heard.text.length < 1_000_000, `${ended.heard.text.length} of ${more.length * 2_000}`);
    t.match(await world.charged(ended.account), {
      outcome: 'complete',
      usage: { input: 20_000, output: 20 },
      estimated: false,
    });
  }
});

test('a response whose last event is over 1 MiB can be gone on with, and is charged by its usage', async (t) => {
  const world = await startScriptedGateway(t);
  const response = {
    id: 'resp_large',
    error: null,
    instructions: ' '.repeat(1_100_000),
    output: [{ type: 'message', id: 'msg_large', content: [] }],
    usage: { input_tokens: 20_000, output_tokens: 20 },
  };
  const ended = await world.end({
    path: '/v1/responses',
    body: JSON.stringify({ model: 'tokens', stream: true, input: 'Hi' }),
    behavior: { headers: SSE, body: [event({ type: 'response.completed', response })] },
  });
  t.ok(ended.heard.isWhole);
  t.match(await world.charged(ended.account), {
    outcome: 'complete',
    usage: { input: 20_000, output: 20 },
    estimated: false,
  });
  for (const id of ['resp_large', 'msg_large']) {
    const input = id === 'msg_large' ? [{ type: 'item_reference', id }] : 'Go on';
    const previous = id === 'resp_large' ? { previous_response_id: id } : {};
    const body = { model: 'tokens', input, ...previous };
    t.equal((await world.api('POST', '/v1/responses', ended.account.key, body)).status, 200, id);
  }
});
