/**
 * fast-check with 20 cases a property and a fixed seed, so that a run can be repeated. `npm run test:all` draws 300 with
 * a new seed, which it prints. Set `FC_SEED` to that seed to draw the same cases again; a failure prints it too.
 */
import fc from 'fast-check';
import { t } from 'tap';
import { RUNS_ALL } from './runs-all.ts';

const { FC_SEED = RUNS_ALL ? 'random' : '20261123' } = process.env;

const drawn = Math.floor(Math.random() * 0x7fffffff);

/** Seed of every property. */
export const SEED = FC_SEED === 'random' ? drawn : Number(FC_SEED);
if (!Number.isSafeInteger(SEED)) throw new Error('FC_SEED must be a whole number or "random"');
if (FC_SEED === 'random') t.comment(`FC_SEED=${SEED} draws the same cases again`);

/** Another seed in each run, also of one slow file, unless `FC_SEED` is set. Tests that use it print it. */
export const FRESH_SEED = process.env.FC_SEED === undefined ? drawn : SEED;

fc.configureGlobal({ seed: SEED, numRuns: RUNS_ALL ? 300 : 20 });

/** For properties of pure functions, whose cases take microseconds. */
export const MANY = { numRuns: RUNS_ALL ? 20_000 : 2_000 };

export default fc;
