import { accountDifferenceText, reconcileAccounts } from '../../../src/cli/reconcile-accounts.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { History } from '../driver/history.ts';
import { bookOf } from '../world/world.ts';
import { checkCrossings, checkDeliveries } from './check-alerts.ts';
import { checkAttempts } from './check-attempts.ts';
import { checkBills } from './check-bills.ts';
import { CallChecker, checkEstimatedCalls, checkReplicated } from './check-calls.ts';
import { checkLimits, checkLiveLimits, checkRefusals } from './check-limits.ts';
import { checkBalances, checkOverspending, checkTopUps } from './check-money.ts';
import { checkSpendingLimits, checkWindows } from './check-spending.ts';
import { checkValues } from './check-values.ts';
import { takeSnapshot } from './snapshot.ts';
import { usesIn } from './uses.ts';

/**
 * Checks invariants 1 to 5 and spending limits (specification section 5), rate limits (section 11), targets (section 12) and key values
 * (section 2) after a history. Resolves with the violations, one line each.
 */
export async function check({ world, model, raw }: History): Promise<string[]> {
  const snapshot = await takeSnapshot(bookOf(world), raw);
  const lives = world.slots.flatMap((slot) => slot.lives);
  const differences: string[] = [];
  // The same check as `tollgate reconcile`, without starting a process.
  await reconcileAccounts(loadConfig({ env: world.place.env }), {
    difference: (found) => differences.push(accountDifferenceText(found)),
  });
  return [
    ...checkBalances(snapshot),
    ...checkOverspending(snapshot, model),
    ...checkWindows(snapshot),
    ...checkSpendingLimits(snapshot, model),
    ...checkTopUps(snapshot, model),
    ...checkEstimatedCalls(snapshot, model),
    ...(world.waitReplicas ? checkReplicated(model, world.upstream.reached) : []),
    ...new CallChecker(snapshot, model, world.upstream.reached, world.slots).check(),
    ...checkAttempts(snapshot, model, world.upstream.arrivals),
    ...checkBills(snapshot, model, world.upstream.visits, lives),
    ...checkLimits(model, usesIn(model, world.upstream.visits, snapshot.ledger, lives), world.waitReplicas),
    ...checkRefusals(model, world.upstream.reached),
    ...checkLiveLimits(snapshot, model),
    ...checkValues(model, world.upstream.reached),
    ...checkCrossings(snapshot, model),
    ...checkDeliveries(snapshot, world.receiver.requests),
    ...differences,
  ];
}
