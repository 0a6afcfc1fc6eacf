import { type Test, test } from 'tap';
import type { Behavior } from '../../helper/stand-ins/scripted-provider.ts';
import {
  type Case,
  checkRow,
  type Expected,
  endSoon,
  IMPATIENT,
  type Piece,
  type ScriptedGateway,
  SOON_MS,
  startScriptedGateway,
} from '../../helper/start/broken-stream.ts';
import { RUNS_ALL } from '../../helper/suite/runs-all.ts';

/**
 * One cell: what ends a stream and where, what the client gets, the status and outcome of the ledger row, and the cost.
 */
type Cell = readonly [
  event:
    | 'the client leaves'
    | 'the upstream resets'
    | 'the stream ends cleanly'
    | 'the upstream sends an error'
    | 'the upstream stalls',
  place: 'before the head' | 'after the head' | 'midway' | 'before the usage',
  answered: number | undefined,
  row: `${number} ${string}`,
  /** What is charged: nothing, the input, the pieces up to the middle, or all pieces before the usage. */
  charged: 'nothing' | 'asked' | 'begun' | 'said',
];

/**
 * Specification section 5, "A client that leaves" (here without reading on) and "An upstream that breaks off", at every
 * place of a stream. Ends and errors apply only to formats with an event that says how a stream ended.
 */
const MATRIX: readonly Cell[] = [
  ['the client leaves', 'before the head', undefined, '499 client_left', 'asked'],
  ['the client leaves', 'after the head', undefined, '499 client_left', 'asked'],
  ['the client leaves', 'midway', 200, '499 client_left', 'begun'],

  ['the upstream resets', 'before the head', 502, '502 upstream_broke', 'nothing'],
  ['the upstream resets', 'after the head', 502, '502 upstream_broke', 'nothing'],
  ['the upstream resets', 'midway', 200, '200 upstream_broke', 'begun'],
  ['the upstream resets', 'before the usage', 200, '200 upstream_broke', 'said'],

  ['the stream ends cleanly', 'after the head', 502, '502 upstream_error', 'nothing'],
  ['the stream ends cleanly', 'midway', 200, '200 upstream_broke', 'begun'],

  ['the upstream sends an error', 'after the head', 502, '502 upstream_error', 'nothing'],
  ['the upstream sends an error', 'midway', 200, '200 upstream_error', 'begun'],

  ['the upstream stalls', 'before the head', 504, '504 timeout', 'asked'],
  ['the upstream stalls', 'after the head', 504, '504 timeout', 'asked'],
  ['the upstream stalls', 'midway', 200, '200 timeout', 'begun'],
];

/** The cuts of most formats in `npm test`: one of each kind. `npm run test:all` makes every cut of every format. */
const TYPICAL: ReadonlySet<string> = new Set([
  'the client leaves midway',
  'the upstream resets before the usage',
  'the upstream stalls after the head',
]);

/** A streamed answer in pieces, and the cost of each prefix. */
export interface StreamFormat {
  readonly name: string;
  readonly path: string;
  readonly body: string | (() => FormData);
  readonly pieces: readonly Piece[];
  /** Number of pieces up to the middle of the stream. */
  readonly middle: number;
  /** Number of pieces before the one that reports usage. */
  readonly beforeUsage: number;
  /** What these first pieces cost. */
  cost(pieces: readonly Piece[]): Expected;
  /** The cost of a call that got no answer. Default: the cost of no pieces. */
  readonly asked?: Expected;
  /** The event that says that the call failed, if the format has one. */
  readonly error?: string;
  /** Default: server-sent events. */
  readonly contentType?: string;
  /** True for the format that `npm test` cuts everywhere. */
  readonly isWhole?: boolean;
}

function cellsOf({ error, isWhole = RUNS_ALL }: StreamFormat): Cell[] {
  return MATRIX.filter(([event, place]) => {
    if (!isWhole && !TYPICAL.has(`${event} ${place}`)) return false;
    if (event === 'the stream ends cleanly' || event === 'the upstream sends an error') {
      return error !== undefined;
    }
    return true;
  });
}

