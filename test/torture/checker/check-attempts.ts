import type { Attempt } from '../../../src/domain/ledger-entry.ts';
import type { CallModel, Model } from '../model/model.ts';
import { FAILED_WORDS, GONE } from '../world/targets.ts';
import type { Arrival } from '../world/upstream.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

/** `limits.attempts` (world.ts has the default). */
const MOST_ATTEMPTS = 3;

/** Characters of a request id that are its gateway's (domain/request-id.ts). */
const PREFIX_LENGTH = 20;

/** Time by which a gateway may hear late of what another one saw. */
const NEWS_MS = 10_000;

/** A call at a target, with what its client saw. */
interface Asked extends Arrival {
  readonly of: CallModel;
}

/** A call as its own checks need it. */
export type AskedCall = Pick<CallModel, 'id' | 'answer'>;

/**
 * Checks section 12 of the specification: a call goes to each target once, and to another only after a failure by which nothing was
 * shown and nothing may have been billed; its client sees one answer; its row has each try; and no target is asked while it is out.
 */
export function checkAttempts(
  { ledger }: Pick<Snapshot, 'ledger'>,
  { calls }: Model,
  arrivals: readonly Arrival[],
): string[] {
  const rows = new Map(ledger.map((row) => [row.id, row]));
  const byId = new Map(calls.map((call) => [call.id, call]));
  const asked = arrivals.flatMap((arrival) => {
    const of = byId.get(arrival.call);
    return of ? [{ ...arrival, of }] : [];
  });
  return [
    ...[...Map.groupBy(asked, ({ of }) => of)].flatMap(([call, tries]) => [
      ...checkWay(call, tries),
      ...checkShown(call),
      ...checkRow(call, tries, rows.get(call.answer?.requestId ?? '')),
    ]),
    ...checkOut(asked),
  ];
}

/** A call goes to each target once, and to another only after a failure by which nothing may have been billed. */
export function checkWay({ id }: AskedCall, tries: readonly Arrival[]): string[] {
  const targets = tries.map(({ target }) => target);
  const repeated = targets.find((target, at) => targets.indexOf(target) < at);
  const ended = tries.slice(0, -1).find(({ way }) => way !== 'fails');
  return [
    ...(repeated ? [`call ${id} was sent to ${repeated} twice: ${targets}`] : []),
    ...(ended ? [`call ${id} was sent on to ${targets}, though ${ended.target} ${ended.way}`] : []),
  ];
}

/** A client never sees the beginning of one answer and the rest of another. */
export function checkShown({ id, answer }: AskedCall): string[] {
  const { text = '', status } = answer ?? {};
  if (status !== 200) return [];
  const begun = text.split('"delta":{"role"').length - 1;
  const ended = text.split('data: [DONE]').length - 1;
  const isMixed = text.includes(FAILED_WORDS) && begun > 0;
  return begun > 1 || ended > 1 || isMixed ? [`call ${id} was shown more than one answer: ${text}`] : [];
}

/** The row of a call has each of its tries, and what the last one may cost. */
export function checkRow(
  { id, answer }: AskedCall,
  tries: readonly Arrival[],
  row: LedgerRow | undefined,
): string[] {
  if (row?.type !== 'charge') return [];
  const attempts = attemptsOf(row, answer?.status);
  const story = `call ${id} was at ${tries.map(({ target, way }) => `${target} (${way})`)}; its row has ${JSON.stringify(attempts)}`;
  const arrived = new Set<string>(tries.map(({ target }) => target));
  const listed = attempts.filter(({ target, status }) => status !== null || arrived.has(target));
  const faults: string[] = [];
  const isSame = listed.map(({ target }) => target).join() === tries.map(({ target }) => target).join();
  if (!isSame) faults.push(`the tries differ: ${story}`);
  if (attempts.length > MOST_ATTEMPTS || new Set(attempts.map(({ target }) => target)).size < attempts.length)
    faults.push(`too many tries: ${story}`);
  for (const { target, status } of attempts) {
    const expected = target === GONE ? null : tries.find((one) => one.target === target)?.status;
    // A try may end before its head came, because the client left or the time was up.
    if (status !== null && status !== expected) faults.push(`${target} did not answer ${status}: ${story}`);
  }
  const last = tries.at(-1);
  if (row.outcome === 'complete' && row.upstream !== last?.target)
    faults.push(`${row.upstream} did not answer: ${story}`);
  return [...faults, ...checkMoney(row, last, story)];
}

