import { type Test, test } from 'tap';
import type { Behaviour } from '../../helper/behaviour.ts';
import {
  type BreakingWorld,
  type Case,
  checkRow,
  type Ended,
  type Expected,
  type Piece,
  startBreakingWorld,
} from '../../helper/broken-stream.ts';

/** A streamed answer in all its parts, and what each beginning of it costs. */
export interface StreamFormat {
  readonly name: string;
  readonly path: string;
  readonly body: string | (() => FormData);
  readonly pieces: readonly Piece[];
  /** So many pieces are the middle of it. */
  readonly middle: number;
  /** So many come before the one that reports usage. */
  readonly beforeUsage: number;
  /** What these first pieces cost. */
  cost(pieces: readonly Piece[]): Expected;
  /** An event that says that the call failed; absent: the format has none. */
  readonly error?: string;
  /** The gateway sends no head before the first byte, so a failure until then is a refusal. Default: false. */
  readonly holdsHead?: boolean;
  /** Default: server-sent events. */
  readonly contentType?: string;
}

interface Cell {
  readonly event: string;
  readonly behaviour: Omit<Behaviour, 'body' | 'headers'> & { readonly body?: readonly (string | Buffer)[] };
  readonly leave?: Case['leave'];
  readonly isWhole?: boolean;
  readonly answered: number | undefined;
  readonly row: { readonly status: number; readonly outcome: string };
  readonly cost: readonly Piece[] | 'nothing';
}

const LEFT = { status: 499, outcome: 'client_left' };
const BROKE = { status: 200, outcome: 'upstream_broke' };

/** Contract section 5, "A client that goes away" and "An upstream that breaks off", at every place of the stream. */
function cells(format: StreamFormat): Cell[] {
  const { pieces, middle, beforeUsage, holdsHead = false } = format;
  const begun = pieces.slice(0, middle);
  const said = pieces.slice(0, beforeUsage);
  const afterHead = holdsHead
    ? { answered: 502, row: { status: 502, outcome: 'upstream_broke' } }
    : { answered: 200, row: BROKE };
  return [
    {
      event: 'the client leaves before the head',
      behaviour: { stallAfter: 'nothing' },
      leave: 'sent',
      answered: undefined,
      row: LEFT,
      cost: 'nothing',
    },
    {
      event: 'the client leaves between the head and the first byte',
      behaviour: { stallAfter: 0 },
      leave: holdsHead ? 'sent' : 'head',
      answered: holdsHead ? undefined : 200,
      row: LEFT,
      cost: 'nothing',
    },
    {
      event: 'the client leaves midway',
      behaviour: { stallAfter: middle },
      leave: leaveAfter(format, begun),
      answered: 200,
      row: LEFT,
      cost: begun,
    },
    {
      event: 'the upstream resets before the head',
      behaviour: { breakAfter: 'nothing' },
      answered: 502,
      row: { status: 502, outcome: 'upstream_broke' },
      cost: 'nothing',
    },
    {
      event: 'the upstream resets between the head and the first byte',
      behaviour: { breakAfter: 0 },
      ...afterHead,
      cost: 'nothing',
    },
    {
      event: 'the upstream resets midway',
      behaviour: { breakAfter: middle },
      answered: 200,
      row: BROKE,
      cost: begun,
    },
    {
      event: 'the upstream resets between the last word and the usage',
      behaviour: { breakAfter: beforeUsage },
      answered: 200,
      row: BROKE,
      cost: said,
    },
    ...(format.error === undefined ? [] : eventCells(format, format.error, begun)),
  ];
}

