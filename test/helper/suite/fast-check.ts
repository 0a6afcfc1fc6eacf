/**
 * fast-check with a fixed seed, so that a run can be repeated. Set `FC_SEED` to an integer or `random` for other cases;
 * a failure prints its seed.
 */
import fc from 'fast-check';

const { FC_SEED = '20261123' } = process.env;

const drawn = Math.floor(Math.random() * 0x7fffffff);

/** Seed of every property. */
export const SEED = FC_SEED === 'random' ? drawn : Number(FC_SEED);
if (!Number.isSafeInteger(SEED)) throw new Error('FC_SEED must be a whole number or "random"');

/** Another seed in each run, unless `FC_SEED` is set. Tests that use it print it. */
export const FRESH_SEED = process.env.FC_SEED === undefined ? drawn : SEED;

fc.configureGlobal({ seed: SEED });

export default fc;
