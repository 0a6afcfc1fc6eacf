import { checkRow, checkShown, checkWay } from '../checker/check-attempts.ts';
import type { LedgerRow } from '../checker/snapshot.ts';
import type { Answered } from '../driver/client.ts';
import type { Bill } from '../world/upstream.ts';
import type { Death, DyingProvider, SoakArrival, SoakTarget } from './dying-provider.ts';
import { CALL_MS, HEAD_MS } from './soak.ts';

/** Credits for a million tokens. */
export const PRICES = {
  first: { input: 1_000, output: 2_000 },
  test: { input: 3_000, output: 5_000 },
} as const;

export interface SoakCall {
  readonly id: number;
  readonly isStream: boolean;
  /** Number of its conversation, if any. */
  readonly talk: number | undefined;
  readonly bytes: number;
  readonly startedAt: number;
  readonly answer: Answered | undefined;
}

/** The members of a call in the operator's API that the checker reads. */
export interface CallView {
  readonly id: string;
  readonly charge: string;
  readonly upstream: string | null;
  readonly outcome: string;
  readonly estimated: boolean;
  readonly attempts: readonly { readonly target: string }[];
}

export interface Seen {
  readonly calls: readonly SoakCall[];
  readonly providers: readonly DyingProvider[];
  readonly rows: readonly LedgerRow[];
  readonly views: readonly CallView[];
}

/** Time for which a connection that a dying provider closes may still get a call. */
const CLOSING_MS = 500;
/** Time by which each gateway has seen three calls fail at a target, which puts it out. */
const KNOWN_MS = 1_500;
const GATEWAYS = 2;
const MODELS = 2;

/** Recomputes every row from the observations of providers and clients. */
export function checkSoak(seen: Seen): string[] {
  const { calls, rows, views } = seen;
  const charges = new Map(rows.filter(({ type }) => type !== 'top_up').map((row) => [row.id, row]));
  const listed = new Map(views.map((view) => [view.id, view]));
  const tries = triesOf(seen);
  const timeouts = new Map<string | null, number>();
  const faults = calls.flatMap((call) => {
    const row = charges.get(call.answer?.requestId ?? '');
    const its = tries.get(call.id) ?? [];
    if (!row)
      return [
        `call ${call.id} (${call.answer?.requestId}) has no row: ${shown(call)}, sent at ${call.startedAt}, tried at ${JSON.stringify(its)}`,
      ];
    const found = [
      ...checkWay(call, its),
      ...checkShown(call),
      ...checkRow(call, its, row),
      ...checkAmount(call, its, row),
      ...checkView(row, listed.get(row.id)),
      ...(isServed(call) || isOverdue(call, its, row) || mayFail(call, its, seen)
        ? []
        : [`call ${call.id} need not have failed: ${shown(call)}`]),
    ];
    // They have no result, and their bodies are equal.
    if (row.outcome === 'timeout' && call.talk === undefined && its.at(-1)?.status === null) {
      const other = timeouts.get(row.upstream) ?? row.credits;
      if (other !== row.credits)
        found.push(`call ${call.id} cost ${row.credits}, and another one like it ${other}`);
      timeouts.set(row.upstream, row.credits);
    }
    return found.length === 0 ? [] : [`${found.join('; ')}; its row: ${JSON.stringify(row)}`];
  });
  if (charges.size !== calls.length) faults.push(`${calls.length} calls have ${charges.size} rows`);
  if (listed.size !== charges.size) faults.push(`${charges.size} rows are ${listed.size} calls`);
  return [...faults, ...checkOut(seen), ...checkTalks(seen, charges)];
}

function triesOf({ providers }: Seen): Map<number, SoakArrival[]> {
  const all = providers.flatMap(({ arrivals }) => arrivals).sort((a, b) => a.order - b.order);
  return Map.groupBy(all, ({ call }) => call);
}

function isServed({ isStream, answer }: SoakCall): boolean {
  const isEnded = answer?.text.endsWith(isStream ? 'data: [DONE]\n\n' : '}') ?? false;
  return answer?.status === 200 && answer.isWhole && isEnded;
}

/** Whether a hanging provider used up the time of the call, after which no call goes on. */
function isOverdue(
  { isStream }: SoakCall,
  tries: readonly SoakArrival[],
  { call, outcome }: LedgerRow,
): boolean {
  const { durationMs = 0 } = JSON.parse(call ?? '{}') as { durationMs?: number };
  const hasHung = tries.some(({ status }) => status === null);
  return outcome === 'timeout' && hasHung && durationMs >= (isStream ? HEAD_MS : CALL_MS);
}

/**
 * Whether the contract has nobody ask another target: the last one may have begun to bill; or it was out, and the other
 * one too, so that only the one was tried which came back first.
 */
function mayFail({ startedAt, answer }: SoakCall, tries: readonly SoakArrival[], seen: Seen): boolean {
  const [last] = tries.slice(-1);
  if (last?.way === 'unsure') return true;
  const [one, other] = [...seen.providers].sort((a) => (a.name === last?.target ? -1 : 1)) as [
    DyingProvider,
    DyingProvider,
  ];
  if (tries.length === 1 && wasDead(other, startedAt)) {
    const death = one.deaths.findLast(({ from }) => from <= startedAt);
    const isKnown = ({ at, model, way }: SoakArrival) =>
      at >= (death?.from ?? 0) && at < (last?.at ?? 0) && model === last?.model && way !== 'answers';
    return one.arrivals.some(isKnown);
  }
  // It was sent on a closing connection, so the provider never read it.
  const isClosing = ({ name, from }: Death) =>
    name === 'refuses connections' && startedAt <= from + CLOSING_MS && (answer?.endedAt ?? 0) >= from;
  return one.name !== last?.target
    ? [one, other].some(({ deaths }) => deaths.some(isClosing))
    : other.deaths.some(isClosing);
}

