import { type Test, test } from 'tap';
import type { Behavior } from '../../helper/stand-ins/scripted-provider.ts';
import {
  type Case,
  checkRow,
  type Expected,
  endSoon,
  IMPATIENT,
  type ScriptedGateway,
  SOON_MS,
  startScriptedGateway,
} from '../../helper/start/broken-stream.ts';
import { silentWav } from '../../helper/start/media-gateway.ts';
import { RUNS_ALL } from '../../helper/suite/runs-all.ts';

interface Call {
  readonly path: string;
  readonly body: string | FormData;
}

const json = (path: string, body: object): Call => ({ path, body: JSON.stringify(body) });

function form(path: string, fields: Record<string, string>, file: string): Call {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append(file, new Blob([silentWav(1)]), 'upload');
  return { path, body };
}

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CALLS: readonly Call[] = [
  json('/v1/chat/completions', { model: 'tokens', messages: MESSAGES }),
  json('/v1/completions', { model: 'tokens', prompt: 'Hi' }),
  json('/v1/responses', { model: 'tokens', input: 'Hi' }),
  json('/v1/responses/compact', { model: 'tokens', input: 'Hi' }),
  json('/v1/embeddings', { model: 'tokens', input: 'Hi' }),
  json('/v1/moderations', { model: 'flat', input: 'Hi' }),
  json('/v1/messages', { model: 'claude', messages: MESSAGES, max_tokens: 9 }),
  json('/v1/messages/count_tokens', { model: 'claude-flat', messages: MESSAGES }),
  json('/v1/images/generations', { model: 'picture', prompt: 'A cat' }),
  json('/v1/audio/speech', { model: 'voice', voice: 'alloy', input: 'Hi' }),
  form('/v1/images/edits', { model: 'picture', prompt: 'A cat' }, 'image'),
  form('/v1/images/variations', { model: 'picture' }, 'image'),
  form('/v1/audio/transcriptions', { model: 'ears' }, 'file'),
  form('/v1/audio/translations', { model: 'scribe' }, 'file'),
];

/** The cost of a call without a usage report: a count of its input and of the output that arrived. */
const ESTIMATE: Expected = { estimated: true };

interface Cell {
  readonly event: string;
  readonly behavior: Behavior;
  readonly leave?: Case['leave'];
  readonly answered: number | undefined;
  readonly row: { readonly status: number; readonly outcome: string };
  readonly charged: 'nothing' | Expected;
}

const HEADERS = { 'content-type': 'application/json' };
const PARTS = ['{"id":"x_1",', '"data":[{}],', '"text":""}'];
const HALF: Behavior = { headers: HEADERS, body: PARTS };
const LEFT = { status: 499, outcome: 'client_left' };
const BROKE = { status: 502, outcome: 'upstream_broke' };
const FAILED = { error: { message: 'It failed.', type: 'server_error', code: 502 } };

const BREAKS: readonly Cell[] = [
  {
    event: 'left before the head',
    behavior: { stallAfter: 'nothing' },
    leave: 'sent',
    answered: undefined,
    row: LEFT,
    charged: ESTIMATE,
  },
  {
    event: 'left within the body',
    behavior: { ...HALF, stallAfter: 2 },
    leave: 'sent',
    answered: undefined,
    row: LEFT,
    charged: ESTIMATE,
  },
  {
    event: 'reset before the head',
    behavior: { breakAfter: 'nothing' },
    answered: 502,
    row: BROKE,
    charged: 'nothing',
  },
  {
    event: 'reset after the head',
    behavior: { ...HALF, breakAfter: 0 },
    answered: 502,
    row: BROKE,
    charged: 'nothing',
  },
  {
    event: 'reset within the body',
    behavior: { ...HALF, breakAfter: 2 },
    answered: 502,
    row: BROKE,
    charged: ESTIMATE,
  },
  {
    event: 'ended cleanly within the body',
    behavior: { headers: HEADERS, body: PARTS.slice(0, 2) },
    answered: 502,
    row: BROKE,
    charged: ESTIMATE,
  },
  {
    event: 'failed with status 200',
    behavior: { body: FAILED },
    answered: 502,
    row: { status: 502, outcome: 'upstream_error' },
    charged: 'nothing',
  },
];
const TIMEOUT = { status: 504, outcome: 'timeout' };
const STALLS: readonly Cell[] = [
  {
    event: 'stalled before the head',
    behavior: { stallAfter: 'nothing' },
    answered: 504,
    row: TIMEOUT,
    charged: ESTIMATE,
  },
  {
    event: 'stalled within the body',
    behavior: { ...HALF, stallAfter: 2 },
    answered: 504,
    row: TIMEOUT,
    charged: ESTIMATE,
  },
];

