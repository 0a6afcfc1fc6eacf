import { type Test, test } from 'tap';
import type { Usage } from '../../../src/domain/usage.ts';
import {
  type Case,
  type Ended,
  type Expected,
  type Piece,
  type ScriptedGateway,
  startScriptedGateway,
} from '../../helper/broken-stream.ts';

const HEADERS = { 'content-type': 'text/event-stream' };
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string } & Record<string, unknown>): string =>
  `event: ${value.type}\n${data(value)}`;
const LEFT = { status: 499, outcome: 'client_left' };

/** Members of a ledger row that these look at. */
interface Row {
  readonly status?: number | null;
  readonly outcome?: string | null;
  readonly usage: Usage;
  readonly estimated?: boolean;
}

interface Format {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  readonly pieces: readonly string[];
  /** The client leaves when it has this. */
  readonly until: string;
  /** Default 30. */
  readonly intervalMs?: number;
  readonly expected: Expected;
}

const chunk = (delta: object, finish: string | null = null): string =>
  data({ choices: [{ index: 0, delta, finish_reason: finish }] });
const CHAT = { model: 'tokens', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
const REPORT = { prompt_tokens: 20_000, completion_tokens: 20 };
const REPORTED: Expected = { usage: { input: 20_000, output: 20 }, estimated: false };
const MESSAGE = { model: 'claude', stream: true, max_tokens: 9, messages: CHAT.messages };
const START = event({ type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1 } } });
const BLOCK = event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
const TEXT = event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } });
const BLOCK_END = event({ type: 'content_block_stop', index: 0 });
const MESSAGE_END = [
  event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { input_tokens: 60_000, output_tokens: 9_000 },
  }),
  event({ type: 'message_stop' }),
];
const PAINTED = event({
  type: 'image_generation.completed',
  b64_json: 'iVBORw0KGgo='.repeat(120_000),
  usage: { input_tokens: 50, output_tokens: 60 },
});
const PICTURE_CUT = [PAINTED.slice(0, 1_200_000), PAINTED.slice(1_200_000)];

const FORMATS: readonly Format[] = [
  {
    name: 'chat, at its finish_reason',
    path: '/v1/chat/completions',
    body: CHAT,
    pieces: [
      chunk({ content: 'Hello' }),
      chunk({}, 'stop'),
      data({ choices: [], usage: REPORT }),
      'data: [DONE]\n\n',
    ],
    until: '"stop"',
    expected: REPORTED,
  },
  {
    name: 'chat, at its last word',
    path: '/v1/chat/completions',
    body: CHAT,
    pieces: [
      chunk({ content: 'Hello' }),
      chunk({}, 'stop'),
      data({ choices: [], usage: REPORT }),
      'data: [DONE]\n\n',
    ],
    until: 'Hello',
    expected: REPORTED,
  },
  {
    name: 'completions, at their finish_reason',
    path: '/v1/completions',
    body: { model: 'tokens', stream: true, prompt: 'Hi' },
    pieces: [
      data({ choices: [{ text: 'Hello', index: 0, finish_reason: 'stop' }] }),
      data({ choices: [], usage: REPORT }),
    ],
    until: '"stop"',
    expected: REPORTED,
  },
  {
    name: 'messages, at the end of their last block',
    path: '/v1/messages',
    body: MESSAGE,
    pieces: [START, BLOCK, TEXT, BLOCK_END, ...MESSAGE_END],
    until: 'content_block_stop',
    expected: { usage: { input: 60_000, output: 9_000 }, estimated: false },
  },
  {
    name: 'responses, at the end of their last item',
    path: '/v1/responses',
    body: { model: 'tokens', stream: true, input: 'Hi' },
    pieces: [
      event({ type: 'response.output_text.delta', delta: 'Hello' }),
      event({ type: 'response.output_item.done', item: { id: 'msg_1' } }),
      event({
        type: 'response.completed',
        response: { id: 'resp_1', usage: { input_tokens: 20_000, output_tokens: 20 } },
      }),
    ],
    until: 'output_item.done',
    expected: REPORTED,
  },
  {
    name: 'a picture by token, within its event',
    path: '/v1/images/generations',
    body: { model: 'painter', prompt: 'A cat', stream: true },
    pieces: PICTURE_CUT,
    until: 'iVBORw0KGgo=',
    // A client that has read 1.2 MB leaves late on a machine under load.
    intervalMs: 800,
    expected: { usage: { images: 1, input: 50, outputImage: 60 }, estimated: false },
  },
];

