import { test } from 'tap';
import { startLedger } from '../helper/start/ledger.ts';
import { FRESH_SEED } from '../helper/suite/fast-check.ts';
import { checkDrawnSpending } from './drawn-spending.ts';

/** Cases: a few milliseconds each; with PostgreSQL some more. */
const CASES = { sqlite: 300, postgres: 150 } as const;

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`every window of key and account is exact, in many more cases (${engine})`, async (t) => {
    t.comment(`FC_SEED=${FRESH_SEED}`);
    await checkDrawnSpending(t, await startLedger(t, { engine }), {
      numRuns: CASES[engine],
      seed: FRESH_SEED,
    });
  });
}
