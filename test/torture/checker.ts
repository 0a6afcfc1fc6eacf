import { run } from '../helper/gateway-process.ts';
import { checkCrossings, checkDeliveries } from './check-alerts.ts';
import { CallChecker, checkReplicated } from './check-calls.ts';
import { checkEstimatedCalls } from './check-estimated.ts';
import { checkBalances, checkOverspending, checkTopUps } from './check-money.ts';
import type { History } from './history.ts';
import { takeSnapshot } from './snapshot.ts';
import { bookOf } from './world.ts';

/** Specification section 5, invariants 1 to 5, of a history that has ended: what is wrong, a line each. */
export async function check({ world, model, raw }: History): Promise<string[]> {
  const snapshot = await takeSnapshot(bookOf(world), raw);
  const reconcile = await run('cli.ts', world.place.env, ['reconcile']);
  return [
    ...checkBalances(snapshot),
    ...checkOverspending(snapshot, model),
    ...checkTopUps(snapshot, model),
    ...checkEstimatedCalls(snapshot, model),
    ...(world.waitReplicas ? checkReplicated(model, world.upstream.reached) : []),
    ...new CallChecker(snapshot, model, world.upstream.reached, world.slots).check(),
    ...checkCrossings(snapshot, model),
    ...checkDeliveries(snapshot, world.receiver.requests),
    ...(reconcile.code === 0
      ? []
      : [`reconcile ended with ${reconcile.code}: ${reconcile.output}${reconcile.errors}`]),
  ];
}