/** Where the provider may have billed, a timeout is charged as an estimate, and a broken connection is not. */
function checkMoney(
  { outcome, estimated, credits }: LedgerRow,
  last: Arrival | undefined,
  story: string,
): string[] {
  if (
    outcome === 'timeout' &&
    last?.way === 'unsure' &&
    last.status === null &&
    !(estimated === 1 && credits < 0)
  )
    return [`a timeout cost ${credits}: ${story}`];
  if (outcome === 'upstream_broke' && last?.status === null && credits !== 0)
    return [`an answer that never began cost ${credits}: ${story}`];
  return [];
}

/** The tries that a row lists; where it lists none, the one that its other columns describe. */
function attemptsOf({ call, upstream }: LedgerRow, status: number | undefined): readonly Attempt[] {
  const { attempts } = JSON.parse(call ?? '{}') as { attempts?: readonly Attempt[] };
  return attempts ?? [{ target: upstream ?? '', status: status ?? null, ms: 0 }];
}

/**
 * No target is asked while it is out, unless the others are out, too. Checked where both are sure: for calls that began after the
 * client of a call which failed there had its answer, at the same gateway, and with the other target surely up.
 */
function checkOut(asked: readonly Asked[]): string[] {
  return asked.flatMap((one) => {
    const failed = asked.find((before) => isOutSince(before, one, asked));
    if (!failed || !isOtherUp(one, asked)) return [];
    const { call, at, target, model } = one;
    return [
      `call ${call} was sent to ${target} for ${model} at ${at}, which was out: call ${failed.call} had failed there at ${failed.endingAt} for ${failed.outMs} ms, and the other target was up`,
    ];
  });
}

/** Whether a failure surely keeps its target out when a later call is sent there. */
function isOutSince(failed: Asked, { target, model, at, of, call }: Asked, asked: readonly Asked[]): boolean {
  const { endingAt, outMs, of: before } = failed;
  if (failed.target !== target || failed.model !== model || endingAt === undefined || outMs === undefined)
    return false;
  if (endingAt + outMs <= at || !isBefore(before, of)) return false;
  // Whatever else was there meanwhile may have been heard of first, so that this failure changed nothing; or it has brought the target
  // back since, or shortened the time.
  return !asked.some(
    (other) =>
      other.call !== call &&
      other.call !== failed.call &&
      other.target === target &&
      other.model === model &&
      other.at <= at &&
      knownBy(other.of) >= before.startedAt - (lifeOf(other.of) === lifeOf(before) ? 0 : NEWS_MS) &&
      !(other.outMs !== undefined && other.endingAt !== undefined && other.endingAt + other.outMs > at),
  );
}

/**
 * Whether the other target was surely up for this call, and had not been asked for it: a call was answered there after all that
 * had failed there at the same gateway, and another gateway saw none fail, whose news may come late.
 */
function isOtherUp({ target, model, of, at }: Asked, asked: readonly Asked[]): boolean {
  const there = asked.filter((other) => other.target !== target && other.model === model && other.at <= at);
  if (there.some((other) => other.of === of)) return false;
  const good = there.findLast((other) => isGood(other) && isBefore(other.of, of));
  return !!good && there.every((other) => isGood(other) || isBefore(other.of, good.of));
}

function isGood({ way, of: { answer } }: Asked): boolean {
  return way === 'answers' && answer?.status === 200 && answer.isWhole && answer.leftAt === undefined;
}

/** Whether one call had surely ended, for the same life of a gateway, when another began. */
function isBefore(ended: CallModel, began: CallModel): boolean {
  const life = lifeOf(ended);
  return life !== undefined && life === lifeOf(began) && knownBy(ended) < began.startedAt;
}

/** The life of the gateway that a call was sent to; undefined where its client saw no head. */
function lifeOf({ answer }: CallModel): string | undefined {
  return answer?.requestId?.slice(0, PREFIX_LENGTH);
}

/** Time by which its gateway surely knew how a call ended; Infinity where that is not known. */
function knownBy({ answer }: CallModel): number {
  const isSure = answer?.status !== undefined && answer.leftAt === undefined;
  return isSure ? answer.endedAt : Infinity;
}
