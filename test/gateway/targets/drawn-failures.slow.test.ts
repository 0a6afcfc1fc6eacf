import { type Test, test } from 'tap';
import type { LedgerEntry } from '../../../src/domain/ledger-entry.ts';
import type { Behavior, ReceivedRequest } from '../../helper/stand-ins/scripted-provider.ts';
import { type PlaceName, startTargetsGateway } from '../../helper/start/targets-gateway.ts';
import fc, { SEED } from '../../helper/suite/fast-check.ts';

const SSE = { 'content-type': 'text/event-stream' };
const ROLE = 'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n';
const WORD = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
const FAILED = 'data: {"error":{"message":"stopped"}}\n\n';
const REPORT = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n';
const DONE = 'data: [DONE]\n\n';
const OK = { choices: [{ message: { content: 'hi' } }], usage: { prompt_tokens: 3, completion_tokens: 4 } };
const SOON = { 'retry-after-ms': '1' };

/** What a target can do with a call, and whether the call may go on at another target. */
const WAYS = {
  answers: [{ body: OK }, { headers: SSE, body: [ROLE, WORD, REPORT, DONE] }, false],
  refuses: [{ status: 429, headers: SOON, body: { error: { message: 'slow down' } } }, 'same', true],
  fails: [{ status: 500, headers: SOON, body: { error: { message: 'broken' } } }, 'same', true],
  'rejects the call': [{ status: 400, body: { error: { message: 'no' } } }, 'same', false],
  'breaks off': [{ breakAfter: 'nothing' }, 'same', false],
  'fails in its stream': [{ body: OK }, { headers: SSE, body: [ROLE, FAILED, DONE] }, true],
  'fails after content': [{ body: OK }, { headers: SSE, body: [ROLE, WORD, FAILED, DONE] }, false],
  'breaks after content': [{ body: OK }, { headers: SSE, body: [ROLE, WORD, REPORT], breakAfter: 2 }, false],
} as const satisfies Record<string, readonly [Behavior, Behavior | 'same', boolean]>;
type Way = keyof typeof WAYS;

interface DrawnCall {
  readonly isStream: boolean;
  readonly ways: Readonly<Record<PlaceName, Way>>;
}

const way = fc.constantFrom(...(Object.keys(WAYS) as Way[]));
const drawnCall = fc.record({ isStream: fc.boolean(), ways: fc.record({ a: way, b: way, c: way }) });
const CALLS = 200;
const AT_ONCE = 20;
const PRICES: Readonly<Record<string, number>> = { a: -1_000_000, b: -2_000_000, c: -3_000_000 };

/** The number of the drawn call that a request belongs to. */
function numberOf({ body }: ReceivedRequest): number {
  return Number(/call (\d+)\./.exec(body.toString())?.[1]);
}

function goesOn(call: DrawnCall, place: PlaceName): boolean {
  const [, stream, mayGoOn] = WAYS[call.ways[place]];
  return mayGoOn && (call.isStream || stream === 'same');
}

test('no call is sent twice or charged but for the target that answered, however targets fail', async (t) => {
  const calls = fc.sample(drawnCall, { numRuns: CALLS, seed: SEED });
  const world = await startTargetsGateway(t);
  const asked = new Map<number, PlaceName[]>();
  for (const place of ['a', 'b', 'c'] as const) {
    world.behaveBy(place, (request) => {
      const number = numberOf(request);
      asked.set(number, [...(asked.get(number) ?? []), place]);
      const call = calls[number] as DrawnCall;
      const [plain, stream] = WAYS[call.ways[place]];
      return call.isStream && stream !== 'same' ? stream : plain;
    });
  }
  const { key, accountId } = await world.account({ credits: 10_000 });
  const ids: string[] = [];
  const send = async (number: number) => {
    const { isStream } = calls[number] as DrawnCall;
    const messages = [{ role: 'user', content: `call ${number}.` }];
    const response = await world.chat(key, { model: 'ranked', stream: isStream, messages });
    ids[number] = String(response.headers.get('x-request-id'));
    await response.text().catch(() => {});
  };
  for (let first = 0; first < CALLS; first += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(first + index)));
  }
  await world.settled();
  const rows = new Map((await rowsOf(world, accountId)).map((row) => [row.id, row]));
  let sum = 0;
  for (const [number, call] of calls.entries()) {
    const row = rows.get(ids[number] as string) as LedgerEntry;
    checkCall(t, call, { row, places: asked.get(number) ?? [], number });
    sum += row.credits;
  }
  t.match(await world.ledger.ledger.account(accountId), { balance: 10_000_000_000 + sum, held: 0 });
});

async function rowsOf({ book }: Awaited<ReturnType<typeof startTargetsGateway>>, accountId: number) {
  const rows = await book.ledger({ accountId, limit: 1_000 });
  return rows.filter(({ type }) => type === 'charge');
}

/** Checks the rules of a call against the requests that reached targets and its ledger row. */
function checkCall(
  t: Test,
  call: DrawnCall,
  {
    row,
    places,
    number,
  }: { readonly row: LedgerEntry; readonly places: readonly PlaceName[]; readonly number: number },
): void {
  const story = `call ${number} ${JSON.stringify(call)} at ${places}: ${JSON.stringify(row)}`;
  t.ok(places.length >= 1 && new Set(places).size === places.length, `once a target: ${story}`);
  t.ok(
    places.slice(0, -1).every((place) => goesOn(call, place)),
    `on only where it may: ${story}`,
  );
  const tries = row.attempts?.map(({ target }) => target) ?? [row.upstream];
  t.same(tries, places, `the row has each try: ${story}`);
  t.ok(places.includes(row.upstream as PlaceName), story);
  const isCharged = row.outcome === 'complete' || row.credits !== 0;
  if (isCharged) {
    t.equal(row.upstream, places.at(-1), `charged by the last: ${story}`);
    t.equal(row.credits, PRICES[row.upstream as string], `at its price: ${story}`);
  }
}
