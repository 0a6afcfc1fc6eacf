import { test } from 'tap';
import { makeOwner } from '../helper/owner.ts';
import { megabytes, startUploadWorld } from '../helper/upload-world.ts';
import { WORST_SHAPES, type WorstShape, worstJson } from '../helper/worst-json.ts';

const isLinux = process.platform === 'linux';
const CHAT = '/v1/chat/completions';

type World = Awaited<ReturnType<typeof startUploadWorld>>;

async function send({ gateway }: World, key: string, body: Buffer, path = CHAT): Promise<number> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body as Uint8Array<ArrayBuffer>,
  });
  await response.arrayBuffer();
  return response.status;
}

/** Calls of another account, one after the other, until `done`; how long each took, in ms, from the shortest. */
async function callsBeside({ gateway }: World, key: string, done: Promise<unknown>): Promise<number[]> {
  let isDone = false;
  const stop = () => {
    isDone = true;
  };
  done.then(stop, stop);
  const tookMs: number[] = [];
  while (!isDone) {
    const startedAt = performance.now();
    const response = await gateway.chat(key, { model: 'sees', max_tokens: 1 });
    if (response.status !== 200) throw new Error(`a call beside was answered ${response.status}`);
    await response.arrayBuffer();
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs.sort((a, b) => a - b);
}

/** Shapes whose cost in the gateway is not that of any other. */
const LARGE: readonly WorstShape[] = [
  'empty objects',
  'tiny messages',
  'names that differ',
  'strings just too long to keep',
  'one name of all',
  'white space',
  'deep lists',
];

test('a body of millions of tiny members from an empty account holds nobody up, within a heap of 512 MB', {
  skip: !isLinux,
}, async (t) => {
  const world = await startUploadWorld(t, '', { NODE_OPTIONS: '--max-old-space-size=512' });
  const empty = await makeOwner(world.gateway, 0);
  for (let n = 0; n < 50; n++) await send(world, world.key, worstJson('tiny messages', 500));
  for (const shape of LARGE) {
    const body = worstJson(shape, 45e6);
    const before = megabytes(world.gateway, 'VmRSS');
    megabytes(world.gateway, 'VmHWM');
    const sent = send(world, empty.key, body);
    const beside = await callsBeside(world, world.key, sent);
    const status = await sent;
    t.ok([400, 402, 413].includes(status), `${shape}: ${status}`);
    const grown = megabytes(world.gateway, 'VmHWM') - before;
    const worstMs = beside.at(-1) ?? 0;
    t.comment(
      `${shape}: ${status}; ${beside.length} calls beside, p50 ${beside[beside.length >> 1]?.toFixed(0)} ms, ` +
        `p99 ${beside[Math.floor(beside.length * 0.99)]?.toFixed(0)} ms, worst ${worstMs.toFixed(0)} ms; grew by ${grown.toFixed(0)} MB`,
    );
    t.ok(grown < 90, `${shape}: grew by ${grown.toFixed(0)} MB for a body of 45 MB`);
    // It was 20 s. Measured on an idle machine: below 50 ms.
    t.ok(worstMs < 2_000, `${shape}: a call beside it took ${worstMs.toFixed(0)} ms`);
  }
});

test('many bodies of 1.2 MB with as many parts as are taken live within a heap of 512 MB', {
  skip: !isLinux,
}, async (t) => {
  const world = await startUploadWorld(t, '', { NODE_OPTIONS: '--max-old-space-size=512' });
  const bodies = WORST_SHAPES.map((shape) => worstJson(shape, 1.2e6));
  for (let round = 0; round < 2; round++) {
    const sent = Promise.all(bodies.map((body) => send(world, world.key, body)));
    const beside = await callsBeside(world, world.key, sent);
    const statuses = await sent;
    t.ok(
      statuses.every((status) => [200, 400, 413].includes(status)),
      statuses.join(' '),
    );
    t.ok(statuses.includes(200) && statuses.includes(413), 'some are within the bounds');
    t.ok((beside.at(-1) ?? 0) < 2_000, `a call beside them took ${beside.at(-1)?.toFixed(0)} ms`);
  }
});

test('what honest clients send at most is taken', { skip: !isLinux }, async (t) => {
  const world = await startUploadWorld(
    t,
    '  finds: { upstream: test, category: text, price: { request: 0.001 } }\n',
  );
  const call = (index: number) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: `call_${index}`, type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
      ],
    },
    { role: 'tool', tool_call_id: `call_${index}`, content: 'found '.repeat(100) },
  ];
  const messages = Array.from({ length: 5_000 }, (_, index) => call(index)).flat();
  const json = (value: object) => Buffer.from(JSON.stringify(value));
  t.equal(await send(world, world.key, json({ model: 'sees', messages })), 200, '10,000 messages with tools');
  const numbers = Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 100_000);
  const embed = (input: unknown) => send(world, world.key, json({ model: 'finds', input }), '/v1/embeddings');
  t.equal(await embed(numbers), 200, '300,000 numbers of tokens');
  t.equal(await embed(Array.from({ length: 2_048 }, () => 'words '.repeat(500))), 200, '2,048 texts');
  const items = Array.from({ length: 5_000 }, (_, index) => [
    { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: `c${index}`, output: [{ type: 'input_text', text: 'x' }] },
  ]).flat();
  t.equal(
    await send(world, world.key, json({ model: 'sees', input: items }), '/v1/responses'),
    200,
    '10,000 items',
  );
});
