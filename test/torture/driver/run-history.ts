import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Scope } from '../../helper/start/scope.ts';
import { check } from '../checker/checker.ts';
import type { HistoryPlan } from '../generator/generator.ts';
import { Model } from '../model/model.ts';
import type { BookServers } from '../world/book-server.ts';
import { History } from './history.ts';
import { end, heal, quiesce, touchAll } from './quiesce.ts';
import type { RunSummary } from './run-summary.ts';

/** Scope of the parts that end with a history. */
class OwnScope implements Scope {
  readonly #ends: (() => unknown)[] = [];

  teardown(end: () => unknown): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}

/** Writes the logs of the gateways to files that outlast the history. Returns their folder. */
function keepLogs({ world }: History): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-torture-logs-'));
  for (const slot of world.slots) writeFileSync(join(folder, `gateway-${slot.index}.log`), slot.logs());
  return folder;
}

/** Runs one history in its own world and checks it. Rejects with an error that lists the violations, one line each. */
export async function runHistory(
  plan: HistoryPlan,
  servers: BookServers,
  summary: RunSummary,
): Promise<void> {
  const scope = new OwnScope();
  const model = new Model();
  try {
    const book = plan.world === 'sqlite' ? undefined : await servers.next();
    const history = await History.begin(scope, summary, model, { ...plan, book });
    for (const step of plan.begin) await step.run(model, history);
    await fc.asyncModelRun(() => ({ model, real: history }), plan.steps);
    await heal(history);
    await touchAll(history);
    await quiesce(history);
    await end(history);
    const faults = [...model.violations, ...(await check(history))];
    summary.histories += 1;
    if (faults.length > 0)
      throw new Error([...faults, `Logs of the gateways: ${keepLogs(history)}`].join('\n'));
  } finally {
    await scope.end();
  }
}
