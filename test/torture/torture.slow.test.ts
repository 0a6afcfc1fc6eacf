import { test } from 'tap';
import { SEED } from '../helper/suite/fast-check.ts';
import { torture } from './torture.ts';

/** Time in which histories may begin; the last one, and stopping the servers, take some seconds more. */
const FOR_MS = 8_000;
const STEPS = 12;

test('histories of calls and faults leave every invariant of the ledger whole', async (t) => {
  t.comment(`seed ${SEED}`);
  const { summary, failure } = await torture(t, {
    seed: SEED,
    steps: STEPS,
    worlds: 'no cluster',
    forMs: FOR_MS,
  });
  t.comment(summary.report());
  t.equal(failure, undefined);
});
