import fc from 'fast-check';
import type { Scope } from '../helper/start/scope.ts';
import { runHistory } from './driver/run-history.ts';
import { RunSummary } from './driver/run-summary.ts';
import { histories, type Worlds } from './generator/generator.ts';
import { BookServers } from './world/book-server.ts';

export interface TortureOptions {
  readonly seed: number;
  /** Number of the only history of the seed to run, as printed by a failure; undefined for all. */
  readonly path?: string | undefined;
  /** Whether another history may begin after these. */
  readonly goesOn: (histories: number) => boolean;
  /** Most steps of a history. */
  readonly steps: number;
  /** Kinds of worlds in which histories are drawn. */
  readonly worlds: Worlds;
  /** Called after each history that has passed. */
  readonly onHistory?: (summary: RunSummary) => void;
}

export interface Outcome {
  readonly summary: RunSummary;
  /** Violations of the failed history, its steps, and how to repeat it; undefined if none failed. */
  readonly failure: string | undefined;
}

/** Runs one history after the other while `goesOn` returns true and none fails. */
export async function torture(scope: Scope, options: TortureOptions): Promise<Outcome> {
  const { seed, path, goesOn, steps, worlds, onHistory } = options;
  const summary = new RunSummary();
  const servers = new BookServers(scope);
  const property = fc.asyncProperty(histories(steps, worlds), (plan) => runHistory(plan, servers, summary));
  for (let index = 0; index === 0 || (path === undefined && goesOn(index)); index++) {
    const at = path ?? String(index);
    // One history for each run of fast-check, so the path of a history is its number. No shrinking, because two runs of
    // a history on real processes never have the same timing.
    const details = await fc.check(property, {
      seed,
      path: at,
      numRuns: 1,
      endOnFailure: true,
      unbiased: true,
    });
    if (details.failed) {
      const [plan] = details.counterexample ?? [];
      const error = details.errorInstance instanceof Error ? details.errorInstance : new Error('unknown');
      const failure = [
        `${error.message || error.stack}`,
        '',
        `world: ${plan?.world}${plan?.waitReplicas ? ', calls wait for replicas' : ''}`,
        ...(plan?.begin ?? []).map(String),
        ...[...(plan?.steps ?? [])].map(String),
        '',
        `Run it again: npm run torture --${worlds === 'cluster' ? ' --cluster' : ''} --steps ${steps} --seed ${seed} --path ${at}`,
      ].join('\n');
      return { summary, failure };
    }
    onHistory?.(summary);
  }
  return { summary, failure: undefined };
}