/** Ends that events make, or their absence. */
function eventCells({ pieces, middle }: StreamFormat, error: string, begun: readonly Piece[]): Cell[] {
  const sent = pieces.slice(0, middle).map((piece) => piece.sent);
  return [
    {
      event: 'the stream ends cleanly, but without its last event',
      behaviour: { body: sent },
      answered: 200,
      row: BROKE,
      cost: begun,
    },
    {
      event: 'the stream ends cleanly before its first event',
      behaviour: { body: [] },
      answered: 200,
      row: BROKE,
      cost: 'nothing',
    },
    {
      event: 'the upstream sends an error midway',
      behaviour: { body: [...sent, error] },
      isWhole: true,
      answered: 200,
      row: { status: 200, outcome: 'upstream_error' },
      cost: begun,
    },
    {
      event: 'the upstream sends an error at once',
      behaviour: { body: [error] },
      isWhole: true,
      answered: 200,
      row: { status: 200, outcome: 'upstream_error' },
      cost: 'nothing',
    },
  ];
}

function stallCells(format: StreamFormat): Cell[] {
  const { pieces, middle, holdsHead = false } = format;
  const late = { answered: 504, row: { status: 504, outcome: 'timeout' }, cost: 'nothing' } as const;
  const timeout = { status: 200, outcome: 'timeout' };
  return [
    { event: 'the upstream stalls before the head', behaviour: { stallAfter: 'nothing' }, ...late },
    {
      event: 'the upstream stalls after the head',
      behaviour: { stallAfter: 0 },
      ...(holdsHead ? late : { answered: 200, row: timeout, cost: 'nothing' }),
    },
    {
      event: 'the upstream stalls midway',
      behaviour: { stallAfter: middle },
      answered: 200,
      row: timeout,
      cost: pieces.slice(0, middle),
    },
  ];
}

/** Once all of these pieces are there. */
function leaveAfter({ contentType }: StreamFormat, pieces: readonly Piece[]): (text: string) => boolean {
  if (contentType !== undefined) {
    const bytes = pieces.reduce((sum, { sent }) => sum + sent.length, 0);
    return (text) => text.length >= bytes;
  }
  return (text) => text.split('\n\n').length - 1 >= pieces.length;
}

async function check(t: Test, world: BreakingWorld, format: StreamFormat, cell: Cell): Promise<void> {
  const { body, path, contentType = 'text/event-stream; charset=utf-8' } = format;
  const ended: Ended = await world.end({
    path,
    body: typeof body === 'string' ? body : body(),
    behaviour: {
      headers: { 'content-type': contentType },
      body: format.pieces.map(({ sent }) => sent),
      ...cell.behaviour,
    },
    ...(cell.leave ? { leave: cell.leave } : {}),
  });
  t.equal(ended.heard.status, cell.answered);
  const isRefusal = (cell.answered ?? 0) >= 500;
  t.equal(ended.heard.isWhole, cell.isWhole ?? isRefusal, 'a clean end only where there is one');
  if (isRefusal) t.match(ended.heard.text, cell.answered === 504 ? 'in time' : 'could not be reached');
  if (cell.leave) {
    t.equal(ended.upstream, 'broken', 'the upstream is cancelled');
    t.ok(ended.upstreamEndedMs < 1_000, `after ${ended.upstreamEndedMs} ms`);
  }
  await checkRow(t, world, ended, cell.row, cell.cost === 'nothing' ? 'nothing' : format.cost(cell.cost));
}

/** Every way in which a stream of these formats can end early. */
export function breakEverywhere(formats: readonly StreamFormat[]): void {
  test('streams that are left, or break', async (t) => {
    const world = await startBreakingWorld(t);
    for (const format of formats) {
      for (const cell of cells(format)) {
        await t.test(`${format.name}: ${cell.event}`, (st) => check(st, world, format, cell));
      }
    }
  });
  test('streams that stall', async (t) => {
    const world = await startBreakingWorld(t, true);
    // All at once, because each takes as long as the gateway waits.
    t.jobs = 100;
    await Promise.all(
      formats.flatMap((format) =>
        stallCells(format).map((cell) =>
          t.test(`${format.name}: ${cell.event}`, (st) => check(st, world, format, cell)),
        ),
      ),
    );
  });
}
