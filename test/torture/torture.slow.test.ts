import { test } from 'tap';
import { FRESH_SEED } from '../helper/suite/fast-check.ts';
import { torture } from './torture.ts';

const HISTORIES = 4;
const STEPS = 12;

test('histories of calls and faults leave every invariant of the ledger whole', async (t) => {
  t.comment(`seed ${FRESH_SEED}`);
  const { summary, failure } = await torture(t, {
    seed: FRESH_SEED,
    steps: STEPS,
    worlds: 'no cluster',
    goesOn: (histories) => histories < HISTORIES,
  });
  t.comment(summary.report());
  t.equal(failure, undefined);
});