/** Micro-credits by the prices of a target. */
function costAt(target: SoakTarget, { input, output }: Bill): number {
  return PRICES[target].input * input + PRICES[target].output * output;
}

function checkAmount(call: SoakCall, tries: readonly SoakArrival[], row: LedgerRow): string[] {
  const last = tries.at(-1);
  const charge = -row.credits;
  const said = `call ${call.id} cost ${charge}`;
  if (isServed(call)) {
    const cost = last && costAt(last.target, last.bill);
    const told = call.answer?.charge;
    const isRight =
      row.type === 'charge' && row.outcome === 'complete' && row.estimated === 0 && charge === cost;
    const isTold = call.isStream || Math.round(Number(told) * 1e6) === charge;
    return isRight && isTold
      ? []
      : [`${said}, of which its client was told ${told}, and its provider reported ${cost}`];
  }
  if (row.type !== 'charge') return [`${said} in a row of type ${row.type}`];
  const most = last ? costAt(last.target, { input: call.bytes, output: 100 }) : 0;
  const isEstimate = row.estimated === 1 && charge > 0 && charge <= most;
  return charge === 0 || isEstimate ? [] : [`${said}, at most ${most} by its body`];
}

function checkView(row: LedgerRow, view: CallView | undefined): string[] {
  const isSame =
    view?.upstream === row.upstream &&
    view.outcome === row.outcome &&
    view.estimated === (row.estimated === 1) &&
    Math.round(Number(view.charge) * 1e6) === -row.credits &&
    view.attempts.at(-1)?.target === row.upstream;
  return isSame ? [] : [`the list of calls differs: ${JSON.stringify(view)}`];
}

/** While a target is out, it gets one call after 1, 3, 7 … s, of each model and from each gateway. */
function checkOut({ providers }: Seen): string[] {
  return providers.flatMap(({ name, arrivals, deaths }) =>
    deaths.flatMap((death) => {
      // A target that breaks off stays in, and vain attempts at a closed port are invisible.
      if (death.name === 'breaks off' || death.name === 'refuses connections') return [];
      const knownAt = death.from + KNOWN_MS + (death.name === 'hangs' ? HEAD_MS : 0);
      const sent = arrivals.filter(({ at }) => at > knownAt && at < death.to).length;
      const most = GATEWAYS * MODELS * (1 + Math.ceil(Math.log2(1 + (death.to - death.from) / 1_000)));
      return sent > most ? [`${name} got ${sent} calls while it was known to be dead (${death.name})`] : [];
    }),
  );
}

/** A conversation leaves a target only after its death; without a death it stays at one target. */
function checkTalks({ calls, providers }: Seen, rows: ReadonlyMap<string, LedgerRow>): string[] {
  const talks = Map.groupBy(
    calls.filter(({ talk }) => talk !== undefined),
    ({ talk }) => talk,
  );
  let moves = 0;
  const faults = [...talks].flatMap(([talk, turns]) => {
    const homes = new Set<string>();
    let before: string | undefined;
    for (const turn of turns.filter(isServed)) {
      const place = rows.get(turn.answer?.requestId ?? '')?.upstream ?? '';
      if (before !== undefined && place !== before) {
        moves++;
        const left = providers.find(({ name }) => name === before);
        if (!wasDead(left, turn.answer?.endedAt ?? 0)) homes.add(place);
      }
      before = place;
    }
    return homes.size > 1 ? [`conversation ${talk} went to and fro between targets that were up`] : [];
  });
  return moves === 0 ? ['no conversation ever moved'] : faults;
}

/** Whether a target was dead, or may have been left out because it had been: for as long again, and until a call that tried it has hung. */
function wasDead(provider: DyingProvider | undefined, at: number): boolean {
  return !!provider?.deaths.some(({ from, to }) => from <= at && at <= to + (to - from) + KNOWN_MS + CALL_MS);
}

function shown({ answer }: SoakCall): string {
  return answer ? `${answer.status} ${answer.text.slice(0, 200)}` : 'no answer';
}

/** Events, one line each. */
export function summaryOf(seen: Seen): string[] {
  const { calls, providers, rows } = seen;
  const tries = triesOf(seen);
  const row = new Map(rows.map((one) => [one.id, one]));
  const rowOf = ({ answer }: SoakCall) => row.get(answer?.requestId ?? '');
  const served = calls.filter(isServed);
  const handedOver = served.filter((call) => rowOf(call)?.call?.includes('"attempts"'));
  const failed = calls.filter((call) => !isServed(call));
  const bothOut = failed.filter(({ id }) => tries.get(id)?.at(-1)?.way === 'fails');
  const outcomes = Map.groupBy(rows, ({ outcome, type }) => outcome ?? type);
  const deaths = providers.flatMap((provider) => provider.deaths);
  const long = Map.groupBy(
    calls.filter(({ talk }) => talk !== undefined),
    ({ talk }) => talk,
  );
  const talk = [...long.values()]
    .map((turns) => turns.map((turn) => (isServed(turn) ? rowOf(turn)?.upstream?.[0] : '–')).join(''))
    .find((text) => text.includes('f') && text.includes('t'));
  return [
    `${calls.length} calls, ${served.length} served, ${handedOver.length} of them by a second target; ${failed.length} failed, where the contract has nobody else asked, ${bothOut.length} with both targets out`,
    `rows: ${[...outcomes].map(([outcome, its]) => `${its.length} ${outcome}`).join(', ')}`,
    `deaths: ${[...Map.groupBy(deaths, ({ name }) => name)].map(([name, its]) => `${its.length} × ${name}`).join(', ')}`,
    `conversations: ${long.size}; one of them, by the target of each turn: ${talk}`,
  ];
}