/**
 * A call that is left, and its row. On a busy machine its client may leave too late, or what is waited for may come too
 * late: then there is another call.
 */
async function left(world: ScriptedGateway, call: Case, row: Row): Promise<{ ended: Ended; entry: Row }> {
  for (let tries = 1; ; tries++) {
    const ended = await world.end(call);
    const entry = await world.charged(ended.account);
    const { usage, ...others } = row;
    const isMet = isWithin(usage, entry.usage) && isWithin(others, entry);
    if (isMet || tries === 10) return { ended, entry };
  }
}

function isWithin(some: object, all: object): boolean {
  return Object.entries(some).every(([name, value]) => (all as Record<string, unknown>)[name] === value);
}

async function leave(t: Test, world: ScriptedGateway, format: Format, more: object = {}): Promise<number> {
  const row = { ...LEFT, usage: format.expected.usage ?? {}, estimated: format.expected.estimated };
  const call = {
    path: format.path,
    body: JSON.stringify(format.body),
    behaviour: { headers: HEADERS, body: format.pieces, intervalMs: format.intervalMs ?? 30, ...more },
    leave: (text: string) => text.includes(format.until),
  };
  const { ended, entry } = await left(world, call, row);
  t.match(entry, row);
  t.equal((await world.held(ended.account)).held, 0);
  const rows = await world.book.ledger({ accountId: ended.account.accountId, limit: 10 });
  t.same(
    rows.map(({ type }) => type),
    ['charge', 'top_up'],
  );
  return ended.upstreamEndedMs;
}