/** The cells of most endpoints in `npm test`. The first endpoint has all of them, as has each in `npm run test:all`. */
const TYPICAL: ReadonlySet<string> = new Set([
  'left within the body',
  'reset within the body',
  'stalled before the head',
]);
const cellsOf = (call: Call, cells: readonly Cell[]) =>
  cells.filter(({ event }) => RUNS_ALL || call === CALLS[0] || TYPICAL.has(event));

async function check(t: Test, world: ScriptedGateway, call: Call, cell: Cell): Promise<void> {
  const { behavior, leave, answered, row, charged } = cell;
  const ended = await endSoon(world, { ...call, behavior, ...(leave ? { leave } : {}) });
  t.equal(ended.heard.status, answered);
  t.equal(ended.heard.isWhole, answered !== undefined);
  if (answered === 200) t.same(JSON.parse(ended.heard.text), FAILED, 'as the upstream said it');
  else if (answered !== undefined) t.match(JSON.parse(ended.heard.text), { error: { message: String } });
  if (leave) {
    t.equal(ended.upstream, 'broken', 'the upstream is cancelled');
    t.ok(ended.upstreamEndedMs < SOON_MS, `after ${ended.upstreamEndedMs} ms`);
  }
  await checkRow(t, world, ended, row, charged);
}

test('answers that are not streamed and do not come whole are charged once any of them has come', async (t) => {
  const world = await startScriptedGateway(t);
  for (const call of CALLS) {
    for (const cell of cellsOf(call, BREAKS)) {
      await t.test(`${call.path}: ${cell.event}`, (st) => check(st, world, call, cell));
    }
  }
});

test('answers that are not streamed and stall are charged for the request', async (t) => {
  const world = await startScriptedGateway(t, IMPATIENT);
  // All at once, because each takes as long as the gateway waits for an upstream.
  t.jobs = 100;
  await Promise.all(
    CALLS.flatMap((call) =>
      cellsOf(call, STALLS).map((cell) =>
        t.test(`${call.path}: ${cell.event}`, (st) => check(st, world, call, cell)),
      ),
    ),
  );
});

test('an answer over 1 MiB that breaks off is charged for the part that came', async (t) => {
  const world = await startScriptedGateway(t);
  const head = '{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assistant","content":"';
  const body = [head, 'word '.repeat(150_000), 'word '.repeat(150_000), '"}}]}'];
  const call = json('/v1/chat/completions', { model: 'tokens', messages: MESSAGES, max_tokens: 400_000 });
  for (const behavior of [
    { headers: HEADERS, body, breakAfter: 3 },
    { headers: HEADERS, body: body.slice(0, 3) },
  ]) {
    const ended = await world.end({ ...call, behavior });
    t.match(ended.heard, { status: 200, isWhole: false });
    await checkRow(
      t,
      world,
      ended,
      { status: 200, outcome: 'upstream_broke' },
      // Text that is not kept counts as one token for four bytes.
      { estimated: true, usage: { output: Math.ceil((head.length + 1_500_000) / 4) } },
    );
  }
});
