import { test } from 'tap';
import { startLedger } from '../helper/start/ledger.ts';
import { checkDrawnSpending } from './drawn-spending.ts';

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`every window of key and account is exact, whatever is lost and however clocks move (${engine})`, async (t) => {
    await checkDrawnSpending(t, await startLedger(t, { engine }), { numRuns: 10 });
  });
}