test('a client that leaves before the usage, which comes a moment later, pays by it', async (t) => {
  const world = await startScriptedGateway(t);
  for (const format of FORMATS)
    await t.test(format.name, async (st) => void (await leave(st, world, format)));

  await t.test('content that goes on is cancelled, and not charged', async (st) => {
    const words = Array.from({ length: 200 }, () => chunk({ content: ' more' }));
    const pieces = [chunk({ content: 'Hello' }, 'stop'), ...words, data({ choices: [], usage: REPORT })];
    const [chat] = FORMATS;
    if (!chat) return;
    const expected = { usage: { output: 1 }, estimated: true };
    const ended = await leave(st, world, { ...chat, pieces, until: 'Hello', expected });
    st.ok(ended < 1_900, `cancelled after ${ended} ms, before the 6 s of the whole`);
  });

  await t.test('usage that does not come is waited for no longer than 2 s', async (st) => {
    const pieces = [chunk({ content: 'Hello' }, 'stop'), 'data: [DONE]\n\n'];
    const [chat] = FORMATS;
    if (!chat) return;
    const expected = { usage: { output: 1 }, estimated: true };
    const ended = await leave(st, world, { ...chat, pieces, until: 'Hello', expected }, { stallAfter: 1 });
    st.ok(ended > 1_500 && ended < 10_000, `after ${ended} ms`);
  });

  await t.test(
    'an answer over 1 MiB that is no stream, and is left before its end, is read to it',
    async (st) => {
      const answer = JSON.stringify({
        choices: [{ message: { content: 'word '.repeat(300_000) } }],
        usage: REPORT,
      });
      const behaviour = {
        headers: { 'content-type': 'application/json' },
        body: [answer.slice(0, 1_400_000), answer.slice(1_400_000, 1_450_000), answer.slice(1_450_000)],
        intervalMs: 100,
      };
      const call = {
        path: '/v1/chat/completions',
        body: JSON.stringify({ ...CHAT, stream: false }),
        behaviour,
        leave: (text: string) => text.length > 1_100_000,
      };
      const row = { ...LEFT, usage: REPORTED.usage ?? {}, estimated: REPORTED.estimated };
      st.match((await left(world, call, row)).entry, row);
    },
  );

  await t.test('a picture that is left within its event is charged', async (st) => {
    for (const name of ['image_generation.completed', undefined]) {
      const sent = name ? PAINTED : PAINTED.replace(/^event: .*\n/, '');
      for (const cut of [900_000, 1_200_000]) {
        const ended = await world.end({
          path: '/v1/images/generations',
          body: JSON.stringify({ model: 'picture', prompt: 'A cat', stream: true }),
          behaviour: {
            headers: HEADERS,
            body: [': begun\n\n', sent.slice(0, cut), sent.slice(cut)],
            intervalMs: 200,
            stallAfter: 2,
          },
          leave: (text) => text.length > (cut > 1_100_000 ? 1_000_000 : 5),
        });
        // One of which nothing had come to the gateway yet cannot be told.
        if (cut > 1_100_000)
          st.match(await world.charged(ended.account), {
            ...LEFT,
            credits: -1_000_000,
            usage: { images: 1 },
          });
      }
    }
  });

  await t.test(
    'what custom tools are called with, and content in parts, is charged when the client leaves',
    async (st) => {
      const words = 'Incomprehensibilities are counted. '.repeat(20);
      for (const delta of [
        { tool_calls: [{ index: 0, type: 'custom', custom: { name: 'run', input: words } }] },
        { content: [{ type: 'text', text: words }] },
      ]) {
        const ended = await world.end({
          path: '/v1/chat/completions',
          body: JSON.stringify(CHAT),
          behaviour: { headers: HEADERS, body: [chunk(delta), 'data: [DONE]\n\n'], stallAfter: 1 },
          leave: (text) => text.includes('counted'),
        });
        const { usage } = await world.charged(ended.account);
        st.ok((usage.output ?? 0) >= 100, JSON.stringify(usage));
      }
    },
  );
});

test('a provider that goes on after the end of its answer is cancelled, and the client has the whole', async (t) => {
  const world = await startScriptedGateway(t);
  const end = [chunk({ content: 'Hello' }, 'stop'), data({ choices: [], usage: REPORT }), 'data: [DONE]\n\n'];
  for (const more of [': more\n\n'.repeat(8_000), data({ choices: [] }).repeat(3_000), 'x'.repeat(65_536)]) {
    const ended = await world.end({
      path: '/v1/chat/completions',
      body: JSON.stringify(CHAT),
      behaviour: { headers: HEADERS, body: [...end, ...Array.from({ length: 2_000 }, () => more)] },
    });
    t.equal(ended.upstream, 'broken');
    t.ok(ended.heard.isWhole && ended.heard.text.includes('[DONE]'));
    t.ok(ended.heard.text.length < 1_000_000, `${ended.heard.text.length} of ${more.length * 2_000}`);
    t.match(await world.charged(ended.account), { outcome: 'complete', ...REPORTED });
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
  const pieces: Piece[] = [{ sent: event({ type: 'response.completed', response }) }];
  const ended = await world.end({
    path: '/v1/responses',
    body: JSON.stringify({ model: 'tokens', stream: true, input: 'Hi' }),
    behaviour: { headers: HEADERS, body: pieces.map(({ sent }) => sent) },
  });
  t.ok(ended.heard.isWhole);
  t.match(await world.charged(ended.account), { outcome: 'complete', ...REPORTED });
  for (const id of ['resp_large', 'msg_large']) {
    const input = id === 'msg_large' ? [{ type: 'item_reference', id }] : 'Go on';
    const previous = id === 'resp_large' ? { previous_response_id: id } : {};
    const body = { model: 'tokens', input, ...previous };
    t.equal((await world.api('POST', '/v1/responses', ended.account.key, body)).status, 200, id);
  }
});
