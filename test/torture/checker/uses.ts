import type { Usage } from '../../../src/domain/units.ts';
import type { CallModel, EstimatedCallModel, KeyModel, Model, Trouble } from '../model/model.ts';
import type { Life } from '../world/gateway-slot.ts';
import type { Visit } from '../world/upstream.ts';
import type { LedgerRow } from './snapshot.ts';

/** An admitted call and what it certainly took of rate limits. Times in milliseconds since the epoch. */
export interface Use {
  readonly name: string;
  readonly key: KeyModel;
  /** Earliest time at which it may have been admitted. */
  readonly from: number;
  /** Time by which it had been. */
  readonly heldAt: number;
  /** Time until which it was certainly open; `heldAt` if unknown. */
  readonly until: number;
  /** Bounds of the tokens that its admission took, if the limit had that many. */
  readonly tookTokens: { readonly least: number; readonly most: number };
  /** Tokens that it used; undefined if that is not known. */
  readonly usedTokens: number | undefined;
  /** Time by which its tokens were certainly corrected to its usage. */
  readonly correctedAt: number;
  /** True if it was sent only after a replica had its hold, in worlds whose calls wait for that. */
  readonly mayBeReplicated: boolean;
}

/**
 * Tokens that a call of calls.ts is likely to use (specification section 5, "Estimate and overdraft"): its maximum of
 * output, 50, and a third of the 94 to 100 bytes of its body.
 */
const LIKELY_TOKENS = { least: 80, most: 86 };

/**
 * Time after the start of a call within which no gateway gives up an upstream (world.ts), so the call can't end early.
 */
const PATIENCE_MS = 900;

/** Time for which a gateway reads on after the client leaves (world.ts). */
const READ_ON_MS = 2_000;

/** Minimum time that the hold of a dead gateway stays (world.ts: 6 s, and 60 s). */
const ORPHANED_MS = 60_000;

/** Maximum time from an answer to its settle in Redis, without trouble and with it. */
const SETTLED_WITHIN_MS = 2_000;
const SETTLED_IN_TROUBLE_MS = 30_000;

/** Calls that reached the upstream, and held calls made directly to the ledger. */
export function usesIn(
  model: Model,
  visits: ReadonlyMap<number, Visit>,
  rows: readonly LedgerRow[],
  lives: readonly Life[],
): Use[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const uses = model.calls.flatMap((call) => {
    const visit = visits.get(call.id);
    const row = byId.get(call.answer?.requestId ?? '');
    return visit ? [useOfCall(call, visit, { row, lives, troubles: model.troubles })] : [];
  });
  return [...uses, ...model.estimatedCalls.flatMap((call) => useOfEstimated(call, model))];
}

function useOfCall(
  call: CallModel,
  visit: Visit,
  known: {
    readonly row: LedgerRow | undefined;
    readonly lives: readonly Life[];
    readonly troubles: readonly Trouble[];
  },
): Use {
  const { row, lives, troubles } = known;
  const { id, key, startedAt, answer } = call;
  const isAnswered = answer?.isWhole === true && answer.status === 200;
  return {
    name: `call ${id}`,
    key,
    from: startedAt,
    heldAt: visit.arrivedAt,
    until: Math.max(visit.arrivedAt, endOf(call, visit, lives)),
    tookTokens: LIKELY_TOKENS,
    usedTokens: row?.type === 'charge' ? tokensOf(row) : undefined,
    correctedAt: isAnswered ? settledBy(answer.endedAt, troubles) : Infinity,
    mayBeReplicated: true,
  };
}

/** Time until which a call was certainly open; 0 if unknown. */
function endOf(
  { slot, startedAt, answer }: CallModel,
  { arrivedAt, endingAt = Infinity }: Visit,
  lives: readonly Life[],
): number {
  const leftAt = answer?.leftAt;
  const end = Math.min(endingAt, leftAt === undefined ? Infinity : leftAt + READ_ON_MS);
  const deaths = lives.flatMap((life) => (life.slot === slot ? (life.killedAt ?? []) : []));
  const killedAt = deaths.find((at) => at >= arrivedAt);
  // Nobody ends the calls of a gateway that died before their deadline.
  if (killedAt !== undefined && killedAt < Math.min(end, startedAt + PATIENCE_MS))
    return startedAt + ORPHANED_MS;
  // The gateway may give up earlier on a driver that a busy machine kept from writing.
  const isWhole = answer?.isWhole === true && answer.status === 200;
  if (!isWhole && end >= startedAt + PATIENCE_MS) return 0;
  // It goes on after its client leaves.
  return leftAt === undefined ? Math.min(end, answer?.endedAt ?? end) : end;
}

function settledBy(endedAt: number, troubles: readonly Trouble[]): number {
  const soon = endedAt + SETTLED_WITHIN_MS;
  const isInTrouble = troubles.some(({ from, to, ofBook }) => !ofBook && from <= soon && to >= endedAt);
  return isInTrouble ? endedAt + SETTLED_IN_TROUBLE_MS : soon;
}

/** Tokens that count in limits (specification section 11), which for these models are input and output. */
function tokensOf({ usage }: LedgerRow): number {
  const { input = 0, output = 0 } = JSON.parse(usage) as Usage;
  return input + output;
}

function useOfEstimated(call: EstimatedCallModel, { keys, troubles }: Model): Use[] {
  const { requestId, keyId, tokens, usedTokens, askedAt, heldAt, settledAt } = call;
  const key = keys.find(({ id }) => id === keyId);
  if (!key || heldAt === undefined) return [];
  const until = settledAt ?? heldAt;
  return [
    {
      name: requestId,
      key,
      from: askedAt,
      heldAt,
      until,
      tookTokens: { least: tokens, most: tokens },
      usedTokens,
      correctedAt: settledBy(until, troubles),
      mayBeReplicated: false,
    },
  ];
}
