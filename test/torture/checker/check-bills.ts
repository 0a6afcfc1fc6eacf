import { bucketOf } from '../../../src/ledger/redis/redis-keys.ts';
import type { CallModel, Model } from '../model/model.ts';
import type { Life } from '../world/gateway-slot.ts';
import { type Bill, billOf, type Visit } from '../world/upstream.ts';
import { isEstimated } from './check-calls.ts';
import type { LedgerRow, Snapshot } from './snapshot.ts';

/** Maximum duration of a call for which even a busy gateway never gives up an upstream that answers (world.ts). */
const SURE_MS = 900;

/** Time after an answer in which a fault may have hit its settle. */
const SETTLE_MS = 1_500;

/** Prices in micro-credits (world.ts). */
const PRICES: Readonly<Record<string, (bill: Bill) => number>> = {
  flat: () => 1_000_000,
  tokens: ({ input, output }) => input * 1_000 + output * 2_000,
};

/**
 * Checks that the ledger charges what the upstream billed, even if a client left: each bill has one row, and each row
 * by a report has such a bill and its cost. Bills differ from call to call (upstream.ts).
 */
export function checkBills(
  { ledger }: Snapshot,
  model: Model,
  visits: ReadonlyMap<number, Visit>,
  lives: readonly Life[],
): string[] {
  const faults: string[] = [];
  const calls = new Map<string, { call: CallModel; bill: Bill }>();
  for (const call of model.calls) {
    const bill = visits.get(call.id)?.bill;
    if (bill) calls.set(nameOf(bill), { call, bill });
  }
  const charged = new Map<string, LedgerRow>();
  for (const row of ledger) {
    const used = usedIn(row);
    if (!used || isEstimated(row)) continue;
    const name = nameOf(used);
    const known = calls.get(name);
    if (!known) {
      // The answer may have arrived whole at a gateway whose end the upstream saw before that of its own writing.
      const mayBe = ({ id }: CallModel) =>
        visits.get(id)?.endingAt !== undefined && nameOf(billOf(id)) === name;
      if (model.calls.some(mayBe)) continue;
      faults.push(`${row.id} is charged for ${name}, which the upstream billed nobody`);
      continue;
    }
    const other = charged.get(name);
    if (other) faults.push(`${other.id} and ${row.id} are charged for one call, ${known.call.id}`);
    charged.set(name, row);
    const { requestId } = known.call.answer ?? {};
    if (requestId !== undefined && requestId !== row.id)
      faults.push(`${row.id} is charged for call ${known.call.id}, which is ${requestId}`);
    const cost = PRICES[row.model ?? '']?.(used);
    if (row.credits + (cost ?? 0) !== 0)
      faults.push(`${row.id} was billed ${name}, and charged ${row.credits}`);
  }
  for (const [name, { call }] of calls) {
    if (charged.has(name) || !isSure(call, visits.get(call.id), model, lives)) continue;
    faults.push(`call ${call.id} was billed ${name} by the upstream, and no row is charged for it`);
  }
  return faults;
}

/** True if nothing excuses a charge other than the bill: neither a fault nor a delay of a busy machine. */
function isSure(
  { slot, key, startedAt }: CallModel,
  visit: Visit | undefined,
  { troubles, losses }: Model,
  lives: readonly Life[],
): boolean {
  const { answeredAt } = visit ?? {};
  if (answeredAt === undefined || answeredAt - startedAt > SURE_MS) return false;
  const bucket = bucketOf(key.account.id);
  const until = answeredAt + SETTLE_MS;
  const isHit = troubles.some(
    (trouble) =>
      (trouble.slot ?? slot) === slot &&
      trouble.buckets.has(bucket) &&
      trouble.from <= until &&
      trouble.to >= startedAt,
  );
  const isDead = lives.some(
    (life) =>
      life.slot === slot &&
      life.killedAt !== undefined &&
      life.killedAt >= startedAt &&
      life.killedAt <= until,
  );
  return !isHit && !isDead && !losses.some(({ buckets }) => buckets.has(bucket));
}

/**
 * Usage that the provider reported, according to the row; undefined for an estimate, and for a call without a report.
 */
function usedIn({ type, estimated, usage }: LedgerRow): Bill | undefined {
  if (type !== 'charge' || estimated !== 0) return undefined;
  const { input, output } = JSON.parse(usage) as Partial<Bill>;
  return input === undefined || output === undefined ? undefined : { input, output };
}

function nameOf({ input, output }: Bill): string {
  return `${input} and ${output} tokens`;
}
