import fc from 'fast-check';
import type { Scope } from '../helper/scope.ts';
import { BookServers } from './book-server.ts';
import { histories, type Worlds } from './generator.ts';
import { runHistory } from './run-history.ts';
import { RunSummary } from './run-summary.ts';

export interface TortureOptions {
  readonly seed: number;
  /** One history only: its place among those of the seed, as a failure prints it. */
  readonly path?: string | undefined;
  /** No history begins later than so many milliseconds from now. */
  readonly forMs: number;
  /** Steps of a history at most. */
  readonly steps: number;
  /** Which worlds histories are drawn in. */
  readonly worlds: Worlds;
  /** Told of each history that has ended well. */
  readonly onHistory?: (summary: RunSummary) => void;
}

export interface Outcome {
  readonly summary: RunSummary;
  /** What was wrong with the history that failed, its steps, and how to run it again. */
  readonly failure: string | undefined;
}

/** Runs one history after the other until the time is up or one fails. */
export async function torture(scope: Scope, options: TortureOptions): Promise<Outcome> {
  const { seed, path, forMs, steps, worlds, onHistory } = options;
  const summary = new RunSummary();
  const servers = new BookServers(scope);
  const property = fc.asyncProperty(histories(steps, worlds), (plan) => runHistory(plan, servers, summary));
  const until = Date.now() + forMs;
  for (let index = 0; index === 0 || (path === undefined && Date.now() < until); index++) {
    const at = path ?? String(index);
    // A run of one history each, so that the path of one is its place. Real processes do not shrink: no two runs of
    // one history are the same to the microsecond.
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
