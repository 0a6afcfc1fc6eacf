import type { Attempt } from '../../../src/domain/ledger-entry.ts';
import type { CallModel, Model } from '../model/model.ts';
import { FAILED_WORDS, GONE } from '../world/targets.ts';
import type { Arrival } from '../world/upstream.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

/** `limits.attempts` (world.ts has the default). */
const MOST_ATTEMPTS = 3;

/** Characters of a request id that are its gateway's (domain/request-id.ts). */
const PREFIX_LENGTH = 20;

/** Delay with which a gateway may learn what another one saw. */
const NEWS_MS = 10_000;

/** A call at a target, with what its client saw. */
interface Asked extends Arrival {
  readonly of: CallModel;
}

/** A call, as these checks need it. */
export type AskedCall = Pick<CallModel, 'id' | 'answer'>;

/**
 * Checks section 12 of the specification. A call goes to each target once, and to another one only after a failure
 * without output or a possible bill. Its client sees one answer. Its row lists each attempt. No target gets a call
 * while it is out.
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

/** A call goes to each target once, and to another one only after a failure that can't have been billed. */
export function checkWay({ id }: AskedCall, tries: readonly Arrival[]): string[] {
  const targets = tries.map(({ target }) => target);
  const repeated = targets.find((target, at) => targets.indexOf(target) < at);
  const ended = tries.slice(0, -1).find(({ way }) => way !== 'fails');
  return [
    ...(repeated ? [`call ${id} was sent to ${repeated} twice: ${targets}`] : []),
    ...(ended ? [`call ${id} was sent on to ${targets}, though ${ended.target} ${ended.way}`] : []),
  ];
}

/** A client never sees parts of two answers. */
export function checkShown({ id, answer }: AskedCall): string[] {
  const { text = '', status } = answer ?? {};
  if (status !== 200) return [];
  const begun = text.split('"delta":{"role"').length - 1;
  const ended = text.split('data: [DONE]').length - 1;
  const isMixed = text.includes(FAILED_WORDS) && begun > 0;
  return begun > 1 || ended > 1 || isMixed ? [`call ${id} was shown more than one answer: ${text}`] : [];
}

/** The row of a call lists each attempt, and a possible cost of the last one. */
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
    // An attempt can end before its head, because the client left or the time was up.
    if (status !== null && status !== expected) faults.push(`${target} did not answer ${status}: ${story}`);
  }
  const last = tries.at(-1);
  if (row.outcome === 'complete' && row.upstream !== last?.target)
    faults.push(`${row.upstream} did not answer: ${story}`);
  return [...faults, ...checkMoney(row, last, story)];
}

/** If the provider may have billed, a timeout is charged by estimate, and a broken connection is free. */
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

/** The attempts that a row lists; if none, the one that its other columns describe. */
function attemptsOf({ call, upstream }: LedgerRow, status: number | undefined): readonly Attempt[] {
  const { attempts } = JSON.parse(call ?? '{}') as { attempts?: readonly Attempt[] };
  return attempts ?? [{ target: upstream ?? '', status: status ?? null, ms: 0 }];
}

/**
 * No target gets a call while it is out, unless the others are out, too. Checks only calls for which both are certain:
 * calls that began at the same gateway after the client of a failed call had its answer, while the other target was
 * certainly up.
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

/** Whether a failure certainly keeps its target out at the time of a later call. */
function isOutSince(failed: Asked, { target, model, at, of, call }: Asked, asked: readonly Asked[]): boolean {
  const { endingAt, outMs, of: before } = failed;
  if (failed.target !== target || failed.model !== model || endingAt === undefined || outMs === undefined)
    return false;
  if (endingAt + outMs <= at || !isBefore(before, of) || !putsOut(failed, asked)) return false;
  // Another call in between may have made this failure irrelevant, brought the target back, or shortened the time.
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

/** A refused credential puts a target out at once; other failures do if another account's came just before. */
function putsOut(failed: Asked, asked: readonly Asked[]): boolean {
  if (failed.status === 401) return true;
  const there = asked.filter(
    (other) => other.target === failed.target && other.model === failed.model && other !== failed,
  );
  return there.some(
    (earlier) =>
      earlier.outMs !== undefined &&
      earlier.of.key.account.id !== failed.of.key.account.id &&
      isBefore(earlier.of, failed.of) &&
      there.every(
        (other) => other === earlier || isBefore(other.of, earlier.of) || isBefore(failed.of, other.of),
      ),
  );
}

/**
 * Whether the other target was certainly up for this call, and had not had it: it answered a call after every failure
 * at the same gateway, and no other gateway saw a failure, of which it might learn late.
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

/** Whether one call had certainly ended when another began, in the same life of a gateway. */
function isBefore(ended: CallModel, began: CallModel): boolean {
  const life = lifeOf(ended);
  return life !== undefined && life === lifeOf(began) && knownBy(ended) < began.startedAt;
}

/** The life of the gateway that got a call; undefined if the client saw no head. */
function lifeOf({ answer }: CallModel): string | undefined {
  return answer?.requestId?.slice(0, PREFIX_LENGTH);
}

/** Time by which the gateway certainly knew the end of a call; Infinity if unknown. */
function knownBy({ answer }: CallModel): number {
  const isSure = answer?.status !== undefined && answer.leftAt === undefined;
  return isSure ? answer.endedAt : Infinity;
}