/** How many pieces come before each place. `nothing` means not even the head. */
function sentUntil({ middle, beforeUsage }: StreamFormat, place: Cell[1]): number | 'nothing' {
  return {
    'before the head': 'nothing' as const,
    'after the head': 0,
    midway: middle,
    'before the usage': beforeUsage,
  }[place];
}

/** What the upstream sends, and how it ends. A client leaves while it is silent. */
function behaviorOf(format: StreamFormat, [event, place]: Cell): Behavior {
  const { contentType = 'text/event-stream; charset=utf-8', error = '' } = format;
  const headers = { 'content-type': contentType };
  const body = format.pieces.map(({ sent }) => sent);
  const until = sentUntil(format, place);
  const begun = until === 'nothing' ? [] : body.slice(0, until);
  switch (event) {
    case 'the upstream resets':
      return { headers, body, breakAfter: until };
    case 'the stream ends cleanly':
      return { headers, body: begun };
    case 'the upstream sends an error':
      return { headers, body: [...begun, error] };
    default:
      return { headers, body, stallAfter: until };
  }
}

/** The client leaves once it has everything before the place. */
function leaveAt({ contentType, middle, pieces }: StreamFormat, place: Cell[1]): Case['leave'] {
  // The client gets the head with the first bytes.
  if (place === 'before the head' || place === 'after the head') return 'sent';
  if (contentType === undefined) return (text) => text.split('\n\n').length - 1 >= middle;
  const bytes = pieces.slice(0, middle).reduce((sum, { sent }) => sum + sent.length, 0);
  return (text) => text.length >= bytes;
}

/** What a refusal says, by the row. */
const REASONS: Readonly<Record<string, string>> = {
  '502 upstream_broke': 'could not be reached',
  '502 upstream_error': 'upstream_unavailable',
  '504 timeout': 'in time',
};

function costOf(format: StreamFormat, charged: Cell[4]): Expected | 'nothing' {
  const { pieces, middle, beforeUsage } = format;
  if (charged === 'nothing') return charged;
  if (charged === 'asked') return format.asked ?? format.cost([]);
  return format.cost(pieces.slice(0, charged === 'begun' ? middle : beforeUsage));
}

async function check(t: Test, world: ScriptedGateway, format: StreamFormat, cell: Cell): Promise<void> {
  const [event, place, answered, row, charged] = cell;
  const { body, path } = format;
  const leave = event === 'the client leaves' ? leaveAt(format, place) : undefined;
  const ended = await endSoon(world, {
    path,
    body: typeof body === 'string' ? body : body(),
    behavior: behaviorOf(format, cell),
    ...(leave ? { leave } : {}),
  });
  t.equal(ended.heard.status, answered);
  const isRefusal = (answered ?? 0) >= 500;
  const isWhole = isRefusal || event === 'the upstream sends an error';
  t.equal(ended.heard.isWhole, isWhole, 'a clean end only where there is one');
  if (isRefusal) t.match(ended.heard.text, REASONS[row]);
  if (leave) {
    t.equal(ended.upstream, 'broken', 'the upstream is cancelled');
    t.ok(ended.upstreamEndedMs < SOON_MS, `after ${ended.upstreamEndedMs} ms`);
  }
  const [status, outcome] = row.split(' ') as [string, string];
  await checkRow(t, world, ended, { status: Number(status), outcome }, costOf(format, charged));
}

/** Every way in which a stream of these formats can end early. */
export function breakEverywhere(formats: readonly StreamFormat[]): void {
  const all = formats.flatMap((format) =>
    cellsOf(format).map((cell) => ({ format, cell, name: `${format.name}: ${cell[0]} ${cell[1]}` })),
  );
  const isStall = ({ cell }: (typeof all)[number]) => cell[0] === 'the upstream stalls';
  test('streams that are left, or break', async (t) => {
    const world = await startScriptedGateway(t);
    for (const { format, cell, name } of all.filter((one) => !isStall(one))) {
      await t.test(name, (t) => check(t, world, format, cell));
    }
  });
  test('streams that stall', async (t) => {
    const world = await startScriptedGateway(t, IMPATIENT);
    // All at once, because each takes as long as the gateway waits for an upstream.
    t.jobs = 100;
    await Promise.all(
      all.filter(isStall).map(({ format, cell, name }) => t.test(name, (t) => check(t, world, format, cell))),
    );
  });
}
